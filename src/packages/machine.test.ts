/** Every action in every state, each gate, each limit, and what a refusal leaves behind. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codeOf, LEDGER_ID } from '../../test/support/gate-world.js';
import { envelope, ID, PATHS, PAYLOADS, packageWorld, worldIn } from '../../test/support/package-world.js';
import { verifies } from '../../test/support/verifies.js';
import { LIMITS, Refusal } from '../core/index.js';
import { SqliteStore } from '../ledger/index.js';
import { applyEnvelope, createPackage } from './apply.js';
import { ACTION_NAMES, type ActionName, type PackageStateName } from './schema.js';

/** The table of the source document, written out again. */
const TABLE: Readonly<Record<ActionName, Partial<Record<PackageStateName, PackageStateName>>>> = {
  record_input: { INTAKE: 'INTAKE' },
  set_objective: { INTAKE: 'INTAKE' },
  prepare_summary: { INTAKE: 'SUMMARY_PENDING' },
  confirm_summary: { SUMMARY_PENDING: 'AUTHORING_AUTHORIZED' },
  revise_intake: { SUMMARY_PENDING: 'INTAKE', AUTHORING_AUTHORIZED: 'INTAKE' },
  record_draft_artifact: { AUTHORING_AUTHORIZED: 'DRAFT_READY' },
  cancel: {
    INTAKE: 'CANCELLED',
    SUMMARY_PENDING: 'CANCELLED',
    AUTHORING_AUTHORIZED: 'CANCELLED',
    DRAFT_READY: 'CANCELLED',
  },
};

async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Refusal, String(error));
  return error;
}

