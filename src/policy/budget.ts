/**
 * Bounds on what runs without a person: how many actions, or how much money, in an hour, a day or a month. Pure.
 *
 * Each bound has a record for each of its periods (in UTC). A launch reserves in its own transaction; the outcome
 * settles: confirmed is spent, a certain failure gives back, unknown keeps what was reserved. What was given back and
 * turns out to have happened after all is charged, whatever the bound says.
 * INVARIANT: reserved + spent never passes the bound by a reservation (policy.budget.exact).
 * Source: spec authority (policy: limits and budgets), reliability T13, I5.
 */
import { isoTime, type Json, type JsonObject, Refusal } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, RecordRef, View } from '../ledger/index.js';
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

export interface Room {
  /** The first bound that has no room. */
  readonly over: Reservation | undefined;
  /** Whether the periods are those of the records that were locked. */
  readonly isCurrent: boolean;
}

/** Whether every bound has room at the time of the commit; `lockedAt` is the time by which records were named. */
export function roomFor(view: View, reservations: readonly Reservation[] | undefined, lockedAt: number): Room {
  const list = reservations ?? [];
  const isCurrent = list.every((one) => budgetRecord(one, view.now).id === budgetRecord(one, lockedAt).id);
  if (!isCurrent) return { over: undefined, isCurrent };
  const over = list.find((one) => !hasRoom(view.get(budgetKind, budgetRecord(one, view.now).id)?.state, one));
  return { over, isCurrent };
}

function hasRoom(state: BudgetState | undefined, { amount, max }: Reservation): boolean {
  const used = (state?.reserved ?? 0) + (state?.spent ?? 0);
  return amount >= 0 && used + amount <= max;
}

/** The events of a launch for which there is room, and what its attempt keeps. */
export function reserve(
  reservations: readonly Reservation[] | undefined,
  now: number,
  action: { readonly actionId: string; readonly attempt: number },
): { readonly events: readonly NewEvent[]; readonly reserved: readonly Reserved[] } {
  const events = (reservations ?? []).map((one): NewEvent => {
    const { rule, currency, amount, max } = one;
    const data: JsonObject = { rule, currency, amount, max, action_id: action.actionId, attempt: action.attempt };
    return { record: budgetRecord(one, now), type: 'budget-reserved', data };
  });
  return {
    events,
    reserved: events.map(({ record, data }) => ({ budget: record.id, amount: data['amount'] as number })),
  };
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
  action: { readonly actionId: string; readonly attempt: number },
): readonly NewEvent[] {
  const type = SETTLED[outcome];
  if (type === undefined) return [];
  return (reserved ?? []).map(({ budget, amount }) => ({
    record: { kind: 'budget', id: budget },
    type,
    data: { amount, action_id: action.actionId, attempt: action.attempt } satisfies Json,
  }));
}

/** The refusal of a launch for which there is no room. */
export function overBound({ rule, over }: Reservation): Refusal {
  const reason = overReason({ rule });
  const details = { rule: `rule: ${rule}` };
  if (over === 'deny') return new Refusal('policy_denied', reason, { details, next: 'try again in the next period' });
  return new Refusal('receipt_required', reason, { details });
}

export function overReason({ rule }: Pick<Reservation, 'rule'>): string {
  return `the bound of rule \`${rule}\` is used up`;
}
