/**
 * The states that projections see while the sequencer lets them append: at least as new as the events that they follow,
 * and locked where they write. What they ask for and is not there yet is noted, and loaded for the next look.
 */
import type { Json } from '../../core/index.js';
import type { Base, StoredState } from '../batch.js';
import { compareRecords, type Kind, type LedgerEvent, type RecordRef, recordName } from '../kind.js';
import type { Snapshot } from '../ledger.js';
import { booleanArray, textArray } from './arrays.js';
import type { Connection } from './connection.js';
import { STATEMENTS } from './statements.js';
import type { Found, States } from './states.js';

export class Loaded {
  readonly #states: States;
  readonly #newest = new Map<string, number>();
  readonly #locked = new Map<string, RecordRef>();
  readonly #missing = new Map<string, RecordRef>();
  readonly #found: Found[] = [];
  readonly #asked = new Set<string>();

  constructor(states: States) {
    this.#states = states;
  }

  /** The events that the projections follow: no state may be older than these. */
  follow(events: readonly LedgerEvent[]): void {
    for (const { record, revision } of events) this.#newest.set(recordName(record), revision);
  }

  missing(): readonly RecordRef[] {
    return [...this.#missing.values()];
  }

  isLocked(ref: RecordRef): boolean {
    return this.#locked.has(recordName(ref));
  }

  /** Locks the targets and reads everything, in one round trip. */
  async load(connection: Connection, missing: readonly RecordRef[], targets: readonly RecordRef[]): Promise<void> {
    const fresh = new Map(targets.filter((ref) => !this.isLocked(ref)).map((ref) => [recordName(ref), ref]));
    const names = [...fresh.values()].sort(compareRecords);
    const refs = new Map([...missing, ...names].map((ref) => [recordName(ref), ref]));
    const locked = [textArray(names.map(recordName)), booleanArray(names.map(() => true))];
    const [, found] = await connection.together(() => [
      names.length === 0 ? undefined : connection.ask(STATEMENTS.lock, locked),
      this.#states.load(connection, { records: [...refs.values()] }),
    ]);
    this.#found.push(found);
    for (const ref of names) this.#locked.set(recordName(ref), ref);
    for (const name of refs.keys()) this.#asked.add(name);
    this.#missing.clear();
  }

  view(now: number) {
    const get = <State extends Json>(kind: Kind<State>, id: string) =>
      this.#record({ kind: kind.name, id }) as Snapshot<State> | undefined;
    return { now, get };
  }

  base(now: number): Base {
    return {
      ...this.#states.context,
      now,
      behindMs: 0,
      record: (ref) => this.#record(ref),
      lookup: () => [],
      claim: () => undefined,
      outcome: () => null,
    };
  }

  #record(ref: RecordRef): StoredState | undefined {
    const name = recordName(ref);
    if (this.#asked.has(name))
      return this.#found.map((found) => found.record(ref)).findLast((one) => one !== undefined);
    const newest = this.#newest.get(name);
    const known = newest === undefined ? undefined : this.#states.recall(ref, newest);
    if (known === undefined) this.#missing.set(name, ref);
    return known;
  }
}
