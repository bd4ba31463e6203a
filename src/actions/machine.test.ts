/** The life of an action as one table: every state meets every command, and every deadline its millisecond. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ASK,
  AT,
  after,
  approvalBy,
  COMMANDS,
  CONTENT,
  type CommandName,
  outcomeOf,
  retry,
  SETTLED_AT,
  STATES,
  type StateName,
  settlement,
  step,
} from '../../test/support/action-states.js';
import { verifies } from '../../test/support/verifies.js';
import { LIMITS } from '../core/index.js';
import type { ActionState } from './schema.js';

const NAMES = Object.keys(COMMANDS) as CommandName[];
type Row = Readonly<Record<CommandName, string>>;

function row(...cells: readonly string[]): Row {
  assert.equal(cells.length, NAMES.length, 'every command has a cell');
  return Object.fromEntries(NAMES.map((name, at) => [name, cells[at]])) as Row;
}

const nothing = row(
  'proposed/action-proposed',
  ...(Array.from({ length: NAMES.length - 1 }, () => 'unknown_action') as string[]),
);
const NOT = 'state';
const FOUND = ['confirmed/action-confirmed', 'failed/action-failed'] as const;
const SETTLED = [...FOUND, 'decision_required', 'confirmed/action-confirmed'] as const;
/** propose approve allow cancel deny expire launch confirm fail lose reconcile recover interrupt replace find findNone */
const TABLE: Readonly<Record<StateName, Row>> = {
  none: nothing,
  proposed: row(
    ...[NOT, 'approved/action-approved', 'receipt_required', 'cancelled/action-cancelled'],
    ...['cancelled/action-cancelled', NOT, 'receipt_required', NOT, NOT, NOT, NOT, NOT, 'unknown/action-interrupted'],
    ...[NOT, NOT, NOT],
  ),
  approved: row(
    ...[NOT, 'approved/action-approved', NOT, 'cancelled/action-cancelled', 'cancelled/action-cancelled', NOT],
    ...['launched/action-launched', NOT, NOT, NOT, NOT, NOT, 'unknown/action-interrupted', NOT, NOT, NOT],
  ),
  launched: row(
    ...['launched', 'launched', 'launched', 'launched', 'launched', 'launched', 'launched'],
    ...['confirmed/action-confirmed', 'failed/action-failed', 'unknown/action-outcome-unknown', 'launched', 'launched'],
    ...['unknown/action-interrupted', 'launched', 'launched', 'launched'],
  ),
  confirmed: row(
    ...[NOT, NOT, NOT, NOT, NOT, NOT, NOT, NOT, 'confirmed/late-result-recorded', NOT, NOT, NOT, NOT, NOT, NOT, NOT],
  ),
  failed: row(
    ...[NOT, 'approved/action-approved', 'receipt_required', 'cancelled/action-cancelled', NOT, NOT, NOT],
    ...['failed/late-result-recorded', NOT, NOT, 'failed/late-result-recorded', NOT, NOT, NOT, NOT, NOT],
  ),
  unknown: row(
    ...['decision_required', 'unknown/retry-approved', ...Array.from({ length: 5 }, () => 'decision_required')],
    ...[...SETTLED, 'decision_required', 'unknown/action-interrupted', 'unknown/action-replaced', ...FOUND],
  ),
  retrying: row(
    ...['decision_required', 'unknown/retry-approved', ...Array.from({ length: 4 }, () => 'decision_required')],
    ...['dedupe', ...SETTLED, 'decision_required', 'unknown/action-interrupted', 'unknown/action-replaced', ...FOUND],
  ),
  replaced: row(
    ...['decision_required', 'replaced', ...Array.from({ length: 4 }, () => 'decision_required'), 'replaced'],
    ...[...SETTLED, 'decision_required', 'unknown/action-interrupted', 'replaced', ...FOUND],
  ),
  interrupted: row(...Array.from({ length: 13 }, () => 'decision_required'), 'unknown/action-replaced', ...FOUND),
  withdrawn: row(...Array.from({ length: 16 }, () => NOT)),
  denied: row(...Array.from({ length: 16 }, () => NOT)),
  expired: row(...Array.from({ length: 16 }, () => 'expired')),
  late: row(
    ...[NOT, 'late_result', 'late_result', 'cancelled/action-cancelled', NOT, NOT, 'late_result'],
    ...[NOT, NOT, NOT, NOT, NOT, NOT, NOT, 'confirmed/late-result-settled', 'failed/late-result-settled'],
  ),
  halfKnown: row(
    ...['decision_required', 'unknown/retry-approved', ...Array.from({ length: 5 }, () => 'decision_required')],
    ...[...SETTLED, 'decision_required', 'unknown/action-interrupted', 'unknown/action-replaced', ...FOUND],
  ),
  failedReplaced: row(
    ...[NOT, 'replaced', 'replaced', 'cancelled/action-cancelled', NOT, NOT, 'replaced'],
    ...['failed/late-result-recorded', NOT, NOT, 'failed/late-result-recorded', NOT, NOT, NOT, NOT, NOT],
  ),
  lateApproved: row(
    ...[NOT, 'late_result', NOT, 'cancelled/action-cancelled', 'cancelled/action-cancelled', NOT],
    ...['late_result', NOT, NOT, NOT, NOT, NOT, 'unknown/action-interrupted', NOT],
    ...['confirmed/late-result-settled', 'failed/late-result-settled'],
  ),
  lateLaunched: row(
    ...['launched', 'late_result', ...Array.from({ length: 4 }, () => 'launched'), 'late_result'],
    ...Array.from({ length: 5 }, () => 'launched'),
    ...['unknown/action-interrupted', 'launched', 'launched', 'launched'],
  ),
  lateCancelled: row(
    ...[NOT, 'late_result', NOT, NOT, NOT, NOT],
    ...['late_result', ...Array.from({ length: 7 }, () => NOT)],
    ...['cancelled/late-result-settled', 'cancelled/late-result-settled'],
  ),
  lateConfirmed: row(
    ...[NOT, 'late_result', NOT, NOT, NOT, NOT],
    ...['late_result', ...Array.from({ length: 7 }, () => NOT), 'confirmed/late-result-settled', NOT],
  ),
};

