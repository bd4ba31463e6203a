/**
 * Who may sign a human act, and how many have to.
 * Source: spec authority (approvers and keys, freeze).
 */
import { LIMITS, matchesWidely, Refusal } from '../core/index.js';
import {
  type KeyState,
  keyKind,
  LEDGER_RECORD,
  ledgerKind,
  type PersonState,
  personKind,
  type RegistryFacts,
  type Role,
} from '../identity/index.js';
import type { KindName, Ledger, ListRow, RecordRef, View } from '../ledger/index.js';
import {
  type ApprovalRule,
  CONFIG_RECORD,
  type ConfigState,
  configKind,
  METHODS,
  TrustConfig,
} from '../policy/index.js';
import type { Act } from './act-schema.js';
import { approversOf, excludedOf, methodsOf, signsBy } from './rules.js';
import type { Grant, StandingChange } from './standing.js';

interface Somebody {
  readonly person: string;
  readonly keys: readonly string[];
  /** Ways in which these keys sign. */
  readonly methods: readonly string[];
}

/** Active people by role, with the keys of each that are active and can be used under a configuration. */
export interface People extends RegistryFacts {
  readonly operators: readonly Somebody[];
  readonly approvers: readonly Somebody[];
  /** Active passkeys of active people. */
  readonly passkeys: readonly string[];
  /** Of the configuration that says whether passkeys can be used, and which rules there are. */
  readonly configHead: string | undefined;
  /** Of the ledger's record, which every change of people and keys moves. */
  readonly registryHead: string | undefined;
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
  // Before anything else: what changes behind it is noticed by it.
  const [identity, configured] = await Promise.all([
    ledger.read(ledgerKind, LEDGER_RECORD.id),
    ledger.read(configKind, CONFIG_RECORD.id),
  ]);
  const [keyRows, personRows] = await Promise.all([activeRows(ledger, 'key'), activeRows(ledger, 'person')]);
  const [keys, people] = await Promise.all([
    Promise.all(keyRows.map(({ id }) => ledger.read(keyKind, id))),
    Promise.all(personRows.map(({ id }) => ledger.read(personKind, id))),
  ]);
  const states = <State>(found: readonly ({ readonly state: State } | undefined)[]) =>
    found.flatMap((one) => (one === undefined ? [] : [one.state]));
  const heads = { configHead: configured?.head, registryHead: identity?.head };
  return { ...peopleAmong(states(people), states(keys), configured?.state), ...heads };
}

/** Without pages no passkey counts: whoever has nothing else signs nothing. */
export function peopleAmong(
  people: readonly PersonState[],
  keys: readonly KeyState[],
  configured: ConfigState | undefined,
): Pick<People, 'operators' | 'approvers' | 'passkeys' | 'able'> {
  const counts = TrustConfig.safeParse(configured?.config).data?.webauthn !== undefined;
  const usable = keys.filter(({ state, method }) => state === 'active' && (counts || method !== 'webauthn'));
  const having = (role: Role) =>
    people
      .filter(({ state, roles }) => state === 'active' && roles.includes(role))
      .map(({ person }) => {
        const own = usable.filter((key) => key.person === person);
        return { person, keys: own.map(({ key_id }) => key_id), methods: own.map(({ method }) => method) };
      });
  const active = new Set(people.filter(({ state }) => state === 'active').map(({ person }) => person));
  const passkeys = keys.filter((key) => key.method === 'webauthn' && key.state === 'active' && active.has(key.person));
  return {
    operators: having('operator'),
    approvers: having('approver'),
    passkeys: passkeys.map(({ key_id }) => key_id),
    able: [...active].filter((person) => usable.some((key) => key.person === person)),
  };
}

/** Where states are read: a ledger, or what an audit has read of one. */
export type Reader = Pick<Ledger, 'read'>;

/** The operators and their keys, so that whether one is left is judged by what stands in the same commit. */
export function factRecords({ kind }: Act, { operators }: People): readonly RecordRef[] {
  if (kind !== 'registry' && kind !== 'config') return [];
  return operators.flatMap(({ person, keys }): RecordRef[] => [
    { kind: 'person', id: person },
    ...keys.map((id) => ({ kind: 'key', id }) as const),
  ]);
}

/** What `decide` answers where who may sign changed since it was looked up: it is looked up again. */
export const STALE_PEOPLE = new Refusal('busy', 'people, keys or the configuration changed at the same time');

/**
 * Whether who may sign, and how many have to, was judged by another registry or configuration than the commit holds.
 * INVARIANT: two acts at once are not both carried out on what stood before them (authority.acts.fresh-signers).
 */
export function isStale(view: View, { configHead, registryHead }: People): boolean {
  if (view.get(configKind, CONFIG_RECORD.id)?.head !== configHead) return true;
  return view.get(ledgerKind, LEDGER_RECORD.id)?.head !== registryHead;
}

/**
 * INVARIANT: no configuration takes the last key away that an operator can use (receipts.webauthn.last-operator): a
 * passkey belongs to the domain that it was made for.
 */
export function lastKeys(view: View, act: Extract<Act, { kind: 'config' }>, { operators }: People) {
  if (!endsPasskeys(act)) return undefined;
  const stays = (id: string) => {
    const key = view.get(keyKind, id)?.state;
    return key?.state === 'active' && key.method !== 'webauthn';
  };
  const isLeft = operators.some(
    ({ person, keys }) => view.get(personKind, person)?.state.state === 'active' && keys.some(stays),
  );
  return isLeft ? undefined : noOperatorLeft();
}

/**
 * INVARIANT: the domain of passkeys stays while anybody has one (receipts.webauthn.domain): they could not sign any
 * more, and a page of the new domain would be one that nobody enrolled at. `domain` is the one that was last named.
 */
