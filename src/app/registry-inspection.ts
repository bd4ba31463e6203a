/**
 * Recoveries at the terminal as an audit of the log sees them: one may register one key, give its person their roles,
 * take back the keys that the person held before, each once, and nothing else.
 */
import type { LedgerEvent } from '../ledger/index.js';

export interface Recovery {
  readonly person: string;
  readonly at: number;
}

const PERSON_EVENTS = ['person-added', 'person-recovered'];

export class RecoveryInspection {
  /** Every recovery, in order: they stay for ever. */
  readonly recoveries: Recovery[] = [];
  /** What the last one still may change, as `type id`. */
  readonly #left = new Set<string>();

  begin({ data, at }: LedgerEvent): void {
    const { person, key_id, revoked } = data as unknown as {
      readonly person: string;
      readonly key_id: string;
      readonly revoked: readonly string[];
    };
    this.recoveries.push({ person, at });
    this.#left.clear();
    for (const type of PERSON_EVENTS) this.#left.add(`${type} ${person}`);
    this.#left.add(`key-added ${key_id}`);
    for (const id of revoked) this.#left.add(`key-revoked ${id}`);
  }

  /** Whether an event belongs to the recovery before it. */
  covers({ type, record, data }: LedgerEvent): boolean {
    const { recovery } = (data.authorization ?? {}) as { recovery?: string };
    if (recovery !== 'terminal' || !this.#left.delete(`${type} ${record.id}`)) return false;
    // The person was added, or known: not both.
    if (record.kind === 'person') for (const other of PERSON_EVENTS) this.#left.delete(`${other} ${record.id}`);
    return true;
  }
}
