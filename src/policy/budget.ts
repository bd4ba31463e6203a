/**
 * Bounds on what runs without a person: how many actions, or how much money, in an hour, a day or a month. Pure.
 *
 * Each bound has a record for each of its periods (in UTC). A launch reserves in its own transaction; the outcome
 * settles: confirmed is spent, a certain failure gives back, unknown keeps what was reserved. What was given back and
 * turns out to have happened after all is charged, whatever the bound says.
 * INVARIANT: reserved + spent never passes the bound by a reservation (policy.budget.exact).
 * Source: spec authority (policy: limits and budgets), reliability T13, I5.
 */
import { isoTime, type JsonObject, Refusal } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, RecordRef, View } from '../ledger/index.js';
import type { Decision } from './question.js';
import type { Period } from './rule-schema.js';

/** What one launch takes of one bound. */
export type Reservation = {
  /** Title of the rule. */
  readonly rule: string;
  /** Names the bound in every configuration that has a rule of this title. */
  readonly id: string;
  readonly per: Period;
  readonly amount: number;
  readonly max: number;
  /** Null where actions are counted. */
  readonly currency: string | null;
  readonly over: 'ask' | 'deny';
};

/** What a launch reserved, as its attempt keeps it. */
export type Reserved = { readonly budget: string; readonly amount: number };

export type BudgetState = {
  readonly rule: string;
  readonly currency: string | null;
  /** Reserved by launches whose outcome is not known yet, or unknown. */
  readonly reserved: number;
  readonly spent: number;
};

export const budgetKind: Kind<BudgetState> = {
  name: 'budget',
  version: 1,
  keepsDocument: true,
  evolve: (state, event) => evolve(state, event),
  columns: () => ({ status: 'open' }),
};

type BudgetData = { readonly amount: number; readonly rule: string; readonly currency: string | null };

function evolve(state: BudgetState | undefined, event: LedgerEvent): BudgetState {
  const { amount, rule, currency } = event.data as unknown as BudgetData;
  const before = state ?? { rule, currency, reserved: 0, spent: 0 };
  switch (event.type) {
    case 'budget-reserved':
      return { ...before, reserved: before.reserved + amount };
    case 'budget-spent':
      return { ...before, reserved: before.reserved - amount, spent: before.spent + amount };
    case 'budget-released':
      return { ...before, reserved: before.reserved - amount };
    case 'budget-charged':
      return { ...before, spent: before.spent + amount };
    default:
      return before;
  }
}

const PERIOD_CHARS: Readonly<Record<Period, number>> = { hour: 13, day: 10, month: 7 };

/** The record of a bound for the period that holds `now`. */
export function budgetRecord({ id, per }: Pick<Reservation, 'id' | 'per'>, now: number): RecordRef {
  return { kind: 'budget', id: `${id}/${isoTime(now).slice(0, PERIOD_CHARS[per])}` };
}

/** The records that a launch or a proposal has to lock. */
export function budgetRecords(reservations: readonly Reservation[] | undefined, now: number): readonly RecordRef[] {
  return (reservations ?? []).map((reservation) => budgetRecord(reservation, now));
}

/** The events by which a launch takes of its bounds. */
export type BudgetEvents = readonly NewEvent[];

/** What a launch gets of its bounds: all of it, or the first bound that has no room, or the periods changed. */
export type Taken =
  | { readonly is: 'taken'; readonly events: BudgetEvents; readonly reserved: readonly Reserved[] }
  | { readonly is: 'over'; readonly bound: Reservation }
  | { readonly is: 'stale' };

export interface Launching {
  readonly actionId: string;
  readonly attempt: number;
}

/** Takes of every bound at the time of the commit; `lockedAt` is the time by which the records were named. */
export function takeRoom(
  view: View,
  reservations: readonly Reservation[] | undefined,
  lockedAt: number,
  { actionId, attempt }: Launching,
): Taken {
  const events: NewEvent[] = [];
  for (const bound of reservations ?? []) {
    const record = budgetRecord(bound, view.now);
    if (record.id !== budgetRecord(bound, lockedAt).id) return { is: 'stale' };
    if (!hasRoom(view.get(budgetKind, record.id)?.state, bound)) return { is: 'over', bound };
    const { rule, currency, amount, max } = bound;
    const data: JsonObject = { rule, currency, amount, max, action_id: actionId, attempt };
    events.push({ record, type: 'budget-reserved', data });
  }
  const reserved = events.map(({ record, data }) => ({ budget: record.id, amount: data['amount'] as number }));
  return { is: 'taken', events, reserved };
}

function hasRoom(state: BudgetState | undefined, { amount, max }: Reservation): boolean {
  const used = (state?.reserved ?? 0) + (state?.spent ?? 0);
  return Number.isSafeInteger(amount) && amount >= 0 && used + amount <= max;
}

/** The records that the outcome of an attempt has to lock. */
export function reservedRecords(reserved: readonly Reserved[] | undefined): readonly RecordRef[] {
  return (reserved ?? []).map(({ budget }) => ({ kind: 'budget', id: budget }));
}

/** `confirmed-late` is an effect that was called a certain failure before. */
export type Settling = 'confirmed' | 'failed' | 'unknown' | 'confirmed-late';

const SETTLED: Readonly<Record<Settling, string | undefined>> = {
  confirmed: 'budget-spent',
  failed: 'budget-released',
  unknown: undefined,
  'confirmed-late': 'budget-charged',
};

/** What an outcome makes of what its attempt reserved. */
export function settleReserved(
  reserved: readonly Reserved[] | undefined,
  outcome: Settling,
  { actionId, attempt }: Launching,
): readonly NewEvent[] {
  const type = SETTLED[outcome];
  if (type === undefined) return [];
  return (reserved ?? []).map(({ budget, amount }) => ({
    record: { kind: 'budget', id: budget },
    type,
    data: { amount, action_id: actionId, attempt },
  }));
}

/** The refusal of a launch for which there is no room. */
export function overBound(bound: Reservation): Refusal {
  const { rule, over } = bound;
  const reason = overReason(bound);
  const details = { rule: `rule: ${rule}` };
  if (over === 'deny') return new Refusal('policy_denied', reason, { details, next: 'try again in the next period' });
  return new Refusal('receipt_required', reason, { details });
}

/** The decision of a proposal for which there is no room, and whose rule asks then. */
export function overDecision({ reservations: _, ...decision }: Decision, bound: Reservation): Decision {
  const determined_by = [`rule: ${bound.rule}`];
  return { ...decision, outcome: 'REQUIRE_APPROVAL', determined_by, reason: overReason(bound) };
}

function overReason({ rule }: Reservation): string {
  return `the bound of rule \`${rule}\` is used up`;
}
