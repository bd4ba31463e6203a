/**
 * Who may sign a human act, and how many have to.
 * Source: spec authority (approvers and keys, freeze).
 */
import { LIMITS } from '../core/index.js';
import { keyKind, personKind, type RegistryFacts, type Role } from '../identity/index.js';
import type { KindName, Ledger, ListRow } from '../ledger/index.js';
import type { Act } from './act-schema.js';

/** Active people by role, with the keys of each that are active. */
export interface People extends RegistryFacts {
  readonly approvers: RegistryFacts['operators'];
}

async function activeRows(ledger: Ledger, kind: KindName): Promise<readonly ListRow[]> {
  const rows: ListRow[] = [];
  for (let after: string | undefined; rows.length < LIMITS.unitRecordsMax; ) {
    const page = await ledger.list({ kind, statuses: ['active'], ...(after === undefined ? {} : { after }) });
    rows.push(...page.rows);
    if (page.next === undefined) break;
    after = page.next;
  }
  return rows;
}

export async function peopleOf(ledger: Ledger): Promise<People> {
  const keys = await activeRows(ledger, 'key');
  const found: { person: string; keys: string[]; roles: readonly Role[] }[] = [];
  for (const { id } of await activeRows(ledger, 'person')) {
    const roles = (await ledger.read(personKind, id))?.state.roles ?? [];
    found.push({ person: id, roles, keys: keys.filter((row) => row.principal === id).map((row) => row.id) });
  }
  const having = (role: Role) => found.filter(({ roles }) => roles.includes(role));
  return { operators: having('operator'), approvers: having('approver') };
}

/** Who may sign an act, sorted, and how many have to where this person does. */
export interface Signing {
  readonly signers: readonly string[];
  neededWith(person: string): number;
}

/**
 * A further key of a person is that person's to sign for, and so is being away; a person takes their own key back alone;
 * whoever approves may stop everything; everything else is an operator's.
 * INVARIANT: once there are two operators, no one of them changes alone who may approve
 * (authority.registry.two-operators).
 */
export async function signingOf(ledger: Ledger, act: Act, people: People): Promise<Signing> {
  const able = (known: People['operators']) => known.filter(({ keys }) => keys.length > 0).map(({ person }) => person);
  const operators = able(people.operators);
  const one = () => 1;
  if (act.kind === 'freeze' && act.op === 'set') {
    return { signers: sorted([...operators, ...able(people.approvers)]), neededWith: one };
  }
  if (act.kind !== 'registry') return { signers: sorted(operators), neededWith: one };
  const { change } = act;
  if (change.change === 'away') return { signers: [change.person], neededWith: one };
  const isKey = change.change === 'add-key' || change.change === 'add-passkey';
  if (isKey && (await ledger.read(personKind, change.person))?.state.state === 'active') {
    return { signers: [change.person], neededWith: one };
  }
  const needed = Math.min(2, Math.max(1, new Set(operators).size));
  const owner = change.change === 'revoke-key' ? (await ledger.read(keyKind, change.key_id))?.state.person : undefined;
  return {
    signers: sorted(owner === undefined ? operators : [...operators, owner]),
    neededWith: (person) => (person === owner ? 1 : needed),
  };
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
