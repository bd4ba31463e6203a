/**
 * The people of a ledger and their keys, as lists show them.
 */
import { isoTime, LIMITS } from '../core/index.js';
import { isAway, type KeyState, keyKind, type PersonState, passkeyAlgorithm, personKind } from '../identity/index.js';
import type { KindName, Ledger } from '../ledger/index.js';

export interface PeopleList {
  readonly people: readonly PersonState[];
  readonly keys: readonly KeyState[];
}

/** Everybody who is or was registered, and every key, within the bound of a unit of work. */
export async function listPeople(ledger: Ledger): Promise<PeopleList> {
  const people = await statesOf(ledger, 'person', async (id) => (await ledger.read(personKind, id))?.state);
  const keys = await statesOf(ledger, 'key', async (id) => (await ledger.read(keyKind, id))?.state);
  return { people, keys };
}

/** The keys of one person, also those that were revoked. */
export async function keysOf(ledger: Ledger, person: string): Promise<readonly KeyState[]> {
  return (await listPeople(ledger)).keys.filter((key) => key.person === person);
}

async function statesOf<State>(
  ledger: Ledger,
  kind: KindName,
  read: (id: string) => Promise<State | undefined>,
): Promise<readonly State[]> {
  const states: State[] = [];
  for (let after: string | undefined; states.length < LIMITS.unitRecordsMax; ) {
    const page = await ledger.list({ kind, ...(after === undefined ? {} : { after }) });
    for (const { id } of page.rows) {
      const state = await read(id);
      if (state !== undefined) states.push(state);
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  return states;
}

/** Whether somebody is active, as a word for a list. */
export function describePerson(person: PersonState, now: number): string {
  if (person.state === 'removed') return 'removed';
  if (!isAway(person, now) || person.away === null) return 'active';
  const { until, delegate } = person.away;
  return `away until ${isoTime(until)}${delegate === null ? '' : `, ${delegate} stands in`}`;
}

/** A key's state and what it is, as words for a list. That of somebody who was removed signs nothing. */
export function describeKey(key: KeyState, person: Pick<PersonState, 'state'>): string {
  const state = person.state === 'removed' && key.state === 'active' ? 'void' : key.state;
  if (key.method === 'ed25519') return `${state}, software key`;
  return `${state}, passkey (${passkeyAlgorithm(key.public_key) ?? 'unsound'})`;
}
