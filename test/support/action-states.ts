/** An action in each of its states, as the machine makes it: by its own events. */

import type { ActionState } from '../../src/actions/index.js';
import { type ActionCommand, type ActionContent, actionKind, decideAction } from '../../src/actions/index.js';
import { type JsonObject, LIMITS, type Principal, Refusal } from '../../src/core/index.js';
import type { Decision } from '../../src/policy/index.js';

export const AT = 1_790_000_000_000;
const HASH = (digit: string) => `sha256:${digit.repeat(64)}`;

export const ASK: Decision = {
  decision_id: 'dec_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
  outcome: 'REQUIRE_APPROVAL',
  code: null,
  determined_by: ['rule'],
  reason: 'a person is asked',
  facts_digest: HASH('f'),
};

export const CONTENT: ActionContent = {
  action_id: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
  ledger_id: '0123456789abcdef0123456789abcdef',
  epoch: 0,
  project: 'acme',
  work_item: 'chg_1',
  proposed_by: 'agent:local',
  on_behalf_of: ['agent:other'],
  connector: 'counting',
  operation: 'send',
  target: 'customers',
  args_ref: HASH('a'),
  own_lines_ref: null,
  amount: 1_230,
  currency: 'EUR',
  class: 'irreversible',
  policy_version: HASH('1'),
  digest: HASH('d'),
  binding: HASH('b'),
  effect: HASH('e'),
  approvers: ['human:alice', 'human:bob'],
  quorum: 1,
  rule: 'anybody',
  approve_by: AT + 100_000,
  launch_within_ms: 50_000,
  operation_digest: HASH('0'),
  preconditions: { head: 'one' },
  provenance: null,
  flags: ['non_ascii_target'],
  duplicates: [],
  launches_seen: 0,
  edited_by: null,
  revised_from: null,
  changed_paths: [],
  replaces: null,
};

export function approvalBy(approver: string, no = 1) {
  const request_id = `req_01JDXW3Q4R8Y2M5N7P9S0T1V${String(no).padStart(2, '0')}`;
  return { request_id, approver: approver as Principal, credential_id: HASH('c'), nonce: `nonce-${no}-0123456789` };
}

function finding(outcome: 'confirmed' | 'failed') {
  return { outcome, by: 'human:alice', request_id: 'req_1', evidence_ref: HASH('f') };
}

export const COMMANDS = {
  propose: { do: 'propose', content: CONTENT, decision: ASK },
  approve: { do: 'approve', approval: approvalBy('human:alice') },
  allow: { do: 'allow' },
  cancel: { do: 'cancel', how: 'withdrawn', by: 'agent:local', words: null },
  deny: { do: 'cancel', how: 'denied', by: 'human:alice', words: 'no' },
  expire: { do: 'expire' },
  launch: {
    do: 'launch',
    launch: {
      authorization: { kind: 'receipts', request_ids: [approvalBy('human:alice').request_id] },
      decision: ASK,
      launchedBy: 'agent:local',
      timeoutMs: 10_000,
      prepared: null,
    },
  },
  confirm: settlement('confirmed'),
  fail: settlement('failed'),
  lose: settlement('unknown'),
  reconcile: settlement('confirmed', 'reconcile'),
  recover: { do: 'recover', by: 'agent:local' },
  interrupt: { do: 'interrupt' },
  replace: { do: 'replace', by: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V9Z', requestId: 'req_1' },
  find: { do: 'find', finding: finding('confirmed') },
  findNone: { do: 'find', finding: finding('failed') },
} as const satisfies Record<string, ActionCommand>;

export type CommandName = keyof typeof COMMANDS;

export function settlement(
  outcome: 'confirmed' | 'failed' | 'unknown',
  settledBy: 'connector' | 'reconcile' = 'connector',
  attempt = 1,
): Extract<ActionCommand, { do: 'settle' }> {
  return {
    do: 'settle',
    settlement: { attempt, outcome, code: null, externalRef: null, evidence: null, settledBy },
  };
}

/** The state after a command; throws its refusal. */
export function step(state: ActionState | undefined, command: ActionCommand, now: number): ActionState {
  const decided = decideAction(state, command, now);
  if (decided instanceof Refusal) throw decided;
  return decided.reduce<ActionState | undefined>(
    (before, { type, data }) =>
      actionKind.evolve(before, {
        record: { kind: 'action', id: CONTENT.action_id },
        revision: 0,
        type,
        at: now,
        actor: 'engine:gate',
        data: JSON.parse(JSON.stringify(data)) as JsonObject,
        payloads: [],
        prev: null,
        hash: '',
      }),
    state,
  ) as ActionState;
}

export function after(...commands: readonly (ActionCommand | readonly [ActionCommand, number])[]): ActionState {
  let state: ActionState | undefined;
  for (const one of commands) {
    const [command, now] = 'do' in one ? [one, AT] : one;
    state = step(state, command, now);
  }
  return state as ActionState;
}

const { propose, approve, launch, confirm, fail, lose, cancel, deny, interrupt, replace } = COMMANDS;
/** When a connector may be believed that says there is no effect. */
export const SETTLED_AT = AT + 10_000 + LIMITS.graceMs;
/** Another attempt, of an operation that knows a repeated call for ever. */
export const retry: ActionCommand = {
  do: 'launch',
  launch: { ...launch.launch, dedupeWindowMs: Number.POSITIVE_INFINITY },
};
const again = approvalAgain();

function approvalAgain(): ActionCommand {
  return { do: 'approve', approval: approvalBy('human:alice', 2) };
}

/** Each state, with what leads to it. */
export const STATES = {
  none: undefined,
  proposed: after(propose),
  approved: after(propose, approve),
  launched: after(propose, approve, launch),
  confirmed: after(propose, approve, launch, confirm),
  failed: after(propose, approve, launch, fail),
  unknown: after(propose, approve, launch, lose),
  retrying: after(propose, approve, launch, lose, approve),
  replaced: after(propose, approve, launch, lose, replace),
  interrupted: after(propose, approve, interrupt),
  withdrawn: after(propose, cancel),
  denied: after(propose, approve, deny),
  expired: after(propose, [{ do: 'expire' }, CONTENT.approve_by]),
  late: after(propose, approve, launch, fail, confirm),
  /** The first attempt is unknown, and the second had no effect. */
  halfKnown: after(propose, approve, launch, lose, approve, retry, settlement('failed', 'connector', 2)),
  /** Established after the action was replaced. */
  failedReplaced: after(propose, approve, launch, lose, replace, [settlement('failed', 'reconcile'), SETTLED_AT]),
  lateApproved: after(propose, approve, launch, fail, again, confirm),
  lateLaunched: after(propose, approve, launch, fail, again, launch, confirm),
  lateCancelled: after(propose, approve, launch, fail, cancel, confirm),
  lateConfirmed: after(propose, approve, launch, confirm, fail),
} as const;

export type StateName = keyof typeof STATES;

/** The state's name, or the code of the refusal. */
export function outcomeOf(state: ActionState | undefined, command: ActionCommand, now: number): string {
  const decided = decideAction(state, command, now);
  if (decided instanceof Refusal) return decided.code;
  const last = decided.at(-1);
  return `${step(state, command, now).state}/${last?.type}`;
}
