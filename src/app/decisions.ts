/**
 * What waits for a person, most urgent first: approvals with what is missing, unknown outcomes, launches that nobody
 * answered for, results that contradict. Each row says what to do next. What has expired is not in it.
 * Source: spec actions (decisions).
 */
import { type ActionState, actionKind, type Services } from '../actions/index.js';
import { ruleFor } from '../approvals/index.js';
import { LIMITS, PATTERNS, Refusal } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import { CONFIG_RECORD, configKind, TrustConfig } from '../policy/index.js';
import { actRows } from './act-rows.js';
import { attending } from './attendance.js';
import { confirmationRows } from './package-decisions.js';

export type DecisionRow = {
  readonly what:
    | 'approval'
    | 'outcome_unknown'
    | 'interrupted_launch'
    | 'late_result'
    | 'no_worker'
    | 'request'
    | 'confirmation';
  readonly id: string;
  readonly project: string | null;
  readonly operation: string;
  readonly target: string;
  readonly class: string | null;
  readonly approvals: number;
  readonly quorum: number;
  readonly approvers: readonly string[];
  /** Until when; for what has happened already, since when. Milliseconds since the epoch. */
  readonly due: number;
  /** For an approval: when somebody should have decided, who is told then as well, and whether that time has passed. */
  readonly wanted?: {
    readonly by: number;
    readonly remind: number;
    readonly late: boolean;
    readonly also: readonly string[];
  };
  /** For an approval: whether somebody waits for it, or its agent listens. Absent where nobody knows of one. */
  readonly awaited?: true;
  /** What keeps it from being launched by this process at present, once it is approved. */
  readonly lacks?: string;
  /** The command to type. */
  readonly next: string;
};

/** The first of what waits. */
export interface DecisionPage {
  readonly rows: readonly DecisionRow[];
  /** Whether more waits behind these. */
  readonly more: boolean;
}

/**
 * The first `limit` rows; `person` narrows to what `human:NAME` can decide. Refuses `invalid` for another name.
 * INVARIANT: it reads as much as it shows, however much waits (app.inbox.first-page).
 */
