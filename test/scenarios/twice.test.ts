/** Every way that was found to have one effect twice: each ends with one effect, or with a person who was shown both. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/index.js';
import type { Outcome } from '../../src/connectors/index.js';
import { LIMITS } from '../../src/core/index.js';
import { budgetKind } from '../../src/policy/index.js';
import {
  approve,
  approved,
  carriedOut,
  codeOf,
  deny,
  memoryWorld,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { alike, opened } from '../support/grants.js';
import { verifies } from '../support/verifies.js';

const DEDUPE = { windowMs: 600_000, comparesBody: true, cachesErrors: false } as const;

async function lost(_call: unknown, effect: () => Outcome): Promise<Outcome> {
  effect();
  return { result: 'unknown' };
}

async function done(_call: unknown, effect: () => Outcome): Promise<Outcome> {
  return effect();
}

/** An action that had its effect and lost the answer, whose signed second attempt came too late to be called. */
async function retriedTooLate(operation: string): Promise<{ readonly world: World; readonly actionId: string }> {
  let late = false;
  const world: World = await memoryWorld({
    failpoint: (name) => {
      if (late && name === 'launch.before-call') world.clock.advance(3_000);
    },
  });
  world.connector.dedupe = DEDUPE;
  world.connector.behave = lost;
  const { action_id } = await world.gate.propose(sending({ operation }));
  if ((await world.gate.show(action_id)).state === 'proposed') await approve(world, action_id);
  await world.gate.execute(action_id);
  await approve(world, action_id);
  late = true;
  const settled = await world.gate.retry(action_id);
  late = false;
  assert.deepEqual([settled.state, settled.code, settled.attempt], ['unknown', 'never_called', 2]);
  world.connector.behave = done;
  return { world, actionId: action_id };
}

describe('a second attempt that was never called', () => {
  it('leaves the outcome of the first one unknown', async () => {
    verifies('actions.machine.every-attempt');
    const { world, actionId } = await retriedTooLate('send');
    world.clock.advance(700_000);
    assert.equal(await codeOf(world.gate.execute(actionId)), 'decision_required');
    assert.equal(await codeOf(world.gate.coverByStanding(actionId)), 'decision_required');
    const again = await world.gate.reconcile(actionId);
    assert.deepEqual([again.state, again.attempt], ['confirmed', 1]);
    assert.equal(world.connector.effects.length, 1);
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });

  it('lets nobody ask for the same effect on policy alone', async () => {
    verifies('actions.machine.every-attempt');
    const { world } = await retriedTooLate('note');
    const again = await world.gate.proposeAndLaunch({ ...sending({ operation: 'note' }), idempotency_key: 'k2' });
    assert.equal(again.settled, undefined);
    assert.deepEqual((await world.gate.show(again.proposed.action_id)).content.flags, ['possible_duplicate']);
    assert.equal(world.connector.effects.length, 1);
  });

  it('is established attempt by attempt, and failed when all of them are', async () => {
    verifies('actions.machine.every-attempt');
    const { world, actionId } = await retriedTooLate('send');
    world.connector.found = async () => ({ result: 'failed', code: 'no_effect' });
    world.clock.advance(700_000);
    const settled = await world.gate.reconcile(actionId);
    assert.deepEqual([settled.state, settled.attempt], ['failed', 1]);
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });
});

describe('an action that was replaced', () => {
  it('never runs again, found out to have failed and approved by a person', async () => {
    verifies('actions.machine.replaced');
    const world = await memoryWorld();
    world.connector.behave = async () => ({ result: 'unknown' });
    const first = await approved(world);
    await world.gate.execute(first);
    world.connector.behave = done;
    const { request } = await world.gate.requestResolution({ kind: 'assume_duplicate', action_id: first });
    const { action_id: second = '' } = await world.gate.submit(signed(request));
    await approve(world, second);
    await world.gate.execute(second);
    const failed = { kind: 'finding', action_id: first, outcome: 'failed', evidence: 'not there' } as const;
    const asked = await world.gate.requestResolution(failed);
    await world.gate.submit(signed(asked.request));
    assert.equal((await world.gate.show(first)).state, 'failed');
    assert.equal(await codeOf(world.gate.request(first)), 'replaced');
    assert.equal(await codeOf(world.gate.coverByStanding(first)), 'replaced');
    assert.equal(world.connector.effects.length, 1);
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });
});