describe('the machine of an action', () => {
  for (const [name, cells] of Object.entries(TABLE) as [StateName, Row][]) {
    it(`answers every command in state ${name}`, () => {
      verifies('actions.machine.table');
      for (const command of NAMES) {
        const found = outcomeOf(STATES[name], COMMANDS[command], AT);
        assert.equal(found, cells[command], `${name} × ${command}`);
      }
    });
  }

  it('has a row for every state', () => {
    verifies('actions.machine.table');
    assert.deepEqual(Object.keys(TABLE).sort(), Object.keys(STATES).sort());
    const reached = new Set(Object.values(STATES).map((state) => state?.state));
    const all = ['proposed', 'approved', 'launched', 'confirmed', 'failed', 'unknown', 'cancelled'];
    for (const state of all as ActionState['state'][]) assert.ok(reached.has(state), state);
  });

  it('lets nothing out of confirmed and cancelled, and cancels nothing that runs or may have run', () => {
    verifies('actions.machine.terminal');
    for (const name of ['confirmed', 'withdrawn', 'denied', 'expired'] as const) {
      for (const command of NAMES) {
        const found = outcomeOf(STATES[name], COMMANDS[command], AT + 10_000_000);
        assert.ok(!found.includes('/') || found.startsWith(`${STATES[name].state}/late`), `${name} × ${command}`);
      }
    }
    for (const name of ['launched', 'unknown', 'interrupted'] as const) {
      for (const command of ['cancel', 'deny', 'expire'] as const) {
        assert.ok(!outcomeOf(STATES[name], COMMANDS[command], AT + 10_000_000).includes('/'), `${name} × ${command}`);
      }
    }
  });

  it('refuses a policy that denies, and one that could not be evaluated', () => {
    verifies('actions.machine.denied');
    const denied = { ...ASK, outcome: 'DENY', code: 'policy_denied' } as const;
    assert.equal(outcomeOf(undefined, { do: 'propose', content: CONTENT, decision: denied }, AT), 'policy_denied');
    const broken = { ...denied, code: 'policy_error' };
    assert.equal(outcomeOf(undefined, { do: 'propose', content: CONTENT, decision: broken }, AT), 'policy_error');
  });
});

