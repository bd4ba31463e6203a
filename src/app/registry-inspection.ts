/**
 * Which change of people and keys an event of the log is: one that was signed for, somebody's own, or part of a
 * recovery
 * at the terminal, which may register one key, give its person their roles, take back the keys that the person held
 * before, each once, and nothing else.
 */
import type { Act } from '../approvals/index.js';
import type { KeyState } from '../identity/index.js';
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

/** A key as it stands at one place of the log. */
export interface KnownKey {
  readonly person: string;
  readonly key: KeyState;
  revoked: boolean;
}

/** A further key of one's own, or an own key taken back. */
export function isOwnChange(act: Act, person: string, keys: ReadonlyMap<string, KnownKey>): boolean {
  if (act.kind !== 'registry') return false;
  const { change } = act;
  if (change.change === 'revoke-key') return keys.get(change.key_id)?.person === person;
  return change.change !== 'remove-person' && change.person === person;
}

export function isChangeOf(change: Extract<Act, { kind: 'registry' }>['change'], event: LedgerEvent): boolean {
  const { id } = event.record;
  const { person, public_key } = event.data as { person?: string; public_key?: string };
  const adds = change.change === 'add-key' || change.change === 'add-passkey';
  switch (event.type) {
    case 'person-added':
      return adds && change.person === id;
    case 'key-added':
      return adds && change.person === person && change.public_key === public_key;
    case 'person-away':
      return change.change === 'away' && change.person === id;
    case 'key-revoked':
      return change.change === 'revoke-key' && change.key_id === id;
    default:
      return change.change === 'remove-person' && change.person === id;
  }
}
