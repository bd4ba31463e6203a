/**
 * Changes of people and keys that a signature authorizes, and the two ceremonies at the terminal that need none: the
 * first approver, and the recovery of a ledger whose operators lost their keys. Pure.
 * Source: spec authority (approvers and keys).
 */
import { admitKey, hexToBytes, type JsonObject, LIMITS, Refusal } from '../core/index.js';
import type { NewEvent, RecordRef, View } from '../ledger/index.js';
import { passkeyAlgorithm } from './cose.js';
import { CONFIRMED_ROLES, holdRoles, keyAdded, keyId, keyKind, ledgerIn, personKind, revokeKey } from './machine.js';
import { LEDGER_RECORD, type NewKey, type PersonState, type RegistryChange } from './schema.js';

/** What to do as long as nobody was confirmed. */
export const CONFIRM_FIRST = 'confirm the first approver with `countersign approver key NAME`, in a terminal';

/** The first approver, whose code was typed at the terminal of the store's owner: approver and operator in one. */
export function bootstrapKey(
  view: View,
  person: string,
  publicKey: string,
  ceremony: 'terminal' | 'demo',
  credential?: string,
): readonly NewEvent[] | Refusal {
  const ledger = ledgerIn(view);
  if (ledger instanceof Refusal) return ledger;
  if (ledger.bootstrapped) return new Refusal('forbidden', 'the first approver was confirmed already');
  if (ceremony !== 'terminal' && !ledger.demo) {
    return new Refusal('no_terminal', 'the first approver is confirmed at the terminal of the store owner');
  }
  const common = { person, roles: [...CONFIRMED_ROLES], public_key: publicKey };
  const change: NewKey =
    credential === undefined ? { change: 'add-key', ...common } : { change: 'add-passkey', ...common, credential };
  const events = addKey(view, change, { bootstrap: ceremony });
  if (events instanceof Refusal) return events;
  return [...events, { record: LEDGER_RECORD, type: 'bootstrap-completed', data: { person, ceremony } }];
}

/** The records that a recovery writes. `earlier` are keys that the person held before. */
export function recoveryRecords(person: string, publicKey: string, earlier: readonly string[]): readonly RecordRef[] {
  const keys = [keyId(publicKey), ...earlier].map((id) => ({ kind: 'key', id }) as const);
  return [LEDGER_RECORD, { kind: 'person', id: person }, ...keys];
}

/**
 * Registers a new key of an operator whose code was typed at the terminal, takes back those that the person held, and
 * raises the epoch: every earlier request and receipt is void.
 * INVARIANT: that it happened stays in the ledger's state for ever (receipts.recover.shown).
 */
export function recoverLedger(
  view: View,
  person: string,
  publicKey: string,
  earlier: readonly string[],
): readonly NewEvent[] | Refusal {
  const ledger = ledgerIn(view);
  if (ledger instanceof Refusal) return ledger;
  if (!ledger.bootstrapped) {
    return new Refusal('forbidden', 'nobody was confirmed yet: there is nobody to recover', { next: CONFIRM_FIRST });
  }
  const refused = unfitKey(view, { change: 'add-key', person, roles: [], public_key: publicKey });
  if (refused !== undefined) return refused;
  const authorization = { recovery: 'terminal' };
  const roles = holdRoles(view.get(personKind, person)?.state, person, CONFIRMED_ROLES, authorization);
  if (roles instanceof Refusal) return roles;
  const lost = earlier.filter((id) => view.get(keyKind, id)?.state.state === 'active');
  const data = { person, key_id: keyId(publicKey), revoked: lost, ceremony: 'terminal' };
  return [
    { record: LEDGER_RECORD, type: 'ledger-recovered', data },
    ...roles,
    keyAdded({ change: 'add-key', person, public_key: publicKey }, authorization),
    ...lost.map((id) => revokeKey(id, authorization)),
  ];
}

/**
 * The facts of a registry change that stand in other records: who they are was found before, how they are is read
 * again.
 */