export async function listDecisions(
  { ledger, clock, connector }: Pick<Services, 'ledger' | 'clock' | 'connector'>,
  person: string | undefined,
  limit: number,
): Promise<DecisionPage> {
  const now = clock.now();
  if (person !== undefined && !PATTERNS.human.test(person)) {
    throw new Refusal('invalid', 'a person is named `human:NAME`', { path: 'person' });
  }
  const config = (await ledger.read(configKind, CONFIG_RECORD.id))?.state;
  const trust = TrustConfig.safeParse(config?.config).data;
  const waiting = await attending(ledger);
  const rows: DecisionRow[] = [];
  let isMore = false;
  const pageRows = Math.min(limit, LIMITS.pageRowsMax);
  for (let after: string | undefined; rows.length < limit; ) {
    const asked = { kind: 'action', waiting: true, limit: pageRows } as const;
    const page = await ledger.list({ ...asked, ...(after === undefined ? {} : { after }) });
    isMore = page.next !== undefined;
    for (const { id, due } of page.rows) {
      const snapshot = await ledger.read(actionKind, id);
      const row = snapshot === undefined ? undefined : actionRow(snapshot.state, due ?? 0, now, config?.version, trust);
      if (row === undefined || (person !== undefined && !concerns(row, person))) continue;
      const lacks = row.what === 'approval' ? await lackOf(connector, snapshot?.state.content) : undefined;
      const isAwaited = waiting.has(id) || waiting.has(snapshot?.state.content.proposed_by ?? '');
      rows.push({
        ...row,
        ...(row.what === 'approval' && isAwaited ? { awaited: true } : {}),
        ...(lacks === undefined ? {} : { lacks: lacks.found }),
      });
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  const urgency = (row: DecisionRow) => row.wanted?.by ?? row.due;
  const acts = [...(await actRows(ledger, now, limit, person)), ...(await confirmationRows(ledger, now, limit))];
  const stuck = connector('worker') === undefined ? [] : await stuckRows(ledger, connector, now);
  const all = [...rows, ...stuck, ...acts].sort((a, b) => urgency(a) - urgency(b));
  return { rows: all.slice(0, limit), more: isMore || all.length > limit };
}

/** What a launch of an action would lack in this process. */
async function lackOf(connector: Services['connector'], content: ActionState['content'] | undefined) {
  if (content === undefined) return undefined;
  return (await connector(content.connector)?.operation(content.operation))?.lacks?.(content.project);
}

/** Approved actions that nobody is there to run, as many as a page. */
async function stuckRows(ledger: Ledger, connector: Services['connector'], now: number): Promise<DecisionRow[]> {
  const rows: DecisionRow[] = [];
  for (const { id } of (await ledger.list({ kind: 'action', statuses: ['approved'] })).rows) {
    const state = (await ledger.read(actionKind, id))?.state;
    const isOver = state === undefined || now >= (state.launch_by ?? 0);
    const lacks = isOver ? undefined : await lackOf(connector, state.content);
    if (isOver || lacks === undefined) continue;
    rows.push({
      ...commonOf(state),
      due: state.launch_by ?? 0,
      what: 'no_worker',
      lacks: lacks.found,
      next: lacks.next,
    });
  }
  return rows;
}

function commonOf({ content, approvals }: ActionState) {
  return {
    id: content.action_id,
    project: content.project,
    operation: `${content.connector} ${content.operation}`,
    target: content.target,
    class: content.class,
    approvals: approvals.length,
    quorum: content.quorum,
    approvers: content.approvers,
  };
}

function concerns(row: DecisionRow, person: string): boolean {
  const told = row.wanted?.late === true && row.wanted.also.includes(person);
  return row.what !== 'approval' || row.approvers.includes(person) || told;
}

/** When somebody should have decided, by the rule of the action. */
export function wantedOf(
  { content, proposed_at }: ActionState,
  now: number,
  trust?: TrustConfig,
): NonNullable<DecisionRow['wanted']> {
  const factsUnknown = content.flags.includes('facts_unknown');
  const rule = trust === undefined ? undefined : ruleFor(trust, { ...content, factsUnknown });
  const dueMs = rule?.due ?? LIMITS.decideWithinMsDefault;
  const by = proposed_at + dueMs;
  const remind = proposed_at + (rule?.remind ?? Math.floor(dueMs / 2));
  return { by, remind, late: now >= by, also: rule?.escalate_to ?? [] };
}

/**
 * Only a signed finding settles what a later word contradicts: it says which of the two was right. What is confirmed
 * stays so.
 */
function findingOf({ state, content }: ActionState): string {
  const words = `countersign action finding ${content.action_id} --evidence WORDS --outcome confirmed`;
  return state === 'confirmed' ? words : `${words}, or --outcome failed`;
}

function actionRow(
  state: ActionState,
  due: number,
  now: number,
  policyVersion?: string,
  trust?: TrustConfig,
): DecisionRow | undefined {
  const { content } = state;
  const common = { ...commonOf(state), due };
  switch (waitsFor(state, now)) {
    case 'late_result':
      return { ...common, what: 'late_result', next: findingOf(state) };
    case 'approval': {
      // Under another configuration it can't be approved any more: it has to be asked for again.
      const verb = content.policy_version === policyVersion ? 'request' : 'propose --like';
      const wanted = wantedOf(state, now, trust);
      return { ...common, what: 'approval', wanted, next: `countersign action ${verb} ${content.action_id}` };
    }
    case 'outcome_unknown':
      return { ...common, what: 'outcome_unknown', next: `countersign action reconcile ${content.action_id}` };
    case 'interrupted_launch':
      return { ...common, what: 'interrupted_launch', next: 'countersign action recover' };
    default:
      return undefined;
  }
}

/** What an action waits for at a person; undefined for nothing. */
export function waitsFor(
  state: ActionState,
  now: number,
): 'late_result' | 'approval' | 'outcome_unknown' | 'interrupted_launch' | undefined {
  if (state.late_result !== null) return 'late_result';
  if (state.state === 'proposed' && now < state.content.approve_by) return 'approval';
  if (state.state === 'unknown') return 'outcome_unknown';
  const deadline = state.attempts.at(-1)?.deadline ?? 0;
  return state.state === 'launched' && now >= deadline + LIMITS.graceMs ? 'interrupted_launch' : undefined;
}