describe('a late word about an earlier attempt', () => {
  it('is no finding while another attempt runs', async () => {
    verifies('actions.machine.finding');
    const world = await memoryWorld();
    const answers: ((outcome: Outcome) => void)[] = [];
    const actionId = await approved(world);
    world.connector.timeoutMs = 30;
    world.connector.behave = () => new Promise((answer) => answers.push(answer));
    assert.equal((await world.gate.execute(actionId)).state, 'unknown');
    world.clock.advance(120_000);
    world.connector.found = async () => ({ result: 'failed', code: 'no_effect' });
    await world.gate.reconcile(actionId);
    await approve(world, actionId);
    world.connector.timeoutMs = 30_000;
    const running = world.gate.execute(actionId);
    await world.gate.wait(actionId, () => answers.length === 2, 2_000);
    answers[0]?.({ result: 'confirmed' });
    await world.gate.wait(actionId, ({ late_result }) => late_result !== null, 2_000);
    const asked = { kind: 'finding', action_id: actionId, outcome: 'failed', evidence: 'no' } as const;
    assert.equal(await codeOf(world.gate.requestResolution(asked)), 'launched');
    answers[1]?.({ result: 'failed', code: 'refused' });
    await running;
    const { request } = await world.gate.requestResolution({ ...asked, outcome: 'confirmed' });
    await world.gate.submit(signed(request));
    const { state, attempts } = await world.gate.show(actionId);
    assert.deepEqual([state, attempts.map(({ outcome }) => outcome)], ['confirmed', ['confirmed', 'failed']]);
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });

  it('that confirms an action which was approved again keeps it from running', async () => {
    verifies('actions.machine.finding');
    const world = await memoryWorld();
    let answer: (outcome: Outcome) => void = () => undefined;
    const actionId = await approved(world);
    world.connector.timeoutMs = 30;
    world.connector.behave = () => new Promise((settle) => (answer = settle));
    await world.gate.execute(actionId);
    world.clock.advance(120_000);
    world.connector.found = async () => ({ result: 'failed', code: 'no_effect' });
    await world.gate.reconcile(actionId);
    await approve(world, actionId);
    answer({ result: 'confirmed' });
    await world.gate.wait(actionId, ({ late_result }) => late_result !== null, 2_000);
    const asked = { kind: 'finding', action_id: actionId, outcome: 'confirmed', evidence: 'it is there' } as const;
    const { request } = await world.gate.requestResolution(asked);
    await world.gate.submit(signed(request));
    assert.equal(await codeOf(world.gate.execute(actionId)), 'state');
    assert.equal((await world.gate.show(actionId)).state, 'confirmed');
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });
});

describe('equal actions that were approved before one of them ran', () => {
  it('run once: the other one is refused after the first had its effect', async () => {
    verifies('actions.launch.duplicate');
    const world = await memoryWorld();
    const [one, two] = [
      await approved(world, { idempotency_key: 'k1' }),
      await approved(world, { idempotency_key: 'k2' }),
    ];
    assert.notEqual(one, two);
    assert.equal((await world.gate.execute(two)).state, 'confirmed');
    assert.equal(await codeOf(world.gate.execute(one)), 'possible_duplicate');
    assert.equal(world.connector.effects.length, 1);
    world.clock.advance(1);
    // Asked for anew it is what it always was: another action of its own.
    const later = await approved(world, { idempotency_key: 'k3' });
    assert.equal((await world.gate.execute(later)).state, 'confirmed');
    assert.equal(await codeOf(world.gate.execute(one)), 'possible_duplicate');
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });

  it('are refused also where policy alone launched the other one meanwhile', async () => {
    verifies('actions.launch.duplicate');
    const world = await memoryWorld();
    const note = sending({ operation: 'note' });
    const waiting = await world.gate.propose({ ...note, idempotency_key: 'k1' });
    assert.equal((await world.gate.proposeAndLaunch({ ...note, idempotency_key: 'k2' })).settled?.state, 'confirmed');
    assert.equal(await codeOf(world.gate.execute(waiting.action_id)), 'possible_duplicate');
    assert.equal(world.connector.effects.length, 1);
  });

  it('both may run where the first one certainly had no effect', async () => {
    verifies('actions.launch.duplicate');
    const world = await memoryWorld();
    const [one, two] = [
      await approved(world, { idempotency_key: 'k1' }),
      await approved(world, { idempotency_key: 'k2' }),
    ];
    world.connector.behave = async () => ({ result: 'failed', code: 'refused' });
    await world.gate.execute(two);
    world.connector.behave = done;
    assert.equal((await world.gate.execute(one)).state, 'confirmed');
    assert.equal(world.connector.effects.length, 1);
  });
});

