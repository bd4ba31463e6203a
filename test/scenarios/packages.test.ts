/** The same envelope again, another under its id, several at once; and a package replayed from its first event. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import canonicalizeOfLibrary from 'canonicalize';
import fc from 'fast-check';
import { type JsonObject, Refusal } from '../../src/core/index.js';
import { type NewEvent, SqliteStore } from '../../src/ledger/index.js';
import { readContent, replayPackage } from '../../src/packages/index.js';
import { ACTION_NAMES, type ActionName } from '../../src/packages/schema.js';
import { codeOf, LEDGER_ID } from '../support/gate-world.js';
import { envelope, ID, PAYLOADS, type PackageWorld, packageWorld, worldIn } from '../support/package-world.js';
import { verifies } from '../support/verifies.js';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

describe('the same envelope again', () => {
  it('answers what was recorded, in any later state and with any expected revision', async () => {
    verifies('packages.idempotency.replay');
    const world = await packageWorld();
    const first = envelope('set_objective', 0);
    const recorded = await world.apply(JSON.stringify(first));
    assert.equal(recorded.replayed, false);
    const head = await world.services.ledger.head();
    const again = { ...recorded, replayed: true };
    assert.deepEqual(await world.apply(JSON.stringify(first)), again);
    assert.deepEqual(await world.apply(JSON.stringify({ ...first, expected_revision: 99 })), again);
    assert.deepEqual(await world.services.ledger.head(), head, 'nothing was written');
    for (const action of ['prepare_summary', 'confirm_summary', 'record_draft_artifact', 'cancel'] as const) {
      await world.step(action);
      assert.deepEqual(await world.apply(`Again: ${JSON.stringify(first)}`), again);
    }
  });

  it('is another one when its content differs, which is told before its revision is looked at', async () => {
    verifies('packages.idempotency.reuse');
    verifies('packages.idempotency.null');
    const world = await packageWorld();
    const first = envelope('cancel', 0, { payload: { reason: null } });
    await world.apply(JSON.stringify(first));
    for (const change of [
      { payload: {} },
      { payload: { reason: 'x' } },
      { payload: {}, expected_revision: 99 },
      { action: 'revise_intake', payload: {} },
    ]) {
      assert.equal(await codeOf(world.apply(JSON.stringify({ ...first, ...change }))), 'ACTION_ID_REUSE');
    }
    assert.equal((await world.apply(JSON.stringify(first))).replayed, true);
    const elsewhere = await codeOf(world.apply(JSON.stringify({ ...first, package_id: 'pkg_none' })));
    assert.equal(elsewhere, 'PACKAGE_NOT_FOUND', 'the key is of one package');
  });

  it('is one event when it comes twice at once, with the same answer', async () => {
    verifies('packages.race.identical');
    const world = await packageWorld();
    const text = JSON.stringify(envelope('set_objective', 0));
    const answers = await Promise.all(Array.from({ length: 64 }, () => world.apply(text)));
    assert.equal(answers.filter(({ replayed }) => !replayed).length, 1);
    for (const { replayed: _, ...outcome } of answers) {
      const { replayed: __, ...first } = answers[0] as (typeof answers)[number];
      assert.deepEqual(outcome, first);
    }
    assert.equal((await world.state()).manifest.revision, 1);
  });

  it('loses as a different one from the same revision, with both revisions told', async () => {
    verifies('packages.race.different');
    const world = await packageWorld();
    const texts = Array.from({ length: 64 }, () => JSON.stringify(envelope('set_objective', 0)));
    const results = await Promise.allSettled(texts.map((text) => world.apply(text)));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      assert.equal(result.reason.code, 'STALE_ACTION');
      assert.deepEqual(result.reason.details, { expected_revision: 0, actual_revision: 1 });
    }
    assert.equal((await world.state()).manifest.revision, 1);
  });
});

describe('a manifest', () => {
  it('is addressed by the digest of its canonical JSON, and names the one before', async () => {
    verifies('packages.manifest.digest');
    const world = await packageWorld();
    let before: string | null = null;
    for (const action of [
      'record_input',
      'set_objective',
      'prepare_summary',
      'confirm_summary',
      'record_draft_artifact',
    ] as const) {
      const { manifest, manifest_sha256 } = await world.state();
      assert.equal(manifest_sha256, sha256(canonicalizeOfLibrary(manifest) as string));
      assert.equal(manifest.previous_manifest_sha256, before);
      before = manifest_sha256;
      assert.equal((await world.step(action)).replayed, false);
    }
    const { manifest, manifest_sha256 } = await world.state();
    assert.equal(manifest_sha256, sha256(canonicalizeOfLibrary(manifest) as string));
    const names =
      'artifacts created_at inputs intent objective package_id previous_manifest_sha256 revision schema_version';
    assert.deepEqual(Object.keys(manifest).sort(), [
      ...names.split(' '),
      'state',
      'summary',
      'transition',
      'updated_at',
    ]);
  });

  it('has one clock reading for an action, in UTC', async () => {
    verifies('packages.manifest.time');
    const world = await packageWorld();
    await world.apply(JSON.stringify(envelope('set_objective', 0)));
    assert.equal((await world.state()).manifest.updated_at, '2026-08-07T00:00:00+00:00');
    world.clock.advance(7);
    await world.apply(JSON.stringify(envelope('prepare_summary', 1)));
    const { updated_at, summary } = (await world.state()).manifest;
    assert.deepEqual([updated_at, summary?.presented_at], Array(2).fill('2026-08-07T00:00:00.007000+00:00'));
  });

  it('keeps inputs and drafts apart, under the digest of their bytes', async () => {
    verifies('packages.manifest.content');
    const world = await packageWorld();
    const content = 'höher \u0000 \u202e\n';
    await world.step('record_input', { ...PAYLOADS.record_input, content });
    await world.step('record_input', { ...PAYLOADS.record_input, input_id: 'in-2', content: '' });
    for (const action of ['set_objective', 'prepare_summary', 'confirm_summary', 'record_draft_artifact'] as const)
      await world.step(action);
    const { manifest } = await world.state();
    const [input, empty] = manifest.inputs;
    assert.deepEqual(input, {
      input_id: 'in-1',
      kind: 'text',
      source: 'operator',
      disposition: 'incorporated',
      exclusion_reason: null,
      content_sha256: sha256(content),
      content_size: Buffer.byteLength(content),
      content_path: 'inputs/in-1.txt',
    });
    assert.deepEqual([empty?.content_sha256, empty?.content_size], [sha256(''), 0]);
    const read = async (digest: string) => Buffer.from(await readContent(world.services, ID, digest)).toString('utf8');
    assert.equal(await read(sha256(content)), content);
    assert.equal(await read(sha256('')), '');
    const [draft] = manifest.artifacts;
    assert.deepEqual([draft?.sha256, draft?.byte_count, draft?.status], [sha256('# Notes\n'), 8, 'draft']);
    assert.equal(await read(sha256('# Notes\n')), '# Notes\n');
    assert.equal(await codeOf(readContent(world.services, ID, sha256('other'))), 'not_found');
    assert.equal(await codeOf(readContent(world.services, 'pkg_none', sha256(''))), 'PACKAGE_NOT_FOUND');
    const events = await world.services.ledger.events({ kind: 'package', id: ID });
    assert.ok(!JSON.stringify(events).includes('# Notes'), 'content stands in no event');
  });
});

/** Appends an event as somebody who writes to the store could: every hash is right. */
async function forge(
  { services }: PackageWorld,
  event: Omit<NewEvent, 'record'>,
  action_id = 'act_forged',
): Promise<void> {
  const record = { kind: 'package', id: ID } as const;
  const command = `sha256:${'0'.repeat(64)}`;
  await services.ledger.commit({
    actor: 'agent:bot',
    claim: { scope: 'package', principal: ID, key: action_id, command },
    writes: [record],
    decide: () => ({ events: [{ ...event, record }], outcome: null }),
  });
}

