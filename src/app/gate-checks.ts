/**
 * What the gate looks at around a verb: whether an act can be asked for, whether what is shown is what was
 * requested, what of a refused proposal may be told, and what a list may be asked for.
 */
import { type ActionStateName, actionKind, type RefusedSubject } from '../actions/index.js';
import { type Act, admitAct, type Remembered, spanRefusal, summaryDigest } from '../approvals/index.js';
import { connectorsConfig } from '../connectors/index.js';
import { isActionId, LIMITS, PATTERNS, Refusal } from '../core/index.js';
import { awayRefusal, personKind } from '../identity/index.js';
import type { Ledger, ListQuery, Page } from '../ledger/index.js';
import { CedarDoor, cedarDefect, StoredPolicy } from '../policy/index.js';
import { epochOf } from './epoch.js';

/**
 * A configuration whose connectors could not be opened would lock everybody out once it is the active one, and one
 * whose Cedar files could not be read would deny everything.
 */
function demandOpenable(act: Act): void {
  if (act.kind !== 'config') return;
  const { config } = act;
  if (!connectorsConfig.safeParse(config.connectors).success) {
    throw new Refusal('config_invalid', 'the configuration of a connector can not be used', { path: 'connectors' });
  }
  if (config.policy?.cedar === undefined || !StoredPolicy.safeParse(config.policy).success) return;
  if (cedarDefect(new CedarDoor(), config.policy) === undefined) return;
  throw new Refusal('config_invalid', 'a Cedar file of the configuration can not be read', { path: 'policy.cedar' });
}

/**
 * An act that a person can be asked for. Refuses `invalid`, and what could not be carried out once it is signed.
 * `remembered` is what a restore is shown against.
 */
export async function admitFeasible(
  ledger: Ledger,
  asked: unknown,
  remembered: () => Remembered | undefined,
  now: number,
): Promise<Act> {
  const act = admitAct(await asRemembered(ledger, asked, remembered));
  demandOpenable(act);
  const span = act.kind === 'standing' && act.change.op === 'open' ? spanRefusal(act.change.grant, now) : undefined;
  if (span !== undefined) throw span;
  await demandAway(ledger, act, now);
  return act;
}

/** A restore is shown against what the gate remembers; where that is nothing, in the epoch that the store has. */
async function asRemembered(
  ledger: Ledger,
  asked: unknown,
  remembered: () => Remembered | undefined,
): Promise<unknown> {
  const act = asked as { readonly kind?: unknown; readonly remembered?: unknown } | null | undefined;
  if (act?.kind !== 'restore') return asked;
  const known = remembered() ?? { ...(act.remembered as object | undefined), epoch: await epochOf(ledger) };
  return { ...act, remembered: known };
}

/** Nobody is asked to sign for being away until a time, or with a delegate, that could not be. */
async function demandAway(ledger: Ledger, act: Act, now: number): Promise<void> {
  if (act.kind !== 'registry' || act.change.change !== 'away') return;
  const { delegate } = act.change;
  const other = delegate === null ? undefined : (await ledger.read(personKind, delegate))?.state;
  const refused = awayRefusal(act.change, other, now);
  if (refused !== undefined) throw refused;
}

/** INVARIANT: what a person is shown is what the request names (authority.shown-is-signed). */
export function demandSame(lines: readonly string[], expected: string): void {
  if (summaryDigest(lines) === expected) return;
  throw new Refusal('summary_mismatch', 'the action changed since this was asked: ask again');
}

/** What a verb was about, as far as a refusal of it tells: the action that was named, the project of a proposal. */
export function subjectOf(verb: string, asked: object): RefusedSubject {
  const { actionId, proposal, resolution } = asked as Readonly<Record<string, unknown>>;
  const id = actionId ?? (resolution as { action_id?: unknown } | null | undefined)?.action_id;
  const project = (proposal as { project?: unknown } | null | undefined)?.project;
  return {
    verb,
    ...(typeof id === 'string' ? { action_id: id } : {}),
    ...(typeof project === 'string' && PATTERNS.project.test(project) ? { project } : {}),
  };
}

export interface ActionFilter {
  readonly project?: string;
  readonly states?: readonly string[];
  readonly limit?: number;
  readonly after?: string;
}

/** Every state, by its name. */
const STATES: Readonly<Record<ActionStateName, true>> = {
  proposed: true,
  approved: true,
  launched: true,
  confirmed: true,
  failed: true,
  unknown: true,
  cancelled: true,
};

/** A page of actions. Refuses `invalid` for what no list can be asked for, instead of showing an empty one. */
export async function listActions(ledger: Ledger, filter: ActionFilter): Promise<Page> {
  const query = queryOf(filter);
  const { after } = filter;
  // A page hands out the id of its last action, and no action goes away.
  if (after !== undefined && (!isActionId(after) || (await ledger.read(actionKind, after)) === undefined)) {
    throw new Refusal('invalid', 'the cursor is not one of a page', { path: 'after' });
  }
  return ledger.list(query);
}

function queryOf({ project, states, limit, after }: ActionFilter): ListQuery {
  if (states?.some((state) => !Object.hasOwn(STATES, state))) {
    const known = Object.keys(STATES);
    throw new Refusal('invalid', `a state is one of ${known.join(', ')}`, { path: 'states', details: { known } });
  }
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1 && limit <= LIMITS.pageRowsMax)) {
    throw new Refusal('invalid', `a page has 1 to ${LIMITS.pageRowsMax} rows`, { path: 'limit' });
  }
  return {
    kind: 'action',
    ...(project === undefined ? {} : { project }),
    ...(states === undefined ? {} : { statuses: states.includes('cancelled') ? [...states, 'late'] : states }),
    ...(limit === undefined ? {} : { limit }),
    ...(after === undefined ? {} : { after }),
  };
}
