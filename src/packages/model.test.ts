/**
 * What a model is told is accepted as it stands, as text and as tools; what it is told of its mistakes holds none of
 * its words.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import {
  envelope,
  PATHS,
  PAYLOADS,
  type PackageWorld,
  packageWorld,
  worldIn,
} from '../../test/support/package-world.js';
import { verifies } from '../../test/support/verifies.js';
import { type Json, Refusal } from '../core/index.js';
import { actionsFrom } from './machine.js';
import { correctionFor, promptFor } from './prompt.js';
import type { Envelope, PackageState } from './schema.js';
import { toolsFor } from './tools.js';

const ALL = { withHumanActs: true };

/** The envelopes that a prompt shows, read from its text as a model would copy them. */
function shownIn(prompt: string): readonly string[] {
  return prompt.split('\n').filter((line) => line.startsWith('{'));
}

async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Refusal, String(error));
  return error;
}

/** A world with the same history: what is tried in it leaves the first one as it is. */
async function walked(path: readonly string[]): Promise<PackageWorld> {
  const world = await packageWorld();
  for (const text of path) await world.apply(text);
  return world;
}

describe('a prompt', () => {
  it('shows only envelopes that are accepted as they stand, wherever a package has come to', async () => {
    verifies('packages.model.prompt');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(99), { maxLength: 12 }), fc.boolean(), async (choices, bare) => {
        const options = bare ? ALL : {};
        const path: string[] = [];
        for (const choice of choices) {
          const state = await (await walked(path)).state();
          const shown = shownIn(promptFor(state, options));
          for (const text of shown) {
            const applied = await (await walked(path)).apply(`I do this:\n${text}\n`);
            assert.deepEqual([applied.replayed, applied.revision], [false, state.manifest.revision + 1], text);
          }
          const chosen = shown[choice % shown.length];
          if (chosen === undefined) break;
          path.push(chosen);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('names every action that is legal now, or what is missing for it, or that a person does it', async () => {
    verifies('packages.model.complete');
    for (const name of Object.keys(PATHS) as (keyof typeof PATHS)[]) {
      const state = await (await worldIn(name)).state();
      const [model, bare] = [promptFor(state), promptFor(state, ALL)];
      for (const action of actionsFrom(state.manifest.state)) {
        assert.match(model, new RegExp(`## ${action}\n|Not yet: ${action}: |A person does ${action} `));
        assert.match(bare, new RegExp(`## ${action}\n|Not yet: ${action}: `));
      }
      assert.match(model, new RegExp(`at revision ${state.manifest.revision}\\.`));
      assert.equal(model.includes('confirm_summary"'), false, 'no envelope of a person is shown to a model');
    }
    const end = promptFor(await (await worldIn('CANCELLED')).state());
    assert.match(end, /takes no envelope any more/);
    assert.match(
      promptFor(await (await packageWorld()).state()),
      /Not yet: prepare_summary: the package has no objective/,
    );
  });

  it('shows unused ids, also where a caller took the obvious ones', async () => {
    verifies('packages.model.prompt');
    const world = await packageWorld();
    for (const id of ['input-1', 'input-3'])
      await world.step('record_input', { ...PAYLOADS.record_input, input_id: id });
    const [text = ''] = shownIn(promptFor(await world.state()));
    assert.match(text, /"input_id":"input-4"/);
    assert.equal((await world.apply(text)).revision, 3);
  });
});

/** The words of JSON Schema that mean the same in draft-07 and 2020-12. */
const SHARED = new Set(['type', 'properties', 'required', 'additionalProperties', 'const', 'enum', 'anyOf', 'items']);
for (const word of ['minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'maxItems', 'description', 'examples'])
  SHARED.add(word);

function demandShared(schema: Json): void {
  for (const [word, value] of Object.entries(schema as Record<string, Json>)) {
    assert.ok(SHARED.has(word), word);
    if (word === 'properties') for (const one of Object.values(value as Record<string, Json>)) demandShared(one);
    if (word === 'items') demandShared(value);
    if (word === 'anyOf') for (const one of value as Json[]) demandShared(one);
    if (word === 'pattern') assert.ok(new RegExp(value as string, 'u'));
  }
}

describe('the tools of a package', () => {
  it('are JSON Schema of both drafts, and take exactly the envelopes of the prompt', async () => {
    verifies('packages.model.tools');
    for (const name of Object.keys(PATHS) as (keyof typeof PATHS)[]) {
      const state = await (await worldIn(name)).state();
      const tools = toolsFor(state, ALL);
      const shown = shownIn(promptFor(state, ALL)).map((text) => JSON.parse(text) as Envelope);
      assert.deepEqual(
        tools.map((tool) => tool.name),
        shown.map(({ action }) => action),
      );
      for (const [at, { inputSchema }] of tools.entries()) {
        demandShared(inputSchema as Json);
        for (const draft of ['draft-7', 'draft-2020-12'] as const) {
          const read = z.fromJSONSchema(inputSchema as never, { defaultTarget: draft });
          assert.ok(read.safeParse(shown[at]).success);
          for (const change of [
            { extra: 1 },
            { expected_revision: 99 },
            { package_id: 'pkg_other' },
            { action: 'x' },
            { basis: { a: 1 } },
            { action_id: '' },
          ]) {
            assert.equal(read.safeParse({ ...shown[at], ...change }).success, false, JSON.stringify(change));
          }
        }
      }
    }
    const human = toolsFor(await (await worldIn('SUMMARY_PENDING')).state());
    assert.deepEqual(
      human.map((tool) => tool.name),
      ['revise_intake', 'cancel'],
    );
  });

  it('take what the gate takes, field by field', async () => {
    verifies('packages.model.tools');
    const state: PackageState = await (await packageWorld()).state();
    const tool = toolsFor(state).find((one) => one.name === 'record_input');
    const read = z.fromJSONSchema(tool?.inputSchema as never);
    const good = { ...envelope('record_input', 0), payload: { ...PAYLOADS.record_input, exclusion_reason: null } };
    assert.ok(read.safeParse(good).success);
    for (const change of [
      { kind: 'x' },
      { input_id: 'a b' },
      { content: 7 },
      { content: undefined },
      { exclusion_reason: 7 },
    ]) {
      assert.equal(read.safeParse({ ...good, payload: { ...good.payload, ...change } }).success, false);
    }
  });
});

describe('a correction', () => {
  it('states every defect, the code and what to do, and nothing of what was written', async () => {
    verifies('packages.model.correction');
    const world = await packageWorld();
    const words = 'zq_secret_words';
    const bad = {
      ...envelope('record_input', 0),
      protocol_version: words,
      payload: { ...PAYLOADS.record_input, kind: words, more: words },
    };
    const text = correctionFor(await refusalOf(world.apply(JSON.stringify(bad))));
    assert.match(text, /^refused \[INVALID_ENVELOPE\]: nothing changed\.\n/);
    for (const defect of [
      '$.protocol_version must be "0.1"',
      '$.payload.more is no field',
      '$.payload.kind must be one of text, url',
    ]) {
      assert.ok(text.includes(`- ${defect}`), text);
    }
    assert.equal(text.split('\n').filter((line) => line.startsWith('- ')).length, 3);
    assert.ok(!text.includes(words));
    const stale = correctionFor(await refusalOf(world.apply(JSON.stringify(envelope('cancel', 4)))));
    assert.ok(stale.includes('- expected_revision: 4') && stale.includes('- actual_revision: 0'));
    const prose = correctionFor(await refusalOf(world.apply(`I approve ${words}`)));
    assert.ok(prose.includes('holds no JSON object') && !prose.includes(words));
  });
});