describe('an action that failed, or may have, while an equal one ran', () => {
  const fails = async (): Promise<Outcome> => ({ result: 'failed', code: 'refused' });

  it('is not launched again: not by a grant, not by a person who was not shown the other', async () => {
    verifies('actions.launch.duplicate');
    for (const again of ['grant', 'person'] as const) {
      const world = await memoryWorld();
      await opened(world, { count: 9 });
      const input = alike();
      const { action_id: first } = await world.gate.propose(input);
      world.connector.behave = fails;
      assert.equal((await world.gate.execute(first)).state, 'failed');
      world.connector.behave = done;
      world.clock.advance(1);
      if (again === 'person') await approve(world, first);
      const { action_id: second } = await world.gate.propose({ ...input, idempotency_key: 'k2' });
      assert.equal((await world.gate.execute(second)).state, 'confirmed');
      if (again === 'grant') await world.gate.coverByStanding(first);
      assert.equal(await codeOf(world.gate.execute(first)), 'possible_duplicate', again);
      verifies('actions.request.equal');
      assert.equal(await codeOf(world.gate.request(first)), 'possible_duplicate', 'nobody is asked in vain');
      assert.equal(world.connector.effects.length, 1);
      assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    }
  });

  it('that failed is shown to whoever asks for the same, where the store was put back since', async () => {
    verifies('actions.effect.lost-time');
    for (const isRestored of [true, false]) {
      const world = await memoryWorld();
      const input = sending({ operation: 'note' });
      world.connector.behave = fails;
      const { action_id: first } = (await world.gate.proposeAndLaunch(input)).proposed;
      assert.equal((await world.gate.show(first)).state, 'failed');
      const { sequence, logHash: log_hash } = await world.gate.ledger.head();
      const remembered = { epoch: 0, sequence: sequence + 1, log_hash };
      if (isRestored) await carriedOut(world, { kind: 'restore', sequence, log_hash, remembered });
      world.connector.behave = done;
      const again = await world.gate.proposeAndLaunch({ ...input, idempotency_key: 'k2' });
      const { content, state } = await world.gate.show(again.proposed.action_id);
      const expected = isRestored ? ['proposed', ['possible_duplicate'], [first]] : ['confirmed', [], []];
      assert.deepEqual([state, content.flags, content.duplicates], expected);
      assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    }
  });

  it('is shown to whoever asks for the same, once a later word says that it happened', async () => {
    verifies('actions.launch.duplicate');
    const world = await memoryWorld();
    let answer: (outcome: Outcome) => void = () => undefined;
    world.connector.timeoutMs = 30;
    world.connector.behave = () => new Promise((settle) => (answer = settle));
    const first = await approved(world);
    await world.gate.execute(first);
    const failed = { kind: 'finding', action_id: first, outcome: 'failed', evidence: 'not there' } as const;
    await world.gate.submit(signed((await world.gate.requestResolution(failed)).request));
    answer({ result: 'confirmed' });
    await world.gate.wait(first, ({ late_result }) => late_result !== null, 2_000);
    const again = await world.gate.propose(sending({ idempotency_key: 'k2' }));
    const { content } = await world.gate.show(again.action_id);
    assert.deepEqual([content.flags, content.duplicates], [['possible_duplicate'], [first]]);
    assert.ok((await world.gate.summary(again.action_id)).lines.includes(`may be the same as: ${first}`));
  });

  it('is shown also where it was taken back before the later word came', async () => {
    verifies('actions.launch.duplicate');
    const world = await memoryWorld();
    let answer: (outcome: Outcome) => void = () => undefined;
    world.connector.timeoutMs = 30;
    world.connector.behave = () => new Promise((settle) => (answer = settle));
    const { proposed } = await world.gate.proposeAndLaunch(sending({ operation: 'note' }));
    const first = proposed.action_id;
    world.clock.advance(120_000);
    world.connector.found = async () => ({ result: 'failed', code: 'no_effect' });
    await world.gate.reconcile(first);
    await world.gate.cancel(first);
    answer({ result: 'confirmed' });
    await world.gate.wait(first, ({ late_result }) => late_result !== null, 2_000);
    const again = await world.gate.proposeAndLaunch(sending({ operation: 'note', idempotency_key: 'k2' }));
    assert.equal(again.settled, undefined);
    const { content } = await world.gate.show(again.proposed.action_id);
    assert.deepEqual([content.flags, content.duplicates], [['possible_duplicate'], [first]]);
  });

  it('that was shown to a signer and runs again since keeps the other one from running', async () => {
    verifies('actions.launch.duplicate');
    const world = await memoryWorld();
    world.connector.dedupe = DEDUPE;
    world.connector.behave = async () => ({ result: 'unknown' });
    const first = await approved(world);
    await world.gate.execute(first);
    const second = await approved(world, { idempotency_key: 'k2' });
    await approve(world, first);
    world.connector.behave = done;
    assert.equal((await world.gate.retry(first)).state, 'confirmed');
    assert.equal(await codeOf(world.gate.execute(second)), 'possible_duplicate');
    assert.equal(world.connector.effects.length, 1);
  });

  it('many times over in one moment is no defect: launches are counted, and not dated', async () => {
    verifies('audit.clean');
    const world = await memoryWorld();
    for (let beat = 0; beat < 210; beat += 1) {
      const { settled } = await world.gate.proposeAndLaunch(
        sending({ operation: 'note', idempotency_key: `b${beat}` }),
      );
      assert.equal(settled?.state, 'confirmed');
    }
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('two flagged ones run only where each signer was shown the other', async () => {
    verifies('actions.launch.duplicate');
    const world = await memoryWorld();
    world.connector.behave = async () => ({ result: 'unknown' });
    const first = await approved(world);
    await world.gate.execute(first);
    const [two, three] = [
      await approved(world, { idempotency_key: 'k2' }),
      await approved(world, { idempotency_key: 'k3' }),
    ];
    world.connector.behave = done;
    world.clock.advance(1);
    assert.equal((await world.gate.execute(two)).state, 'confirmed');
    assert.equal(await codeOf(world.gate.execute(three)), 'possible_duplicate');
    assert.equal(world.connector.effects.length, 1);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('that a person denied meanwhile is launched by people alone', async () => {
    verifies('actions.launch.duplicate');
    const world = await memoryWorld();
    const input = alike();
    await opened(world);
    const covered = await world.gate.propose(input);
    const other = await world.gate.propose({ ...input, idempotency_key: 'k2', class: 'costly' });
    await deny(world, other.action_id);
    assert.equal(await codeOf(world.gate.execute(covered.action_id)), 'receipt_required');
    assert.equal(world.connector.effects.length, 0);
  });
});

describe('what a standing approval covered, after its outcome was unknown', () => {
  it('is launched again by people alone', async () => {
    verifies('actions.machine.fresh-receipts');
    const world = await memoryWorld();
    await opened(world);
    const { action_id } = await world.gate.propose(alike());
    let answer: (outcome: Outcome) => void = () => undefined;
    world.connector.timeoutMs = 30;
    world.connector.behave = () => new Promise((settle) => (answer = settle));
    assert.equal((await world.gate.execute(action_id)).state, 'unknown');
    answer({ result: 'failed', code: 'refused' });
    await world.gate.wait(action_id, ({ state }) => state === 'failed', 2_000);
    assert.equal(await codeOf(world.gate.coverByStanding(action_id)), 'receipt_required');
    assert.equal((await world.gate.grants())[0]?.holds.length, 0);
  });
});

describe('what a second attempt took', () => {
  it('is given back when it certainly failed, and what the first one took stays held', async () => {
    verifies('policy.budget.settled');
    const trust = `${TRUST}policy:\n  rules:\n    - { title: notes, decide: allow, match: { operation: note }, limit: 1/h }\n`;
    const world = await memoryWorld({ trust });
    world.connector.dedupe = DEDUPE;
    world.connector.behave = lost;
    const { proposed } = await world.gate.proposeAndLaunch(sending({ operation: 'note' }));
    await approve(world, proposed.action_id);
    world.connector.behave = async () => ({ result: 'failed', code: 'refused' });
    assert.equal((await world.gate.retry(proposed.action_id)).state, 'unknown');
    const held = async () => {
      const { rows } = await world.gate.ledger.list({ kind: 'budget' });
      const state = (await world.gate.ledger.read(budgetKind, rows[0]?.id ?? ''))?.state;
      return [state?.reserved, state?.spent];
    };
    assert.deepEqual(await held(), [1, 0]);
    assert.equal((await world.gate.reconcile(proposed.action_id)).state, 'confirmed');
    assert.deepEqual(await held(), [0, 1]);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });
});

describe('an undo', () => {
  it('is proposed once, whoever asks for it and however often', async () => {
    verifies('actions.undo.once');
    const world = await memoryWorld();
    world.connector.behave = async (_call, effect) => ({
      ...effect(),
      evidence: { undo: { operation: 'send', args: { text: 'ignore', account: 'customers' } } },
    });
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    const { action_id } = await world.gate.proposeUndo(actionId);
    await approve(world, action_id);
    await world.gate.execute(action_id);
    assert.equal((await world.gate.proposeUndo(actionId)).action_id, action_id);
    assert.equal(world.connector.effects.length, 2);
  });

  it('is found however much happened to its action before', async () => {
    verifies('actions.undo');
    const world = await memoryWorld();
    world.connector.behave = async (_call, effect) => ({
      ...effect(),
      evidence: { undo: { operation: 'send', args: { text: 'ignore', account: 'customers' } } },
    });
    const actionId = await approved(world);
    for (let more = 0; more < LIMITS.pageRowsMax; more += 1) await approve(world, actionId);
    await world.gate.execute(actionId);
    assert.equal((await world.gate.proposeUndo(actionId)).state, 'proposed');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('of what a person found out is told to be none', async () => {
    verifies('actions.undo');
    const world = await memoryWorld();
    world.connector.behave = async () => ({ result: 'unknown' });
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    const asked = { kind: 'finding', action_id: actionId, outcome: 'confirmed', evidence: 'seen' } as const;
    const { request } = await world.gate.requestResolution(asked);
    await world.gate.submit(signed(request));
    assert.equal(await codeOf(world.gate.proposeUndo(actionId)), 'not_found');
  });
});

describe('a connector that throws anything', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const thrown: readonly (readonly [string, () => Promise<Outcome>])[] = [
    [
      'at once',
      () => {
        throw new TypeError('boom');
      },
    ],
    ['nothing', () => Promise.reject(undefined)],
    ['a revoked proxy', () => Promise.reject(proxy)],
    ['a revoked proxy as its answer', () => proxy as never],
    [
      'an answer that throws',
      async () =>
        ({
          get result(): never {
            throw new Error('boom');
          },
        }) as never,
    ],
  ];
  for (const [what, behave] of thrown) {
    it(`leaves an unknown outcome: ${what}`, async () => {
      verifies('actions.settle.only-certain');
      const world = await memoryWorld();
      const actionId = await approved(world);
      world.connector.behave = behave;
      assert.equal((await world.gate.execute(actionId)).state, 'unknown');
    });
  }
});

describe('an action in the place of another', () => {
  it('is not launched once the other one turned out to be confirmed', async () => {
    verifies('actions.launch.confirmed-since');
    const world = await memoryWorld();
    const { behave } = world.connector;
    world.connector.behave = async (_call, effect) => ({ ...effect(), result: 'unknown' });
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    world.connector.behave = behave;
    const { request } = await world.gate.requestResolution({ kind: 'assume_duplicate', action_id: actionId });
    const { action_id = '' } = await world.gate.submit(signed(request));
    await approve(world, action_id);
    assert.equal((await world.gate.reconcile(actionId)).state, 'confirmed');
    assert.equal(await codeOf(world.gate.execute(action_id)), 'possible_duplicate');
    assert.equal(world.connector.effects.length, 1);
    // Whoever wants it all the same signs for that.
    const again = await world.gate.proposeLike(action_id);
    await approve(world, again.action_id);
    assert.equal((await world.gate.execute(again.action_id)).state, 'confirmed');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('nor once a cancelled one is found to have had the effect', async () => {
    verifies('actions.launch.confirmed-since');
    const world = await memoryWorld();
    let answer: (outcome: Outcome) => void = () => undefined;
    const { behave } = world.connector;
    world.connector.timeoutMs = 30;
    world.connector.behave = (_call, effect) =>
      new Promise((settle) => {
        effect();
        answer = settle;
      });
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    const found = async (outcome: 'confirmed' | 'failed') => {
      const asked = { kind: 'finding', action_id: actionId, outcome, evidence: 'looked' } as const;
      await world.gate.submit(signed((await world.gate.requestResolution(asked)).request));
    };
    await found('failed');
    await world.gate.cancel(actionId);
    answer({ result: 'confirmed' });
    await world.gate.wait(actionId, ({ late_result }) => late_result !== null, 2_000);
    world.connector.behave = behave;
    const { action_id } = await world.gate.proposeLike(actionId);
    assert.deepEqual((await world.gate.show(action_id)).content.duplicates, [actionId]);
    await approve(world, action_id);
    await found('confirmed');
    assert.equal((await world.gate.show(actionId)).state, 'cancelled');
    assert.equal(await codeOf(world.gate.execute(action_id)), 'possible_duplicate');
    assert.equal(world.connector.effects.length, 1);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });
});