export interface RegistryFacts {
  /** Active people who are operators, and the keys of each that are active. */
  readonly operators: readonly { readonly person: string; readonly keys: readonly string[] }[];
  /** Active people of any role who hold a key that can be used. */
  readonly able: readonly string[];
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

/** The records that a change writes, or whose state decides about it. */
export function changedRecords(change: RegistryChange): readonly RecordRef[] {
  if (change.change === 'revoke-key') return [{ kind: 'key', id: change.key_id }];
  const person: RecordRef = { kind: 'person', id: change.person };
  switch (change.change) {
    case 'add-key':
    case 'add-passkey':
      return [person, { kind: 'key', id: keyId(change.public_key) }];
    case 'remove-person':
      return [person];
    case 'away':
      return change.delegate === null ? [person] : [person, { kind: 'person', id: change.delegate }];
  }
}

const ANOTHER_OPERATOR = 'let another operator be confirmed first: `countersign approver invite NAME --role operator`';

/**
 * Events of a registry change that `signer` signed, or why it can't be made.
 * INVARIANT: two changes at once never leave a ledger without an operator (authority.registry.last-operator).
 */
export function decideRegistry(
  view: View,
  change: RegistryChange,
  facts: RegistryFacts,
  signer: string,
  authorization: JsonObject,
): readonly NewEvent[] | Refusal {
  const operators = presentOperators(view, facts);
  switch (change.change) {
    case 'add-key':
    case 'add-passkey': {
      const known = view.get(personKind, change.person)?.state;
      // Who can sign no more is like somebody new: an operator vouches for their key.
      if (known?.state === 'active' && facts.able.includes(change.person) && change.person !== signer) {
        return new Refusal('approver_not_allowed', 'a further key of a person is for that person to sign');
      }
      return addKey(view, change, authorization);
    }
    case 'revoke-key': {
      const key = view.get(keyKind, change.key_id)?.state;
      if (key === undefined) return new Refusal('unknown_authenticator', 'no such key is registered');
      if (key.state === 'revoked') return new Refusal('revoked_authenticator', 'the key was revoked already');
      const left = operators.some(({ keys }) => keys.some((id) => id !== change.key_id));
      if (!left)
        return new Refusal('approvers', 'this is the last key of the last operator', { next: ANOTHER_OPERATOR });
      return [revokeKey(change.key_id, authorization)];
    }
    case 'remove-person': {
      const person = view.get(personKind, change.person)?.state;
      if (person?.state !== 'active') return new Refusal('unknown_approver', 'no such person is registered');
      if (!operators.some((operator) => operator.person !== change.person && operator.keys.length > 0)) {
        return new Refusal('approvers', 'this is the last operator', { next: ANOTHER_OPERATOR });
      }
      return [{ record: { kind: 'person', id: change.person }, type: 'person-removed', data: { authorization } }];
    }
    case 'away':
      return goAway(view, change, signer, authorization);
  }
}

/** Why nobody can be away like that; `other` is the delegate, as registered. */
export function awayRefusal(
  { person, until, delegate }: Pick<Away, 'person' | 'until' | 'delegate'>,
  other: PersonState | undefined,
  now: number,
): Refusal | undefined {
  if (until === null && delegate !== null) {
    return new Refusal('invalid', 'who is back has no delegate', { path: 'delegate' });
  }
  if (until !== null && (until <= now || until > now + LIMITS.awayMsMax)) {
    return new Refusal('invalid', 'somebody is away until a time to come, within a year', { path: 'until' });
  }
  const standsIn = other?.state === 'active' && other.roles.includes('approver');
  if (delegate === null || (delegate !== person && standsIn)) return undefined;
  return new Refusal('approvers', 'a delegate is another active approver', { path: 'delegate' });
}

type Away = Extract<RegistryChange, { change: 'away' }>;

/** INVARIANT: nobody is sent away, or called back, by another (receipts.away.own). */
function goAway(
  view: View,
  { person, until, delegate }: Away,
  signer: string,
  authorization: JsonObject,
): readonly NewEvent[] | Refusal {
  if (person !== signer) return new Refusal('approver_not_allowed', 'who is away says so themselves');
  if (view.get(personKind, person)?.state.state !== 'active') {
    return new Refusal('unknown_approver', 'no such person is registered');
  }
  const other = delegate === null ? undefined : view.get(personKind, delegate)?.state;
  const refused = awayRefusal({ person, until, delegate }, other, view.now);
  if (refused !== undefined) return refused;
  const away = until === null ? null : { until, delegate };
  return [{ record: { kind: 'person', id: person }, type: 'person-away', data: { away, authorization } }];
}

/** INVARIANT: a key under which anybody could sign never enters the registry (authority.keys.admitted). */
function unfitKey(view: View, key: NewKey): Refusal | undefined {
  const raw = hexToBytes(key.public_key);
  const sound =
    key.change === 'add-passkey'
      ? passkeyAlgorithm(key.public_key) !== undefined
      : raw !== undefined && admitKey(raw) !== undefined;
  if (!sound) return new Refusal('invalid', 'the public key is not a sound one', { path: 'public_key' });
  const known = view.get(keyKind, keyId(key.public_key)) !== undefined;
  return known ? new Refusal('invalid', 'the key is registered already') : undefined;
}

function addKey(view: View, change: NewKey, authorization: JsonObject): readonly NewEvent[] | Refusal {
  const refused = unfitKey(view, change);
  if (refused !== undefined) return refused;
  const known = view.get(personKind, change.person)?.state;
  const isRaised = known?.state === 'active' && change.roles.some((role) => !known.roles.includes(role));
  if (isRaised) return new Refusal('invalid', 'a further key gives its person no further role', { path: 'roles' });
  const person = holdRoles(known, change.person, change.roles, authorization);
  if (person instanceof Refusal) return person;
  return [...person, keyAdded(change, authorization)];
}