describe('a package', () => {
  it('takes exactly the transitions of the table, from every state', async () => {
    verifies('packages.machine.table');
    for (const state of Object.keys(PATHS) as PackageStateName[]) {
      for (const action of ACTION_NAMES) {
        const world = await worldIn(state);
        if (action === 'prepare_summary' && state === 'INTAKE') await world.step('set_objective');
        const before = await world.state();
        const to = TABLE[action][state];
        if (to === undefined) {
          const refusal = await refusalOf(world.step(action));
          assert.equal(refusal.code, 'ILLEGAL_TRANSITION', `${action} in ${state}`);
          assert.deepEqual(refusal.details?.state, state);
          assert.equal((await world.state()).manifest_sha256, before.manifest_sha256);
          continue;
        }
        const applied = await world.step(action);
        assert.deepEqual(
          [applied.state, applied.revision],
          [to, before.manifest.revision + 1],
          `${action} in ${state}`,
        );
        const { manifest } = await world.state();
        assert.equal(manifest.state, to);
        assert.equal(manifest.previous_manifest_sha256, before.manifest_sha256);
        assert.equal(applied.event_id, `evt_${ID}_${manifest.revision}`);
        assert.deepEqual(manifest.transition, { last_event_id: applied.event_id, last_action_id: applied.action_id });
      }
    }
  });

  it('refuses by each gate with its code, and nothing is written', async () => {
    verifies('packages.machine.gates');
    const input = PAYLOADS.record_input;
    const cases: [ActionName, Readonly<Record<string, unknown>>, string][] = [
      ['record_input', { ...input, input_id: 'taken' }, 'INVALID_PAYLOAD'],
      ['record_input', { ...input, disposition: 'excluded' }, 'INVALID_PAYLOAD'],
      ['record_input', { ...input, disposition: 'excluded', exclusion_reason: null }, 'INVALID_PAYLOAD'],
      ['record_input', { ...input, disposition: 'excluded', exclusion_reason: ' \u00a0\u3000' }, 'INVALID_PAYLOAD'],
      ['set_objective', { statement: '' }, 'INVALID_PAYLOAD'],
      ['set_objective', { statement: ' \u2003 ' }, 'INVALID_PAYLOAD'],
      ['prepare_summary', {}, 'GATE_UNSATISFIED'],
    ];
    const world = await packageWorld();
    await world.step('record_input', { ...input, input_id: 'taken' });
    const before = await world.state();
    for (const [action, payload, code] of cases) assert.equal(await codeOf(world.step(action, payload)), code);
    assert.equal((await world.state()).manifest_sha256, before.manifest_sha256);
    await world.step('record_input', { ...input, disposition: 'excluded', exclusion_reason: 'x' });
    const aimless = await packageWorld(undefined, ' \u2003');
    await aimless.step('set_objective');
    assert.equal(await codeOf(aimless.step('prepare_summary')), 'GATE_UNSATISFIED');
  });

  it('takes a draft on the confirmation of the summary that stands, and on no other', async () => {
    verifies('packages.machine.confirmed');
    const world = await worldIn('SUMMARY_PENDING');
    const { manifest } = await world.state();
    const wrong = envelope('confirm_summary', manifest.revision);
    const refusal = await refusalOf(world.apply(JSON.stringify(wrong)));
    assert.deepEqual([refusal.code, refusal.path], ['STALE_ACTION', '$.basis.summary_sha256']);
    await world.step('confirm_summary', { operator_id: 'vincent' });
    const confirmed = (await world.state()).manifest.summary;
    assert.deepEqual(confirmed?.confirmation, {
      status: 'confirmed',
      confirmed_at: (await world.state()).manifest.updated_at,
      operator_id: 'vincent',
      confirmed_summary_sha256: manifest.summary?.canonical_sha256,
    });
    await world.step('revise_intake');
    assert.equal(await codeOf(world.step('record_draft_artifact')), 'ILLEGAL_TRANSITION');
    await world.step('prepare_summary');
    assert.equal((await world.state()).manifest.summary?.confirmation.status, 'pending');
    assert.equal(await codeOf(world.step('record_draft_artifact')), 'ILLEGAL_TRANSITION');
  });

  it('keeps inputs, objective and intent when its intake is revised', async () => {
    verifies('packages.machine.revise');
    for (const state of ['SUMMARY_PENDING', 'AUTHORING_AUTHORIZED'] as const) {
      const world = await packageWorld();
      await world.step('record_input');
      for (const action of PATHS[state]) await world.step(action);
      const before = (await world.state()).manifest;
      await world.step('revise_intake');
      const { summary, inputs, objective, intent } = (await world.state()).manifest;
      assert.equal(summary, null);
      assert.deepEqual([inputs, objective, intent], [before.inputs, before.objective, before.intent]);
    }
  });

  it('takes a draft to a plain relative path alone', async () => {
    verifies('packages.machine.path');
    const world = await worldIn('AUTHORING_AUTHORIZED');
    const draft = (logical_path: string) => ({ ...PAYLOADS.record_draft_artifact, logical_path });
    for (const path of [
      '',
      '.',
      '..',
      '/etc/passwd',
      'a/../b',
      './a',
      'a//b',
      'a/',
      'a\\b',
      'C:/x',
      'c:x',
      'a%2e%2e/b',
      'a\nb',
      'a\u0000',
      'a\u0085b',
      '.git/config',
      'a/.GIT/hooks',
      '.Git',
      'a'.repeat(256),
      '\u{1F600}'.repeat(256),
    ]) {
      const refusal = await refusalOf(world.step('record_draft_artifact', draft(path)));
      assert.deepEqual([refusal.code, refusal.path], ['INVALID_PAYLOAD', '$.payload.logical_path'], path);
    }
    assert.equal((await world.step('record_draft_artifact', draft('\u{1F600}'.repeat(255)))).state, 'DRAFT_READY');
    const other = await worldIn('AUTHORING_AUTHORIZED');
    assert.equal((await other.step('record_draft_artifact', draft('docs/.github/a b.md'))).state, 'DRAFT_READY');
  });

  it('is created once, from one intent', async () => {
    verifies('packages.create.same');
    const { services } = await packageWorld();
    const create = (package_id: unknown, intent: unknown) =>
      createPackage(services, 'agent:bot', { package_id, intent });
    const again = await create(ID, 'write the notes');
    assert.deepEqual([again.created, again.revision], [false, 0]);
    assert.equal(await codeOf(create(ID, 'write the notes ')), 'PACKAGE_EXISTS');
    const [one, two] = await Promise.all([create('pkg_two', 'a'), create('pkg_two', 'a')]);
    assert.deepEqual([one.created, two.created, one.manifest_sha256], [true, false, two.manifest_sha256]);
    for (const [id, intent] of [
      ['two', 'a'],
      ['pkg_', 'a'],
      [7, 'a'],
      ['pkg_three', undefined],
      ['pkg_three', 'two\nlines'],
      ['pkg_three', 'hidden\u200b'],
      ['pkg_three', 'a'.repeat(LIMITS.intentCharsMax + 1)],
    ]) {
      assert.equal(await codeOf(create(id, intent)), 'INVALID_ENVELOPE');
    }
    assert.equal((await create('pkg_three', 'a'.repeat(LIMITS.intentCharsMax))).created, true);
    assert.equal(await codeOf(createPackage(services, 'agent:bot', undefined)), 'INVALID_ENVELOPE');
  });

  it('holds 1,000 inputs and refuses one more', async () => {
    verifies('packages.limit.inputs');
    // The store in memory reads every event again at every look: a thousand are too many for it.
    const folder = mkdtempSync(join(tmpdir(), 'countersign-packages-'));
    const world = await packageWorld(new SqliteStore(join(folder, 'ledger.sqlite'), LEDGER_ID));
    for (let count = 0; count < LIMITS.packageInputsMax; count += 1) {
      await world.step('record_input', { ...PAYLOADS.record_input, input_id: `i${count}` });
    }
    const refusal = await refusalOf(world.step('record_input', { ...PAYLOADS.record_input, input_id: 'more' }));
    assert.equal(refusal.code, 'INVALID_PAYLOAD');
    await world.step('set_objective');
    assert.equal((await world.step('prepare_summary')).state, 'SUMMARY_PENDING');
    assert.equal((await world.state()).manifest.inputs.length, 1_000);
    await world.services.ledger.close();
    rmSync(folder, { recursive: true });
  });
});

