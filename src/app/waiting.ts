/**
 * What waits for people, with whom it is about and by when: the inbox as notifications are planned from it.
 * Source: spec actions (decisions), authority (approval rules; away).
 */
import { type ActionState, actionKind, methodsOfResolution } from '../actions/index.js';
import { approversOf, type Deciders, excludedOf, resolversOf, ruleFor } from '../approvals/index.js';
import { invitationKind, isAway, type PersonState } from '../identity/index.js';
import type { Ledger, ListRow } from '../ledger/index.js';
import { NOTIFY_LIMITS, type Presence, type Waiting } from '../notifications/index.js';
import type { TrustConfig } from '../policy/index.js';
import { actRows } from './act-rows.js';
import { waitsFor, wantedOf } from './decisions.js';
import { confirmationRows } from './package-decisions.js';
import { listPeople } from './people.js';

/** The people of a ledger, as far as somebody is told something. */
export interface KnownPeople {
  readonly approvers: readonly string[];
  /** The same with the ways in which their keys sign. */
  readonly deciders: Deciders;
  readonly presence: Presence;
}

export async function knownPeople(ledger: Ledger, now: number): Promise<KnownPeople> {
  const { people, keys } = await listPeople(ledger);
  const active = people.filter(({ state }) => state === 'active');
  const having = (role: PersonState['roles'][number]) =>
    active.filter(({ roles }) => roles.includes(role)).map(({ person }) => person as string);
  const signing = (names: readonly string[]) =>
    names.map((person) => {
      const own = keys.filter((key) => key.person === person && key.state === 'active');
      return { person, methods: own.map(({ method }) => method) };
    });
  const [approvers, operators] = [having('approver'), having('operator')];
  const away = active.filter((person) => isAway(person, now));
  return {
    approvers,
    deciders: { approvers: signing(approvers), operators: signing(operators) },
    presence: {
      operators,
      away: new Map(away.map(({ person, away: since }) => [person, since?.delegate ?? null])),
    },
  };
}

interface World {
  readonly ledger: Ledger;
  readonly now: number;
  readonly config: TrustConfig;
  readonly people: KnownPeople;
}

/** States of actions besides that of a proposal in which something may wait for a person. */
const AFTERWARDS = ['launched', 'unknown', 'confirmed', 'failed', 'cancelled'];

/**
 * At most 1,000 of each kind, the most urgent first. What ran out of time less than a day ago is among them. Proposals
 * are a kind of their own, so that many old outcomes hide no new approval.
 */
export async function waitingNow(world: World): Promise<readonly Waiting[]> {
  const action = (row: ListRow) => waitingAction(world, row);
  const proposals = await eachWaiting(world, { kind: 'action', statuses: ['proposed'] }, action);
  const outcomes = await eachWaiting(world, { kind: 'action', statuses: AFTERWARDS }, action);
  const enrolments = await eachWaiting(world, { kind: 'invitation' }, (row) => waitingEnrolment(world, row));
  return [...proposals, ...outcomes, ...enrolments, ...(await waitingActs(world)), ...(await waitingSummaries(world))];
}

async function eachWaiting(
  { ledger }: World,
  query: { readonly kind: 'action' | 'invitation'; readonly statuses?: readonly string[] },
  read: (row: ListRow) => Promise<Waiting | undefined>,
): Promise<readonly Waiting[]> {
  const found: Waiting[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < NOTIFY_LIMITS.inboxPagesMax && found.length < NOTIFY_LIMITS.rowsMax; pages += 1) {
    const page = await ledger.list({ ...query, waiting: true, ...(after === undefined ? {} : { after }) });
    const states = await Promise.all(page.rows.map(read));
    found.push(...states.filter((one): one is Waiting => one !== undefined));
    if (page.next === undefined) break;
    after = page.next;
  }
  return found;
}

async function waitingAction(world: World, { id, status, due = 0 }: ListRow): Promise<Waiting | undefined> {
  const { ledger, now } = world;
  if ((status === 'launched' && now < due) || (status === 'proposed' && now - due >= NOTIFY_LIMITS.newsMsMax))
    return undefined;
  const state = (await ledger.read(actionKind, id))?.state;
  return state === undefined ? undefined : actionWaiting(state, world);
}

