/**
 * The units of work that wait for a transaction, and which of them may share the next one: those whose names nobody
 * else of this process has locked, each behind all units before it that name the same.
 *
 * The locks that decide are the server's; this keeps one process from waiting for itself, and units on one record in
 * their order. Pure.
 */
import type { Json } from '../../core/index.js';
import { LIMITS } from '../../core/index.js';
import { claimName } from '../batch.js';
import { compareRecords, type RecordRef, recordName } from '../kind.js';
import type { Committed, Work } from '../ledger.js';

export interface Waiting {
  readonly work: Work<Json>;
  /** The names that it locks; true for itself alone. */
  readonly names: ReadonlyMap<string, boolean>;
  readonly since: number;
  /** Set after a transaction with this unit in it failed for a reason of one of its units. */
  alone: boolean;
  resolve(committed: Committed<Json>): void;
  reject(error: unknown): void;
}

/** The names of a unit: its records, and its claims, which are as if written. */
export function namesOf(work: Work<Json>): ReadonlyMap<string, boolean> {
  const names = new Map<string, boolean>();
  for (const ref of work.reads ?? []) names.set(recordName(ref), false);
  for (const ref of work.writes) names.set(recordName(ref), true);
  for (const claim of claimsOf(work)) names.set(` ${claimName(claim.scope, claim.principal, claim.key)}`, true);
  return names;
}

export function claimsOf(work: Work<Json>): readonly { scope: string; principal: string; key: string }[] {
  const once = (work.once ?? []).map(({ scope, key }) => ({ scope, principal: '', key }));
  return work.claim === undefined ? once : [...once, work.claim];
}

/** Names that are locked, with how often. */
class Locked {
  readonly #names = new Map<string, { alone: number; shared: number }>();

  add(names: ReadonlyMap<string, boolean>): void {
    for (const [name, alone] of names) {
      const held = this.#names.get(name) ?? { alone: 0, shared: 0 };
      held[alone ? 'alone' : 'shared'] += 1;
      this.#names.set(name, held);
    }
  }

  remove(names: ReadonlyMap<string, boolean>): void {
    for (const [name, alone] of names) {
      const held = this.#names.get(name);
      if (held === undefined) continue;
      held[alone ? 'alone' : 'shared'] -= 1;
      if (held.alone + held.shared === 0) this.#names.delete(name);
    }
  }

  meets(names: ReadonlyMap<string, boolean>): boolean {
    for (const [name, alone] of names) {
      const held = this.#names.get(name);
      if (held !== undefined && (alone || held.alone > 0)) return true;
    }
    return false;
  }
}

export class UnitQueue {
  #waiting: Waiting[] = [];
  readonly #busy = new Locked();

  get length(): number {
    return this.#waiting.length;
  }

  add(unit: Waiting): void {
    this.#waiting.push(unit);
  }

  /** The units of the next transaction; none where all that wait have to wait on. `done` gives their names back. */
  take(): readonly Waiting[] {
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    const passed = new Locked();
    let records = 0;
    for (const unit of this.#waiting) {
      const full = taken.length >= LIMITS.batchUnitsMax || taken[0]?.alone === true;
      const fits = taken.length === 0 || (!unit.alone && records + unit.names.size <= LIMITS.batchRecordsMax);
      if (!full && fits && !this.#busy.meets(unit.names) && !passed.meets(unit.names)) {
        taken.push(unit);
        records += unit.names.size;
      } else {
        passed.add(unit.names);
        left.push(unit);
      }
    }
    this.#waiting = left;
    for (const { names } of taken) this.#busy.add(names);
    return taken;
  }

  done(units: readonly Waiting[]): void {
    for (const { names } of units) this.#busy.remove(names);
  }

  /** Puts units in front, each to be decided by itself. */
  again(units: readonly Waiting[]): void {
    for (const unit of units) unit.alone = true;
    this.#waiting.unshift(...units);
  }
}

export interface Lock {
  readonly ref: RecordRef;
  /** Locked for itself alone; else shared with other readers. */
  readonly alone: boolean;
}

/** The union of what units lock, in the one order. */
export function locksOf(works: readonly Work<Json>[]): readonly Lock[] {
  const locks = new Map<string, Lock>();
  for (const { reads = [], writes } of works) {
    for (const ref of reads) if (!locks.has(recordName(ref))) locks.set(recordName(ref), { ref, alone: false });
    for (const ref of writes) locks.set(recordName(ref), { ref, alone: true });
  }
  return [...locks.values()].sort((a, b) => compareRecords(a.ref, b.ref));
}