export function domainRefusal(
  domain: string | null | undefined,
  { config }: Extract<Act, { kind: 'config' }>,
  { passkeys }: People,
): Refusal | undefined {
  const asked = config.webauthn?.rp_id;
  if (!domain || asked === undefined || asked === domain || passkeys.length === 0) return undefined;
  return new Refusal('rp_id_in_use', 'somebody has a passkey of the present domain', {
    details: { passkeys: passkeys.length },
  });
}

function endsPasskeys({ config, before }: Extract<Act, { kind: 'config' }>): boolean {
  return before.webauthn !== undefined && before.webauthn.rp_id !== config.webauthn?.rp_id;
}

function noOperatorLeft(): Refusal {
  const next = 'keep the domain of `webauthn`, or register a software key of an operator first';
  return new Refusal('approvers', 'under this configuration no operator could sign any more', { next });
}

async function activeConfig(ledger: Reader): Promise<TrustConfig | undefined> {
  return TrustConfig.safeParse((await ledger.read(configKind, CONFIG_RECORD.id))?.state.config).data;
}

/** Nobody is asked to sign for what could not be carried out. */
async function demandOperatorUnder(ledger: Reader, act: Extract<Act, { kind: 'config' }>, people: People) {
  const { operators } = people;
  const refused = domainRefusal((await ledger.read(configKind, CONFIG_RECORD.id))?.state.domain, act, people);
  if (refused !== undefined) throw refused;
  if (!endsPasskeys(act)) return;
  for (const id of operators.flatMap(({ keys }) => keys)) {
    if ((await ledger.read(keyKind, id))?.state.method === 'ed25519') return;
  }
  throw noOperatorLeft();
}

/** Who may sign an act, sorted, and how many have to where this person does. */
export interface Signing {
  readonly signers: readonly string[];
  /** Ways of signing that count. */
  readonly methods: readonly string[];
  neededWith(person: string): number;
}

/**
 * A further key of a person is that person's to sign for, as long as they can sign, and so is being away; a person
 * takes their own key back alone; whoever approves may stop everything; everything else is an operator's.
 * INVARIANT: once there are two operators, no one of them changes alone who may approve
 * (authority.registry.two-operators).
 */
export async function signingOf(ledger: Reader, act: Act, people: People): Promise<Signing> {
  const able = (known: People['operators']) => known.filter(({ keys }) => keys.length > 0).map(({ person }) => person);
  const operators = able(people.operators);
  const one = () => 1;
  if (act.kind === 'freeze' && act.op === 'set') {
    return { signers: sorted([...operators, ...able(people.approvers)]), methods: METHODS, neededWith: one };
  }
  if (act.kind === 'config') await demandOperatorUnder(ledger, act, people);
  if (act.kind === 'standing') return standingSigning(ledger, act.change, people);
  if (act.kind !== 'registry') return { signers: sorted(operators), methods: METHODS, neededWith: one };
  const { change } = act;
  if (change.change === 'away') {
    const known = (await ledger.read(personKind, change.person))?.state;
    return { signers: known?.state === 'active' ? [change.person] : [], methods: METHODS, neededWith: one };
  }
  const isKey = change.change === 'add-key' || change.change === 'add-passkey';
  if (isKey && people.able.includes(change.person)) {
    return { signers: [change.person], methods: METHODS, neededWith: one };
  }
  const needed = Math.min(2, Math.max(1, new Set(operators).size));
  const owner = change.change === 'revoke-key' ? (await ledger.read(keyKind, change.key_id))?.state.person : undefined;
  return {
    signers: sorted(owner === undefined ? operators : [...operators, owner]),
    methods: METHODS,
    neededWith: (person) => (person === owner ? 1 : needed),
  };
}

/**
 * INVARIANT: a standing approval has as many distinct signers as the strictest rule that it could stand for, each of
 * whom every such rule names, signing in a way that each of them lets count (authority.standing.signers). To take it
 * back, one of them or an operator is enough.
 */
async function standingSigning(ledger: Reader, change: StandingChange, people: People): Promise<Signing> {
  const config = await activeConfig(ledger);
  if (change.op === 'revoke') {
    const able = people.approvers.filter(({ keys }) => keys.length > 0).map(({ person }) => person);
    const operators = people.operators.map(({ person }) => person);
    return { signers: sorted([...able, ...operators]), methods: METHODS, neededWith: () => 1 };
  }
  const { grant } = change;
  const rules = config?.approvals.filter((rule) => mayStandFor(rule, grant)) ?? [];
  if (config === undefined || rules.length === 0) return { signers: [], methods: [], neededWith: () => 1 };
  const counting = rules.map((rule) => methodsOf(rule, grant.class));
  const methods = METHODS.filter((method) => counting.every((ways) => ways.includes(method)));
  const able = people.approvers.filter((one) => signsBy(one, methods)).map(({ person }) => person);
  const excluded = rules.flatMap((rule) => grant.agents.flatMap((agent) => excludedOf(rule, config, agent, [], null)));
  const allowed = rules.map((rule) => approversOf(rule, config.groups, able, excluded, undefined));
  const signers = able.filter((person) => allowed.every((names) => names.includes(person)));
  const needed = Math.max(...rules.map(({ quorum }) => quorum));
  return { signers: signers.length < needed ? [] : sorted(signers), methods, neededWith: () => needed };
}

/** Whether a rule could be the one of an action that the grant covers, whatever its target. */
function mayStandFor({ match }: ApprovalRule, grant: Grant): boolean {
  const same = (pattern: string | undefined, text: string) => pattern === undefined || matchesWidely(pattern, text);
  const operations = Object.keys(grant.operations);
  return (
    same(match.project, grant.project) &&
    same(match.connector, grant.connector) &&
    operations.some((name) => same(match.operation, name))
  );
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
