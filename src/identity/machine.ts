/**
 * How the ledger's identity, people and keys change. Pure: `decide…` answers events or a refusal, `evolve` folds them.
 * A change of people or keys comes only with an authorization that was verified before; bootstrap is the one exception.
 */
import {
  admitKey,
  contentRef,
  hexToBytes,
  type Json,
  type JsonObject,
  type Principal,
  Refusal,
} from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, View } from '../ledger/index.js';
import {
  type KeyState,
  LEDGER_RECORD,
  type LedgerState,
  type PersonState,
  type RegistryChange,
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
    return { ledger_id, name, epoch: 0, demo, created_at: event.at, bootstrapped: false, restored_at: [] };
  }
  if (state !== undefined && event.type === 'bootstrap-completed') return { ...state, bootstrapped: true };
  if (state !== undefined && event.type === 'ledger-restored') {
    return { ...state, epoch: state.epoch + 1, restored_at: [...state.restored_at, event.at] };
  }
  return state as LedgerState;
}

function evolvePerson(state: PersonState | undefined, event: LedgerEvent): PersonState {
  switch (event.type) {
    case 'person-added': {
      const { person, roles } = event.data as { person: Principal; roles: Role[] };
      return { person, roles, state: 'active', added_at: event.at };
    }
    case 'person-removed':
      return { ...(state as PersonState), state: 'removed' };
    default:
      return state as PersonState;
  }
}

function evolveKey(state: KeyState | undefined, event: LedgerEvent): KeyState {
  switch (event.type) {
    case 'key-added': {
      const { key_id, person, public_key } = event.data as { key_id: string; person: Principal; public_key: string };
      const fixed = { method: 'ed25519', software_key: true, state: 'active' } as const;
      return { key_id, person, public_key, ...fixed, added_at: event.at, revoked_at: null };
    }
    case 'key-revoked':
      return { ...(state as KeyState), state: 'revoked', revoked_at: event.at };
    default:
      return state as KeyState;
  }
}

/** The id of a key's record, from its public key as hex. */
export function keyId(publicKeyHex: string): string {
  const raw = hexToBytes(publicKeyHex);
  return contentRef(raw ?? new Uint8Array(0));
}

export function createLedger(ledgerId: string, name: string, demo: boolean): NewEvent {
  return { record: LEDGER_RECORD, type: 'ledger-created', data: { ledger_id: ledgerId, name, demo } };
}

/** The first approver, whose code was typed at the terminal of the store's owner: approver and operator in one. */
export function bootstrapKey(
  view: View,
  person: string,
  publicKey: string,
  ceremony: 'terminal' | 'demo',
): readonly NewEvent[] | Refusal {
  const ledger = view.get(ledgerKind, LEDGER_RECORD.id)?.state;
  if (ledger === undefined) return new Refusal('not_initialized', 'the ledger was never set up');
  if (ledger.bootstrapped) return new Refusal('forbidden', 'the first approver was confirmed already');
  if (ceremony !== 'terminal' && !ledger.demo) {
    return new Refusal('no_terminal', 'the first approver is confirmed at the terminal of the store owner');
  }
  const change = { change: 'add-key', person, roles: ['approver', 'operator'], public_key: publicKey } as const;
  const events = addKey(view, { ...change, roles: [...change.roles] }, { bootstrap: ceremony });
  if (events instanceof Refusal) return events;
  return [...events, { record: LEDGER_RECORD, type: 'bootstrap-completed', data: { person, ceremony } }];
}

/** Raises the epoch: every earlier request and receipt is void. */
export function restoreLedger(authorization: JsonObject): NewEvent {
  return { record: LEDGER_RECORD, type: 'ledger-restored', data: { authorization } };
}

/**
 * The facts of a registry change that stand in other records: who they are was found before, how they are is read
 * again.
 */
export interface RegistryFacts {
  /** Active people who are operators, and the keys of each that are active. */
  readonly operators: readonly { readonly person: string; readonly keys: readonly string[] }[];
}

/** The operators of `facts` that are still active, with those of their keys that are: as the locked records say. */
function presentOperators(view: View, facts: RegistryFacts): RegistryFacts['operators'] {
  return facts.operators
    .filter(({ person }) => view.get(personKind, person)?.state.state === 'active')
    .map(({ person, keys }) => ({
      person,
      keys: keys.filter((id) => view.get(keyKind, id)?.state.state === 'active'),
    }));
}

/**
 * Events of a registry change that `signer` signed, or why it can't be made.
 * INVARIANT: two changes at once never leave a ledger without an operator (authority.registry.last-operator).
 */
export function decideRegistry(
  view: View,
  change: RegistryChange,
  facts: RegistryFacts,
  signer: string,
  authorization: Json,
): readonly NewEvent[] | Refusal {
  const operators = presentOperators(view, facts);
  switch (change.change) {
    case 'add-key': {
      const known = view.get(personKind, change.person)?.state;
      if (known?.state === 'active' && change.person !== signer) {
        return new Refusal('approver_not_allowed', 'a further key of a person is for that person to sign');
      }
      return addKey(view, change, authorization);
    }
    case 'revoke-key': {
      const key = view.get(keyKind, change.key_id)?.state;
      if (key === undefined) return new Refusal('unknown_authenticator', 'no such key is registered');
      if (key.state === 'revoked') return new Refusal('revoked_authenticator', 'the key was revoked already');
      const left = operators.some(({ keys }) => keys.some((id) => id !== change.key_id));
      if (!left) return new Refusal('approvers', 'this is the last key of the last operator');
      return [{ record: { kind: 'key', id: change.key_id }, type: 'key-revoked', data: { authorization } }];
    }
    case 'remove-person': {
      const person = view.get(personKind, change.person)?.state;
      if (person?.state !== 'active') return new Refusal('unknown_approver', 'no such person is registered');
      if (!operators.some((operator) => operator.person !== change.person && operator.keys.length > 0)) {
        return new Refusal('approvers', 'this is the last operator');
      }
      return [{ record: { kind: 'person', id: change.person }, type: 'person-removed', data: { authorization } }];
    }
  }
}

function addKey(
  view: View,
  change: Extract<RegistryChange, { change: 'add-key' }>,
  authorization: Json,
): readonly NewEvent[] | Refusal {
  const raw = hexToBytes(change.public_key);
  // INVARIANT: a key under which anybody could sign never enters the registry (authority.keys.admitted).
  if (raw === undefined || admitKey(raw) === undefined) {
    return new Refusal('invalid', 'the public key is not a sound one', { path: 'public_key' });
  }
  const id = keyId(change.public_key);
  if (view.get(keyKind, id) !== undefined) return new Refusal('invalid', 'the key is registered already');
  const person = view.get(personKind, change.person)?.state;
  if (person?.state === 'removed') return new Refusal('unknown_approver', 'this person was removed');
  if (person !== undefined && change.roles.some((role) => !person.roles.includes(role))) {
    return new Refusal('invalid', 'a further key gives its person no further role', { path: 'roles' });
  }
  const events: NewEvent[] = [];
  if (person === undefined) {
    events.push({
      record: { kind: 'person', id: change.person },
      type: 'person-added',
      data: { person: change.person, roles: change.roles, authorization },
    });
  }
  events.push({
    record: { kind: 'key', id },
    type: 'key-added',
    data: { key_id: id, person: change.person, public_key: change.public_key, authorization },
  });
  return events;
}