describe('a replay', () => {
  it('of whatever the library wrote leads to the same bytes', async () => {
    verifies('packages.replay.clean');
    const step = fc.tuple(fc.constantFrom(...ACTION_NAMES), fc.nat(3), fc.string({ maxLength: 8 }));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const world = await packageWorld();
        let accepted = 0;
        for (const [action, number, text] of steps) {
          const changes: Partial<Record<ActionName, object>> = {
            record_input: { input_id: `i${number}`, content: text },
            set_objective: { statement: text },
            cancel: number === 0 ? {} : { reason: text },
          };
          // A package that ends at once is soon told.
          if (action === 'cancel' && number < 3) continue;
          const done = await world.step(action, { ...PAYLOADS[action], ...changes[action] }).catch((error: unknown) => {
            assert.ok(error instanceof Refusal, String(error));
            return undefined;
          });
          if (done !== undefined) accepted += 1;
        }
        const replay = await replayPackage(world.services.ledger, ID);
        assert.deepEqual(replay, { revisions: accepted + 1, erased: 0 });
        assert.equal((await world.state()).manifest.revision, accepted);
      }),
      { numRuns: 150 },
    );
    assert.equal(await codeOf(replayPackage((await packageWorld()).services.ledger, 'pkg_none')), 'PACKAGE_NOT_FOUND');
  });

  it('finds a forged event whose hashes are right, and the package is refused', async () => {
    verifies('packages.replay.found');
    verifies('packages.load.recomputed');
    const stored = (action: ActionName, revision: number, payload: object, basis = {}) => ({
      type: 'envelope-accepted',
      data: {
        envelope: { ...envelope(action, revision, { payload: payload as never, basis }), action_id: 'act_forged' },
        manifest_sha256: '0'.repeat(64),
      } as unknown as JsonObject,
    });
    const cases: [
      string,
      Parameters<typeof worldIn>[0],
      (world: PackageWorld) => Promise<Omit<NewEvent, 'record'>>,
      RegExp,
    ][] = [
      ['another digest', 'INTAKE', async () => stored('set_objective', 0, { statement: 'forged' }), /another manifest/],
      [
        'a step that is not legal',
        'DRAFT_READY',
        async () => stored('set_objective', 4, { statement: 'x' }),
        /ILLEGAL_TRANSITION/,
      ],
      ['another revision', 'INTAKE', async () => stored('set_objective', 7, { statement: 'x' }), /STALE_ACTION/],
      ['a gate that is not met', 'INTAKE', async () => stored('prepare_summary', 0, {}), /GATE_UNSATISFIED/],
      [
        'a confirmation of another summary',
        'SUMMARY_PENDING',
        async () => stored('confirm_summary', 2, {}, { summary_sha256: 'x' }),
        /STALE_ACTION/,
      ],
      [
        'the right manifest under an action_id of another envelope',
        'INTAKE',
        async () => {
          const twin = await packageWorld();
          const written = envelope('set_objective', 0, { payload: { statement: 'forged' }, action_id: 'act_forged' });
          const { manifest_sha256 } = await twin.apply(JSON.stringify(written));
          return { type: 'envelope-accepted', data: { envelope: written, manifest_sha256 } as unknown as JsonObject };
        },
        /taken by another envelope/,
      ],
    ];
    for (const [what, state, event, found] of cases) {
      const world = await worldIn(state);
      const { revision } = (await world.state()).manifest;
      await forge(world, await event(world));
      const { defect } = await replayPackage(world.services.ledger, ID);
      assert.equal(defect?.revision, revision + 1, what);
      assert.match(defect?.what ?? '', found, what);
      if (found.source.includes('taken')) continue;
      assert.equal(await codeOf(world.step('cancel')), 'MANIFEST_INVALID', what);
    }
  });

  it('counts content that was erased, and finds content that was changed', async () => {
    verifies('packages.replay.found');
    const folder = mkdtempSync(join(tmpdir(), 'countersign-replay-'));
    const path = join(folder, 'ledger.sqlite');
    const world = await packageWorld(new SqliteStore(path, LEDGER_ID));
    await world.step('record_input');
    await world.step('record_input', { ...PAYLOADS.record_input, input_id: 'in-2', content: 'other' });
    const database = new Database(path);
    database.prepare('DELETE FROM payloads WHERE sequence = 2').run();
    assert.deepEqual(await replayPackage(world.services.ledger, ID), { revisions: 3, erased: 1 });
    database.prepare("UPDATE payloads SET bytes = CAST('othex' AS BLOB) WHERE sequence = 3").run();
    assert.equal(await codeOf(replayPackage(world.services.ledger, ID)), 'corrupt');
    database.close();
    await world.services.ledger.close();
    rmSync(folder, { recursive: true });
  });

  it('finds an event of another type, one for another package, and content that is not there', async () => {
    verifies('packages.replay.found');
    const world = await packageWorld();
    const written = envelope('set_objective', 0, { package_id: 'pkg_other', action_id: 'act_forged' });
    const data = { envelope: written, manifest_sha256: '0'.repeat(64) } as unknown as JsonObject;
    await forge(world, { type: 'envelope-accepted', data });
    assert.match((await replayPackage(world.services.ledger, ID)).defect?.what ?? '', /another package/);
    const twin = await packageWorld();
    const { content, ...rest } = PAYLOADS.record_input;
    const address = { content_sha256: sha256(content as string), content_size: 5 };
    const input = envelope('record_input', 0, { action_id: 'act_forged' });
    const { manifest_sha256 } = await twin.apply(JSON.stringify(input));
    const bare = await packageWorld();
    const envelopeWithout = { ...input, payload: { ...rest, ...address } };
    await forge(bare, {
      type: 'envelope-accepted',
      data: { envelope: envelopeWithout, manifest_sha256 } as unknown as JsonObject,
    });
    assert.match((await replayPackage(bare.services.ledger, ID)).defect?.what ?? '', /does not stand with its event/);
    // An event of no type that a package has leads to no state at all: the commit itself is refused.
    await assert.rejects(forge(await packageWorld(), { type: 'package-blessed', data: {} }), { code: 'corrupt' });
  });
});