describe('deadlines', () => {
  const around = (t: number) => [t - 1, t, t + 1];

  it('an approval counts until its deadline and not at it', () => {
    verifies('actions.machine.approve-by');
    for (const name of ['proposed', 'failed'] as const) {
      const found = around(CONTENT.approve_by).map((now) => outcomeOf(STATES[name], COMMANDS.approve, now));
      assert.deepEqual(found, ['approved/action-approved', 'expired', 'expired'], name);
    }
  });

  it('a launch leaves until its deadline and not at it', () => {
    verifies('actions.launch.deadline');
    const launchBy = AT + CONTENT.launch_within_ms;
    assert.equal(STATES.approved.launch_by, launchBy);
    const found = around(launchBy).map((now) => outcomeOf(STATES.approved, COMMANDS.launch, now));
    assert.deepEqual(found, ['launched/action-launched', 'expired', 'expired']);
    const unapproved = around(CONTENT.approve_by).map((now) => outcomeOf(STATES.proposed, COMMANDS.launch, now));
    assert.deepEqual(unapproved, ['receipt_required', 'expired', 'expired']);
  });

  it('a proposal expires at its deadline, an approval at its own', () => {
    verifies('actions.machine.expire');
    const proposed = around(CONTENT.approve_by).map((now) => outcomeOf(STATES.proposed, COMMANDS.expire, now));
    assert.deepEqual(proposed, ['state', 'cancelled/action-cancelled', 'cancelled/action-cancelled']);
    const launchBy = AT + CONTENT.launch_within_ms;
    const approved = around(launchBy).map((now) => outcomeOf(STATES.approved, COMMANDS.expire, now));
    assert.deepEqual(approved, ['state', 'cancelled/action-cancelled', 'cancelled/action-cancelled']);
    assert.equal(STATES.expired.closed?.how, 'expired');
  });

  it('a launch is recovered at deadline and grace, not before, and never called again', () => {
    verifies('actions.machine.recover');
    const due = AT + 10_000 + LIMITS.graceMs;
    const found = around(due).map((now) => outcomeOf(STATES.launched, COMMANDS.recover, now));
    assert.deepEqual(found, ['launched', 'unknown/action-outcome-unknown', 'unknown/action-outcome-unknown']);
    const recovered = step(STATES.launched, COMMANDS.recover, due);
    assert.equal(recovered.attempts[0]?.settled_by, 'recover');
    assert.equal(outcomeOf(recovered, COMMANDS.launch, due), 'decision_required');
  });

  it('reconcile says failed at deadline and grace, not before; confirmed at once', () => {
    verifies('actions.machine.reconcile-failed');
    const due = AT + 10_000 + LIMITS.graceMs;
    const failed = around(due).map((now) => outcomeOf(STATES.unknown, settlement('failed', 'reconcile'), now));
    assert.deepEqual(failed, ['decision_required', 'failed/action-failed', 'failed/action-failed']);
    assert.equal(outcomeOf(STATES.unknown, COMMANDS.reconcile, AT), 'confirmed/action-confirmed');
  });
});

describe('settlement', () => {
  it('happens once, and the same word again changes nothing', () => {
    verifies('actions.machine.settle-once');
    for (const outcome of ['confirmed', 'failed'] as const) {
      assert.equal(outcomeOf(STATES[outcome], settlement(outcome), AT), 'state');
      assert.equal(outcomeOf(STATES[outcome], settlement('unknown'), AT), 'state');
    }
    assert.equal(outcomeOf(STATES.unknown, settlement('unknown'), AT), 'decision_required');
  });

  it('of an unknown outcome by the connector is told as late', () => {
    verifies('actions.machine.connector-late');
    const late = step(STATES.unknown, COMMANDS.confirm, AT + 1);
    assert.equal(late.attempts[0]?.settled_by, 'connector-late');
    assert.equal(STATES.confirmed.attempts[0]?.settled_by, 'connector');
  });

  it('is for an attempt that there is', () => {
    verifies('actions.machine.settle-once');
    assert.equal(outcomeOf(STATES.launched, settlement('confirmed', 'connector', 2), AT), 'launched');
    assert.equal(outcomeOf(STATES.launched, settlement('confirmed', 'connector', 0), AT), 'launched');
  });

  it('that contradicts a settled one stands beside it, once, and blocks every further launch', () => {
    verifies('actions.machine.late-result');
    assert.deepEqual(STATES.late.late_result, { attempt: 1, outcome: 'confirmed', code: null });
    assert.equal(STATES.late.state, 'failed');
    assert.equal(outcomeOf(STATES.late, COMMANDS.approve, AT), 'late_result');
    assert.equal(outcomeOf(STATES.late, COMMANDS.confirm, AT), 'state');
    // The late word may come when the action was approved again, or runs again.
    const again = step(STATES.failed, { do: 'approve', approval: approvalBy('human:alice', 2) }, AT);
    const blocked = step(again, COMMANDS.confirm, AT);
    assert.equal(blocked.state, 'approved');
    assert.equal(outcomeOf(blocked, COMMANDS.launch, AT), 'late_result');
    const running = step(again, COMMANDS.launch, AT);
    assert.equal(running.attempts.length, 2);
    assert.equal(step(running, COMMANDS.confirm, AT).late_result?.attempt, 1);
  });
});