/** Nothing for one that waits for nobody. */
export function actionWaiting(state: ActionState, { now, config, people }: World): Waiting | undefined {
  const { content, attempts } = state;
  const what = waitsFor(state, now);
  const isEnded = state.closed?.how === 'expired' && state.launch_by === null;
  const isExpired = (state.state === 'proposed' || isEnded) && what === undefined;
  if (what === undefined && !isExpired) return undefined;
  const subject = { ...content, factsUnknown: content.flags.includes('facts_unknown') };
  const common = {
    ...{ id: content.action_id, class: content.class, project: content.project },
    ...{ operation: `${content.connector} ${content.operation}` },
    ...{ approvals: state.approvals.length, quorum: content.quorum },
  };
  if (what === 'approval' || isExpired) {
    const signed = new Set<string>(state.approvals.map(({ approver }) => approver));
    const missing = content.approvers.filter((person) => !signed.has(person));
    const { by, remind, also } = wantedOf(state, now, config);
    const others = also.length > 0 ? also : othersOf(content, subject, config, people.approvers);
    return {
      ...{ ...common, what: 'approval', occasion: '', people: missing, since: state.proposed_at },
      ...{ eligible: content.approvers, expires: content.approve_by },
      wanted: { remind, by, also: others.length > 0 ? others : missing },
    };
  }
  const methods = methodsOfResolution(config, content);
  const resolvers = resolversOf(config, subject, content.approvers, people.deciders, methods);
  return {
    ...{ ...common, what: what ?? 'late_result', occasion: `${attempts.length} ${state.late_more.length}` },
    ...{ people: resolvers, eligible: resolvers, wanted: null, expires: null },
    since: attempts.at(-1)?.finished_at ?? now,
  };
}

/** The others of the same rule's list, whom nobody asked. */
function othersOf(
  content: ActionState['content'],
  subject: Parameters<typeof ruleFor>[1],
  config: TrustConfig,
  active: readonly string[],
): readonly string[] {
  const rule = ruleFor(config, subject);
  if (rule === undefined) return [];
  const { proposed_by, on_behalf_of, edited_by, approvers } = content;
  const excluded = excludedOf(rule, config, proposed_by, on_behalf_of, edited_by);
  return approversOf(rule, config.groups, active, [...excluded, ...approvers], undefined);
}

/** What an action asks for waits as the action. An act is asked for minutes: nobody hears that they run out. */
async function waitingActs({ ledger, now }: World): Promise<readonly Waiting[]> {
  const rows = await actRows(ledger, now, NOTIFY_LIMITS.rowsMax);
  return rows.map(({ id, operation, approvals, quorum, approvers }) => ({
    ...{ what: 'request', id, occasion: '', class: null, operation, project: null },
    ...{ approvals, quorum, people: approvers, eligible: approvers, since: now, expires: null, wanted: null },
  }));
}

/** INVARIANT: an invitation's link travels nowhere; that a passkey waits does (notifications.powerless). */
async function waitingEnrolment(world: World, { id, due = 0 }: ListRow): Promise<Waiting | undefined> {
  const state = (await world.ledger.read(invitationKind, id))?.state;
  if (state === undefined || state.state !== 'made' || due <= world.now) return undefined;
  const people = world.people.presence.operators;
  return {
    ...{ what: 'enrolment', id, occasion: '', class: null, operation: '', project: null },
    ...{ approvals: 0, quorum: 1, people, eligible: people, since: world.now, expires: null, wanted: null },
  };
}

async function waitingSummaries({ ledger, now, people }: World): Promise<readonly Waiting[]> {
  const rows = await confirmationRows(ledger, now, NOTIFY_LIMITS.rowsMax);
  return rows.map(({ id, due }) => ({
    ...{ what: 'confirmation', id, occasion: String(due), class: null, operation: '', project: null },
    ...{ approvals: 0, quorum: 1, people: people.approvers, eligible: people.approvers },
    ...{ since: due, expires: null, wanted: null },
  }));
}
