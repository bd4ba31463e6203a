/**
 * How the ledger's identity, people and keys are folded from their events, and how a ledger begins, is confirmed, and
 * is recovered. Pure: `decide…` answers events or a refusal. What people sign to change is in registry.ts.
 */
import { contentRef, hexToBytes, type JsonObject, type Principal, Refusal } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, View } from '../ledger/index.js';
import {
  type Away,
  type KeyState,
  LEDGER_RECORD,
  type LedgerState,
  type NewKey,
  type PersonState,
  type Role,
} from './schema.js';

export const ledgerKind: Kind<LedgerState> = {
  name: 'ledger',
  version: 1,
  evolve: (state, event) => evolveLedger(state, event),
  columns: () => ({ status: 'active' }),
};

export const personKind: Kind<PersonState> = {
  name: 'person',
  version: 1,
  evolve: (state, event) => evolvePerson(state, event),
  columns: (state) => ({ status: state.state, principal: state.person }),
};

export const keyKind: Kind<KeyState> = {
  name: 'key',
  version: 1,
  evolve: (state, event) => evolveKey(state, event),
  columns: (state) => ({ status: state.state, principal: state.person }),
};

function evolveLedger(state: LedgerState | undefined, event: LedgerEvent): LedgerState {
  if (event.type === 'ledger-created') {
    const { ledger_id, name, demo } = event.data as { ledger_id: string; name: string; demo: boolean };
    const begun = { epoch: 0, bootstrapped: false, restored_at: [], recovered: [] };
    return { ledger_id, name, demo, created_at: event.at, ...begun };
  }
  if (state !== undefined && event.type === 'bootstrap-completed') return { ...state, bootstrapped: true };
  if (state !== undefined && event.type === 'ledger-restored') {
    const { epoch } = event.data as { epoch: number };
    return { ...state, epoch, restored_at: [...state.restored_at, event.at] };
  }
  if (state !== undefined && event.type === 'ledger-recovered') {
    const { person } = event.data as { person: string };
    return { ...state, epoch: state.epoch + 1, recovered: [...state.recovered, { person, at: event.at }] };
  }
  return state as LedgerState;
}

function evolvePerson(state: PersonState | undefined, event: LedgerEvent): PersonState {
  switch (event.type) {
    case 'person-added': {
      const { person, roles } = event.data as { person: Principal; roles: Role[] };
      return { person, roles, state: 'active', added_at: event.at, away: null };
    }
    case 'person-removed':
      return { ...(state as PersonState), state: 'removed' };
    case 'person-recovered':
      return { ...(state as PersonState), roles: (event.data as { roles: Role[] }).roles };
    case 'person-away':
      return { ...(state as PersonState), away: (event.data as { away: Away | null }).away };
    default:
      return state as PersonState;
  }
}

function evolveKey(state: KeyState | undefined, event: LedgerEvent): KeyState {
  switch (event.type) {
    case 'key-added':
      return addedKey(event);
    case 'key-revoked':
      return { ...(state as KeyState), state: 'revoked', revoked_at: event.at };
    default:
      return state as KeyState;
  }
}

/** What a `key-added` event adds; one that names no passkey is a software key. */
function addedKey({ data, at }: LedgerEvent): KeyState {
  const { key_id, person, public_key, credential } = data as {
    readonly key_id: string;
    readonly person: Principal;
    readonly public_key: string;
    readonly credential?: string;
  };
  const common = { key_id, person, public_key, state: 'active', added_at: at, revoked_at: null } as const;
  if (credential === undefined) return { ...common, method: 'ed25519', software_key: true };
  return { ...common, method: 'webauthn', software_key: false, credential };
}

/** The id of a key's record, from its public key as hex. */
export function keyId(publicKeyHex: string): string {
  const raw = hexToBytes(publicKeyHex);
  return contentRef(raw ?? new Uint8Array(0));
}

export function createLedger(ledgerId: string, name: string, demo: boolean): NewEvent {
  return { record: LEDGER_RECORD, type: 'ledger-created', data: { ledger_id: ledgerId, name, demo } };
}

/** Raises the epoch to this one: every earlier request and receipt is void. */
export function restoreLedger(authorization: JsonObject, epoch: number): NewEvent {
  return { record: LEDGER_RECORD, type: 'ledger-restored', data: { authorization, epoch } };
}

/** The roles of whoever was confirmed at the terminal. */
export const CONFIRMED_ROLES: readonly Role[] = ['approver', 'operator'];

/** The record that says who somebody is, where it has to be written for them to hold these roles; or why they can't. */
export function holdRoles(
  known: PersonState | undefined,
  person: string,
  roles: readonly Role[],
  authorization: JsonObject,
): readonly NewEvent[] | Refusal {
  const record = { kind: 'person', id: person } as const;
  if (known === undefined) {
    return [{ record, type: 'person-added', data: { person, roles: [...roles], authorization } }];
  }
  if (known.state === 'removed') return new Refusal('unknown_approver', 'this person was removed');
  if (roles.every((role) => known.roles.includes(role))) return [];
  const all = [...new Set([...known.roles, ...roles])];
  return [{ record, type: 'person-recovered', data: { roles: all, authorization } }];
}

/** The event that registers a key which was found sound. */
export function keyAdded(key: Omit<NewKey, 'roles'>, authorization: JsonObject): NewEvent {
  const id = keyId(key.public_key);
  const passkey = 'credential' in key ? { method: 'webauthn', credential: key.credential as string } : {};
  const data = { key_id: id, person: key.person, public_key: key.public_key, ...passkey, authorization };
  return { record: { kind: 'key', id }, type: 'key-added', data };
}

/** Moves the ledger's record on, so that whoever counted people and keys before notices. */
export function registryChanged(authorization: JsonObject): NewEvent {
  return { record: LEDGER_RECORD, type: 'registry-changed', data: { authorization } };
}

export function revokeKey(id: string, authorization: JsonObject): NewEvent {
  return { record: { kind: 'key', id }, type: 'key-revoked', data: { authorization } };
}

/** The one record of kind `ledger` as a commit holds it. Refuses `not_initialized`. */
export function ledgerIn(view: View): LedgerState | Refusal {
  const ledger = view.get(ledgerKind, LEDGER_RECORD.id)?.state;
  return ledger ?? new Refusal('not_initialized', 'the ledger was never set up');
}