describe('approvals', () => {
  const by = (approver: string, no: number) => ({ do: 'approve', approval: approvalBy(approver, no) }) as const;

  it('count people, each once, until the quorum is there', () => {
    verifies('actions.machine.quorum');
    const two = { ...CONTENT, quorum: 2 };
    const proposed = after({ do: 'propose', content: two, decision: ASK });
    const one = step(proposed, by('human:alice', 1), AT);
    assert.equal(one.state, 'proposed');
    const again = step(one, by('human:alice', 2), AT);
    assert.equal(again.state, 'proposed');
    assert.equal(again.approvals.length, 1);
    const both = step(again, by('human:bob', 3), AT);
    assert.equal(both.state, 'approved');
    assert.deepEqual(both.authorization, {
      kind: 'receipts',
      request_ids: [approvalBy('', 2).request_id, approvalBy('', 3).request_id],
    });
  });

  it('bind an approved action to the newest receipts, so that a void one stands in nobody’s way', () => {
    verifies('actions.machine.rebind');
    const rebound = step(STATES.approved, by('human:bob', 2), AT + 5);
    assert.deepEqual(
      rebound.approvals.map(({ approver }) => approver),
      ['human:bob'],
    );
    assert.equal(rebound.launch_by, AT + 5 + CONTENT.launch_within_ms);
  });

  it('after a failure are fresh ones alone', () => {
    verifies('actions.machine.fresh-receipts');
    const two = after(
      { do: 'propose', content: { ...CONTENT, quorum: 2 }, decision: ASK },
      by('human:alice', 1),
      by('human:bob', 2),
      COMMANDS.launch,
      COMMANDS.fail,
    );
    const one = step(two, by('human:bob', 3), AT);
    assert.equal(one.state, 'failed');
    assert.deepEqual(
      one.approvals.map(({ approver }) => approver),
      ['human:bob'],
    );
  });

  it('by policy are for what policy allows and nothing contradicts', () => {
    verifies('actions.machine.allow');
    const allowed = { ...ASK, outcome: 'ALLOW' } as const;
    const proposed = after({ do: 'propose', content: CONTENT, decision: allowed });
    assert.equal(outcomeOf(proposed, COMMANDS.allow, AT), 'approved/action-approved');
    const flagged = { ...CONTENT, flags: ['possible_duplicate'] as const };
    const duplicate = after({ do: 'propose', content: flagged, decision: allowed });
    assert.equal(outcomeOf(duplicate, COMMANDS.allow, AT), 'receipt_required');
    const found = after(
      { do: 'propose', content: CONTENT, decision: allowed },
      COMMANDS.allow,
      COMMANDS.launch,
      COMMANDS.lose,
      [settlement('failed', 'reconcile'), AT + 10_000 + LIMITS.graceMs],
    );
    assert.equal(outcomeOf(found, COMMANDS.allow, AT), 'receipt_required');
  });
});

describe('a restore', () => {
  it('makes the outcome of every open action unknown, and none is launched before somebody looked', () => {
    verifies('actions.machine.interrupt');
    for (const name of ['proposed', 'approved', 'launched', 'unknown'] as const) {
      const interrupted = step(STATES[name], COMMANDS.interrupt, AT);
      assert.equal(interrupted.state, 'unknown', name);
      assert.equal(outcomeOf(interrupted, COMMANDS.launch, AT), 'decision_required', name);
    }
    // Not even the word of the connector makes it fail: it speaks of one attempt, and another may have run.
    const interrupted = step(STATES.launched, COMMANDS.interrupt, AT);
    assert.equal(outcomeOf(interrupted, COMMANDS.fail, AT), 'decision_required');
    assert.equal(step(interrupted, COMMANDS.confirm, AT).state, 'confirmed');
  });
});

