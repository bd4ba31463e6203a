/**
 * What was launched under one effect, by whichever action: the newest launches, so that whoever waited meanwhile is not
 * launched as if nothing had happened. Its record is also the lock under which equal actions are compared. Pure.
 * Source: spec actions (joining; launch), ledger (effect record).
 */
import { type JsonObject, LIMITS, Refusal } from '../core/index.js';
import type { LedgerState } from '../identity/index.js';
import type { Kind, LedgerEvent, LookupRow, NewEvent, RecordRef } from '../ledger/index.js';
import type { ActionContent, ActionState } from './schema.js';

/** One launch, by its action and its time. */
type Launched = { readonly action_id: string; readonly at: number };

export type EffectState = {
  /** The newest launches, the newest last. */
  readonly launched: readonly Launched[];
  /** How many launches there were. */
  readonly count: number;
};

export const effectKind: Kind<EffectState> = {
  name: 'effect',
  version: 1,
  keepsDocument: true,
  evolve: (_state, event) => afterLaunch(event),
  ofLast: (event) => afterLaunch(event),
  columns: () => ({}),
};

function afterLaunch({ data }: LedgerEvent): EffectState {
  const { launched, count } = data as unknown as EffectState;
  return { launched, count };
}

export function effectRecord(effect: string): RecordRef {
  return { kind: 'effect', id: effect };
}

/** The event of a launch; reading something is no effect. */
export function effectLaunched(
  state: EffectState | undefined,
  { action_id, effect, class: actionClass }: Pick<ActionContent, 'action_id' | 'effect' | 'class'>,
  at: number,
): readonly NewEvent[] {
  if (actionClass === 'read') return [];
  const launched = [...(state?.launched ?? []), { action_id, at }].slice(-LIMITS.effectLaunchesMax);
  const data = { launched, count: (state?.count ?? 0) + 1 } as unknown as JsonObject;
  return [{ record: effectRecord(effect), type: 'effect-launched', data }];
}

/** Whether an action that its effect leads to runs, or may have had the effect. */
export function mayHaveHappened({ status }: Pick<LookupRow, 'status'>): boolean {
  // One that is over is found under its effect only while a later word says that it happened.
  return status === 'launched' || status === 'unknown' || status === 'failed' || status === 'late';
}

/** What is known of equal actions, where one of them is to be launched. */
export interface Equal {
  readonly rows: readonly Pick<LookupRow, 'id' | 'status'>[];
  readonly effect: EffectState | undefined;
  /** `unread` where the caller did not look at it yet. */
  stateOf(actionId: string): ActionState | undefined | 'unread';
}

export type Compared = Pick<ActionContent, 'action_id' | 'class' | 'duplicates' | 'launches_seen'>;

/**
 * Why an effect would happen twice, or could without being noticed; or the actions that have to be looked at first.
 * INVARIANT: of equal actions one has its effect, unless a person was shown the others (actions.launch.duplicate).
 */
export function sameEffect(
  { action_id, class: actionClass, duplicates, launches_seen }: Compared,
  { rows, effect, stateOf }: Equal,
): Refusal | readonly string[] {
  if (actionClass === 'read') return [];
  const isNews = (id: string) => id !== action_id && !duplicates.includes(id);
  if (rows.some((row) => isNews(row.id) && mayHaveHappened(row))) {
    return refused(action_id, 'the same effect is running, or may have happened');
  }
  const { launched = [], count = 0 } = effect ?? {};
  // Counted, and not by time: several launches can share a moment.
  const news = count - launches_seen;
  const since = news > 0 ? launched.slice(-news) : [];
  // Of more launches than are remembered nobody knows what became of the first.
  if (since.length < news) return refused(action_id, 'the same effect happened since this was proposed');
  const unread: string[] = [];
  // Whom a signer was shown may be launched again since, which nobody was shown.
  for (const id of new Set(since.map((one) => one.action_id).filter((one) => one !== action_id))) {
    const state = stateOf(id);
    if (state === 'unread') unread.push(id);
    else if (state === undefined || !hadNoEffect(state)) {
      return refused(action_id, 'the same effect happened since this was proposed');
    }
  }
  // It was shown as one that may have happened: that it did is another thing to sign for.
  for (const id of duplicates) {
    const state = stateOf(id);
    if (state === 'unread') unread.push(id);
    else if (state !== undefined && isKnownToHaveHappened(state)) {
      return refused(action_id, `${id} is confirmed since this was proposed: the effect happened`);
    }
  }
  return [...new Set(unread)];
}

/**
 * Whether an action that failed may have run once more in a time that a restore took out of the log: it could be
 * approved again until its time was over.
 * INVARIANT: what nobody remembers is not taken for what did not happen (actions.effect.lost-time).
 */
export function mayHaveRunSince(
  { state, attempts, content }: ActionState,
  { restored_at }: Pick<LedgerState, 'restored_at'>,
): boolean {
  const failedAt = Math.max(0, ...attempts.map(({ finished_at }) => finished_at ?? 0));
  return state === 'failed' && failedAt < content.approve_by && restored_at.some((at) => at >= failedAt);
}

/** Also of a cancelled action a finding may say that it had the effect before: it stays cancelled then. */
function isKnownToHaveHappened({ state, late_result, attempts }: ActionState): boolean {
  if (state === 'confirmed') return true;
  return state === 'cancelled' && late_result === null && attempts.some(({ outcome }) => outcome === 'confirmed');
}

/** Whether every attempt certainly had no effect, and nobody says otherwise. */
function hadNoEffect({ attempts, late_result }: ActionState): boolean {
  return late_result === null && attempts.every(({ outcome }) => outcome === 'failed');
}

function refused(actionId: string, what: string): Refusal {
  return new Refusal('possible_duplicate', what, { next: `countersign action propose --like ${actionId}` });
}
