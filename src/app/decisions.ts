/**
 * What waits for a person, most urgent first: approvals with what is missing, unknown outcomes, launches that nobody
 * answered for, results that contradict. Each row says what to do next. What has expired is not in it.
 * Source: spec actions (decisions).
 */
import { type ActionState, actionKind, type Services } from '../actions/index.js';
import { ruleFor } from '../approvals/index.js';
import { LIMITS, PATTERNS, Refusal } from '../core/index.js';
import type { ListRow } from '../ledger/index.js';
import { CONFIG_RECORD, configKind, TrustConfig } from '../policy/index.js';
import { Asking, actRow } from './act-rows.js';
import { attending } from './attendance.js';
import { placeAfter, type Waits, walkWaiting } from './inbox-walk.js';
import { confirmationRow } from './package-decisions.js';

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

/** A page of what waits. */
export interface DecisionPage {
  readonly rows: readonly DecisionRow[];
  /** Whether more waits, or may wait, behind these. */
  readonly more: boolean;
  /** Where the next page begins; absent behind the last one. */
  readonly next?: string;
}

export interface DecisionQuery {
  /** Narrows to what `human:NAME` can decide. */
  readonly person?: string | undefined;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

type Deciding = Pick<Services, 'ledger' | 'clock' | 'connector'>;

/**
 * At most `limit` rows behind a place; pages follow each other by when things end, and in each the most urgent comes
 * first. Refuses `invalid` for a name of nobody and for a cursor that no page handed out.
 * INVARIANT: a page reads as much as it shows, however much waits (app.inbox.first-page), and looks at a bounded number
 * of rows, however few are for `person`: it may hold none, and name where to look on (app.inbox.bounded).
 */
export async function listDecisions(
  services: Deciding,
  { person, limit, after }: DecisionQuery,
): Promise<DecisionPage> {
  if (person !== undefined && !PATTERNS.human.test(person)) {
    throw new Refusal('invalid', 'a person is named `human:NAME`', { path: 'person' });
  }
  const desk = await Desk.open(services, person);
  const rows: DecisionRow[] = [];
  let looks = 0;
  let last: ListRow | undefined;
  let isMore = false;
  for await (const waits of walkWaiting(services.ledger, desk.now, limit + 1, after)) {
    isMore = rows.length >= limit || desk.reads >= LIMITS.inboxReadsMax || looks >= LIMITS.inboxLooksMax;
    if (isMore) break;
    looks += 1;
    last = waits.row;
    const row = desk.isIdle(waits) ? undefined : await desk.rowOf(waits);
    if (row !== undefined) rows.push(row);
  }
  const next = isMore && last !== undefined ? { next: placeAfter(last) } : {};
  return { rows: rows.sort(byUrgency), more: isMore, ...next };
}

/** The most urgent first. */
export function byUrgency(a: DecisionRow, b: DecisionRow): number {
  return (a.wanted?.by ?? a.due) - (b.wanted?.by ?? b.due);
}

/** The configuration in force; undefined where none was ever carried out, or none that can be read. */
interface Active {
  readonly version: string | undefined;
  readonly trust: TrustConfig | undefined;
}

/** What one page is made with: the time, the configuration and who listens, looked up once. */
class Desk {
  readonly #services: Deciding;
  readonly #person: string | undefined;
  readonly now: number;
  readonly #config: Active;
  readonly #listening: ReadonlySet<string>;
  readonly #asking: Asking;
  /** Records that were read for rows, whether they became one or not. */
  reads = 0;

  private constructor(services: Deciding, person: string | undefined, config: Active, listening: ReadonlySet<string>) {
    this.#services = services;
    this.#person = person;
    this.now = services.clock.now();
    this.#config = config;
    this.#listening = listening;
    this.#asking = new Asking(services.ledger, this.now);
  }

  static async open(services: Deciding, person: string | undefined): Promise<Desk> {
    const config = (await services.ledger.read(configKind, CONFIG_RECORD.id))?.state;
    const trust = TrustConfig.safeParse(config?.config).data;
    return new Desk(services, person, { version: config?.version, trust }, await attending(services.ledger));
  }

  /** Whether the columns of a row tell already that nobody has to decide it. What is late is looked at. */
  isIdle({ kind, row: { status, due = 0 } }: Waits): boolean {
    const isOver = due <= this.now;
    if (kind !== 'action') return kind === 'request' && isOver;
    if (status === 'launched') return !isOver;
    // One whose time is over may have been contradicted by a later word, which waits since then (app.inbox.late).
    if (status === 'approved') return !isOver && this.#services.connector('worker') === undefined;
    return status === 'proposed' && isOver;
  }

  rowOf({ kind, row }: Waits): Promise<DecisionRow | undefined> {
    const { ledger } = this.#services;
    this.reads += 1;
    switch (kind) {
      case 'request':
        return actRow(ledger, this.#asking, row, this.now, this.#person);
      case 'package':
        return confirmationRow(ledger, row, this.now);
      default:
        return this.#actionRow(row);
    }
  }

  async #actionRow({ id, due = 0 }: ListRow): Promise<DecisionRow | undefined> {
    const { ledger, connector } = this.#services;
    const state = (await ledger.read(actionKind, id))?.state;
    if (state === undefined) return undefined;
    const { version, trust } = this.#config;
    const row = actionRow(state, due, this.now, version, trust);
    if (row === undefined) return this.#stuckRow(state);
    if (this.#person !== undefined && !concerns(row, this.#person)) return undefined;
    if (row.what !== 'approval') return row;
    const lacks = await lackOf(connector, state.content);
    const isAwaited = this.#listening.has(id) || this.#listening.has(state.content.proposed_by);
    return { ...row, ...(isAwaited ? { awaited: true } : {}), ...(lacks === undefined ? {} : { lacks: lacks.found }) };
  }

  /** An approved action that nobody is there to run. */
  async #stuckRow(state: ActionState): Promise<DecisionRow | undefined> {
    const { launch_by } = state;
    if (state.state !== 'approved' || this.now >= (launch_by ?? 0)) return undefined;
    const lacks = await lackOf(this.#services.connector, state.content);
    if (lacks === undefined) return undefined;
    const { found, next } = lacks;
    return { ...commonOf(state), due: launch_by ?? 0, what: 'no_worker', lacks: found, next };
  }
}

/** What a launch of an action would lack in this process. */
async function lackOf(connector: Services['connector'], content: ActionState['content']) {
  return (await connector(content.connector)?.operation(content.operation))?.lacks?.(content.project);
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