describe('an action with several attempts', () => {
  it('is failed only when none of them may have had its effect', () => {
    verifies('actions.machine.every-attempt');
    const { halfKnown } = STATES;
    assert.deepEqual(
      [halfKnown.state, halfKnown.attempts.map(({ outcome }) => outcome)],
      ['unknown', ['unknown', 'failed']],
    );
    assert.equal(outcomeOf(halfKnown, settlement('failed', 'reconcile', 1), SETTLED_AT), 'failed/action-failed');
    const failed = step(halfKnown, settlement('failed', 'reconcile', 1), SETTLED_AT);
    const allowed = { ...failed, decision: { ...ASK, outcome: 'ALLOW' } as const };
    assert.equal(outcomeOf(allowed, COMMANDS.allow, AT), 'receipt_required');
    assert.equal(outcomeOf(failed, { do: 'cover', grantId: 'grant_1' }, AT), 'receipt_required');
  });

  it('hears of each of them, also while another one runs', () => {
    verifies('actions.machine.every-attempt');
    const running = after(COMMANDS.propose, COMMANDS.approve, COMMANDS.launch, COMMANDS.lose, COMMANDS.approve, retry);
    assert.equal(outcomeOf(running, COMMANDS.fail, AT), 'launched/attempt-settled');
    const second = step(step(running, COMMANDS.fail, AT), settlement('failed', 'connector', 2), AT);
    assert.equal(second.state, 'failed');
    const heard = step(running, COMMANDS.confirm, AT);
    assert.equal(heard.state, 'launched');
    assert.equal(step(heard, settlement('unknown', 'connector', 2), AT).state, 'confirmed');
    assert.equal(step(heard, COMMANDS.recover, AT + 10_000 + LIMITS.graceMs).state, 'confirmed');
    const known = step(running, settlement('confirmed', 'connector', 2), AT);
    assert.equal(outcomeOf(known, COMMANDS.fail, AT), 'confirmed/attempt-settled');
  });

  it('is found out as a whole: a finding speaks of every unknown one', () => {
    verifies('actions.machine.finding');
    const two = after(
      ...[COMMANDS.propose, COMMANDS.approve, COMMANDS.launch, COMMANDS.lose, COMMANDS.approve, retry],
      settlement('unknown', 'connector', 2),
    );
    assert.deepEqual(
      step(two, COMMANDS.findNone, AT).attempts.map(({ outcome, settled_by }) => [outcome, settled_by]),
      [
        ['failed', 'human'],
        ['failed', 'human'],
      ],
    );
  });

  it('keeps a later word of each attempt until somebody looked at it', () => {
    verifies('actions.machine.late-result');
    const twice = after(
      ...[COMMANDS.propose, COMMANDS.approve, COMMANDS.launch, COMMANDS.fail, COMMANDS.approve, COMMANDS.launch],
      ...[settlement('failed', 'connector', 2), COMMANDS.confirm, settlement('confirmed', 'connector', 2)],
    );
    assert.deepEqual([twice.late_result?.attempt, twice.late_more.map(({ attempt }) => attempt)], [1, [2]]);
    const first = step(twice, COMMANDS.findNone, AT);
    assert.deepEqual([first.state, first.late_result?.attempt], ['failed', 2]);
    assert.equal(outcomeOf(first, COMMANDS.approve, AT), 'late_result');
    assert.equal(step(first, COMMANDS.find, AT).state, 'confirmed');
  });

  it('that a restore interrupted is confirmed by one of them, and never failed beside it', () => {
    verifies('actions.machine.every-attempt');
    const running = after(COMMANDS.propose, COMMANDS.approve, COMMANDS.launch, COMMANDS.lose, COMMANDS.approve, retry);
    const interrupted = step(running, COMMANDS.interrupt, AT);
    assert.equal(outcomeOf(interrupted, COMMANDS.reconcile, AT), 'confirmed/action-confirmed');
  });

  it('settles by a finding the attempt that a later word contradicts', () => {
    verifies('actions.machine.finding');
    const failed = step(STATES.lateApproved, COMMANDS.findNone, AT);
    assert.deepEqual([failed.state, failed.late_result], ['failed', null]);
    assert.equal(outcomeOf(failed, { do: 'cover', grantId: 'grant_1' }, AT), 'receipt_required');
    const ended = step(STATES.lateLaunched, settlement('failed', 'connector', 2), AT);
    assert.deepEqual(
      step(ended, COMMANDS.find, AT).attempts.map(({ outcome }) => outcome),
      ['confirmed', 'failed'],
    );
  });

  it('is launched a bounded number of times', () => {
    verifies('actions.machine.attempts-bounded');
    let state = STATES.failed;
    for (let no = 2; no <= LIMITS.attemptsMax; no += 1) {
      state = step(step(state, COMMANDS.approve, AT), COMMANDS.launch, AT);
      state = step(state, settlement('failed', 'connector', no), AT);
    }
    assert.equal(outcomeOf(step(state, COMMANDS.approve, AT), COMMANDS.launch, AT), 'state');
  });
});

describe('an action that was replaced', () => {
  it('never runs again, whatever is found out of it', () => {
    verifies('actions.machine.replaced');
    const found = step(STATES.replaced, COMMANDS.findNone, AT);
    for (const state of [found, STATES.failedReplaced]) {
      for (const command of [COMMANDS.approve, COMMANDS.launch, { do: 'cover', grantId: 'grant_1' } as const]) {
        assert.equal(outcomeOf(state, command, AT), 'replaced', command.do);
      }
    }
  });
});