describe('an envelope that is refused', () => {
  it('is refused by the first check that fails, in the order of the protocol', async () => {
    verifies('packages.order');
    const world = await packageWorld();
    const first = envelope('set_objective', 0, { action_id: 'act_first' });
    await world.apply(JSON.stringify(first));
    const codeFor = (changes: object) => codeOf(world.apply(JSON.stringify({ ...first, ...changes })));
    const bad = { payload: { statement: ' ' } };
    assert.equal(await codeFor({ package_id: 'pkg_none', extra: 1 }), 'INVALID_ENVELOPE');
    assert.equal(await codeFor({ package_id: 'pkg_none', ...bad }), 'PACKAGE_NOT_FOUND');
    assert.equal(await codeFor({ expected_revision: 5, ...bad }), 'ACTION_ID_REUSE');
    const fresh = { action_id: 'act_second' };
    const draft = {
      action: 'record_draft_artifact',
      payload: { ...PAYLOADS.record_draft_artifact, logical_path: '..' },
    };
    assert.equal(await codeFor({ ...fresh, expected_revision: 5, ...draft }), 'STALE_ACTION');
    assert.equal(await codeFor({ ...fresh, expected_revision: 1, ...draft }), 'ILLEGAL_TRANSITION');
    assert.equal(await codeFor({ ...fresh, expected_revision: 1, ...bad }), 'INVALID_PAYLOAD');
    assert.equal((await world.state()).manifest.revision, 1);
  });

  it('changes nothing, and its action_id stays free', async () => {
    verifies('packages.refused.nothing');
    const { services, state, apply } = await packageWorld();
    const head = await services.ledger.head();
    for (const text of [
      JSON.stringify(envelope('prepare_summary', 0, { action_id: 'act_x' })),
      JSON.stringify(envelope('cancel', 9, { action_id: 'act_x' })),
      JSON.stringify(envelope('confirm_summary', 0, { action_id: 'act_x' })),
    ]) {
      await assert.rejects(apply(text), Refusal);
    }
    assert.deepEqual(await services.ledger.head(), head);
    assert.equal((await state()).manifest.revision, 0);
    const applied = await applyEnvelope(
      services,
      'agent:bot',
      JSON.stringify(envelope('cancel', 0, { action_id: 'act_x' })),
    );
    assert.deepEqual([applied.revision, applied.replayed], [1, false]);
  });
});
