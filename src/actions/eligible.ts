/**
 * Who may approve an action: the people of its rule, who are active and hold a key that counts.
 * Source: spec authority (approval rules).
 */
import { approversOf, methodsOf } from '../approvals/index.js';
import type { ActionClass } from '../connectors/index.js';
import { LIMITS, Refusal } from '../core/index.js';
import { CONFIRM_FIRST, keyKind, LEDGER_RECORD, ledgerKind, personKind } from '../identity/index.js';
import type { ApprovalRule, Decision } from '../policy/index.js';
import type { Services } from './services.js';

/** The rule that stands, who may not approve by it, and how many have to. */
interface Standing {
  readonly rule: ApprovalRule | undefined;
  readonly excluded: readonly string[];
  readonly quorum: number;
}

/** The people who may approve, or why too few may. */
export async function checkedApprovers(
  services: Services,
  { rule, excluded, quorum }: Standing,
  asked: readonly string[] | undefined,
  decision: Decision,
  actionClass: ActionClass,
): Promise<readonly string[]> {
  const counting = rule === undefined ? [] : methodsOf(rule, actionClass);
  const eligible = await eligibleBy(services, rule, excluded, actionClass);
  const approvers = asked === undefined ? eligible : eligible.filter((name) => asked.includes(name));
  const outsider = asked?.find((name) => !approvers.includes(name));
  if (outsider !== undefined) {
    throw new Refusal('approvers', `${outsider} may not approve this`, { path: 'approvers' });
  }
  if (decision.outcome === 'REQUIRE_APPROVAL' && approvers.length < quorum) {
    if ((await services.ledger.read(ledgerKind, LEDGER_RECORD.id))?.state.bootstrapped === false) {
      throw new Refusal('approvers', 'nobody is confirmed yet who could approve this', { next: CONFIRM_FIRST });
    }
    if (rule?.methods.includes('ed25519') && !counting.includes('ed25519')) {
      const next = 'add `software_key_for_costly: true` to the rule, and apply it with `countersign config apply`';
      throw new Refusal('approvers', 'too few may approve this: a software key does not count for high impact', {
        next,
      });
    }
    if (rule === undefined) throw new Refusal('approvers', 'no approval rule covers this', { next: ADD_RULE });
    throw new Refusal('approvers', 'too few people may approve this');
  }
  return approvers;
}

const ADD_RULE = 'add a rule to `approvals` of the trust configuration, and apply it with `countersign config apply`';

/** Everybody who may approve by a rule today. */
export async function eligibleBy(
  services: Services,
  rule: ApprovalRule | undefined,
  excluded: readonly string[],
  actionClass: ActionClass,
): Promise<readonly string[]> {
  if (rule === undefined) return [];
  const { config } = services.trust();
  // Without a page nobody can use a passkey: who has nothing else could never approve.
  const isUsable = (method: string) => method !== 'webauthn' || config.webauthn !== undefined;
  const active = await activeApprovers(services, methodsOf(rule, actionClass).filter(isUsable));
  return approversOf(rule, config.groups, active, excluded, undefined);
}

/** Active people with the role, who have an active key of a kind that counts. */
async function activeApprovers(services: Services, methods: readonly string[]): Promise<readonly string[]> {
  const { ledger } = services;
  const [keyIds, personIds] = await Promise.all([activeIds(services, 'key'), activeIds(services, 'person')]);
  const [keys, people] = await Promise.all([
    Promise.all(keyIds.map((id) => ledger.read(keyKind, id))),
    Promise.all(personIds.map((id) => ledger.read(personKind, id))),
  ]);
  const counting = keys.flatMap((key) => (key !== undefined && methods.includes(key.state.method) ? [key.state] : []));
  const able = new Set<string>(counting.map(({ person }) => person));
  return personIds.filter((id, at) => able.has(id) && people[at]?.state.roles.includes('approver') === true);
}

async function activeIds({ ledger }: Services, kind: 'key' | 'person'): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await ledger.list({ kind, statuses: ['active'], ...(after ? { after } : {}) });
    for (const { id } of page.rows) ids.push(id);
    if (page.next === undefined || ids.length >= LIMITS.unitRecordsMax) return ids;
    after = page.next;
  }
}
