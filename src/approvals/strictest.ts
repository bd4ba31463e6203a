/**
 * Several approval rules as one that lets nothing pass which any of them would not. Pure.
 * Source: spec authority (approval rules): what is not known, and what a proposer chooses, never loosens.
 */
import { LIMITS } from '../core/index.js';
import type { ApprovalRule, TrustConfig } from '../policy/index.js';

const EAGERNESS = ['on_execute', 'when_waiting', 'on_approval'] as const;

/** A rule together with others that stand before it; alone it is itself. */
export function strictestOf(
  rule: ApprovalRule,
  before: readonly ApprovalRule[],
  groups: TrustConfig['groups'],
): ApprovalRule {
  return before.reduceRight((both, one) => stricter(one, both, groups), rule);
}

/** Whether the first lets nothing pass that the other would not: by people, ways of signing, and time. */
export function isAsStrict(rule: ApprovalRule, other: ApprovalRule, groups: TrustConfig['groups']): boolean {
  const both = stricter(rule, other, groups);
  const people = peopleOf(rule, groups);
  return (
    both.quorum === rule.quorum &&
    sameSet(peopleOf(both, groups), people) &&
    sameSet(new Set(both.methods), new Set(rule.methods)) &&
    sameSet(new Set(both.separate), new Set(rule.separate)) &&
    both.software_key_for_costly === rule.software_key_for_costly &&
    both.launch === rule.launch &&
    spanOf(both, 'expires') === spanOf(rule, 'expires') &&
    spanOf(both, 'launch_within') === spanOf(rule, 'launch_within')
  );
}

function stricter(one: ApprovalRule, other: ApprovalRule, groups: TrustConfig['groups']): ApprovalRule {
  const [own, others] = [peopleOf(one, groups), peopleOf(other, groups)];
  const people = own.has('*') ? others : others.has('*') ? own : new Set([...own].filter((name) => others.has(name)));
  return {
    ...other,
    title: `${one.title}; ${other.title}`,
    approvers: [...people],
    quorum: Math.max(one.quorum, other.quorum),
    methods: one.methods.filter((method) => other.methods.includes(method)),
    separate: [...new Set([...one.separate, ...other.separate])],
    software_key_for_costly: one.software_key_for_costly && other.software_key_for_costly,
    launch: EAGERNESS.find((launch) => launch === one.launch || launch === other.launch) ?? 'on_execute',
    escalate_to: [...new Set([...one.escalate_to, ...other.escalate_to])],
    ...shortest(one, other),
  };
}

/** What stands where a rule says nothing. */
const SPANS = { expires: LIMITS.approveWithinMsDefault, launch_within: LIMITS.launchWithinMsDefault } as const;

function spanOf(rule: ApprovalRule, name: keyof typeof SPANS): number {
  return rule[name] ?? SPANS[name];
}

function shortest(one: ApprovalRule, other: ApprovalRule): Partial<ApprovalRule> {
  const told = (['due', 'remind'] as const).map((name) => {
    const known = [one[name], other[name]].filter((ms): ms is number => ms !== undefined);
    return known.length === 0 ? {} : { [name]: Math.min(...known) };
  });
  const bounds = (['expires', 'launch_within'] as const).map((name) => ({
    [name]: Math.min(spanOf(one, name), spanOf(other, name)),
  }));
  return Object.assign({}, ...told, ...bounds) as Partial<ApprovalRule>;
}

/** The people of a rule by name; `*` alone for everybody. */
function peopleOf({ approvers }: ApprovalRule, groups: TrustConfig['groups']): ReadonlySet<string> {
  if (approvers.includes('*')) return new Set(['*']);
  return new Set(approvers.flatMap((name) => (name.startsWith('group:') ? membersOf(groups, name) : [name])));
}

/** The people of `group:NAME`; none for a group that nobody defined. */
export function membersOf(groups: TrustConfig['groups'], name: string): readonly string[] {
  const key = name.slice('group:'.length);
  return Object.hasOwn(groups, key) ? (groups[key] ?? []) : [];
}

function sameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((name) => other.has(name));
}
