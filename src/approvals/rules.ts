/**
 * Which approval rule stands for an action, and who may approve by it. Pure.
 * The first rule that covers it stands; no rule covers it → nobody may approve.
 * Source: spec authority (approval rules).
 */
import { LIMITS, matchesPattern, matchesWidely, Refusal } from '../core/index.js';
import type { AskBounds } from '../identity/index.js';
import type { ApprovalRule, TrustConfig } from '../policy/index.js';
import { isAsStrict, membersOf, strictestOf } from './strictest.js';

export interface RuleSubject {
  readonly project: string;
  readonly connector: string;
  readonly operation: string;
  readonly target: string;
  readonly class: string;
  /** Without facts no rule with a target pattern covers the action for certain. */
  readonly factsUnknown: boolean;
}

/** Whether a rule is about an action; `maybe` where that depends on what is not known, or on how a pattern is read. */
function covers(rule: ApprovalRule, subject: RuleSubject): 'yes' | 'maybe' | 'no' {
  const { match } = rule;
  if (match.class !== undefined && !match.class.some((name) => name === subject.class)) return 'no';
  let covered: 'yes' | 'maybe' = 'yes';
  for (const field of ['project', 'connector', 'operation', 'target'] as const) {
    const pattern = match[field];
    if (pattern === undefined) continue;
    if (field === 'target' && subject.factsUnknown) covered = 'maybe';
    else if (matchesPattern(pattern, subject[field])) continue;
    else if (matchesWidely(pattern, subject[field])) covered = 'maybe';
    else return 'no';
  }
  return covered;
}

/**
 * The rule that stands for an action: the first that covers it, together with those before it that may be about it.
 * Undefined where none covers it: nobody may approve then.
 * INVARIANT: what is not known of a target takes an action out of no stricter rule (approvals.rule.maybe).
 */
export function ruleFor(config: TrustConfig, subject: RuleSubject): ApprovalRule | undefined {
  const before: ApprovalRule[] = [];
  for (const rule of config.approvals) {
    const covered = covers(rule, subject);
    if (covered === 'yes') return strictestOf(rule, before, config.groups);
    if (covered === 'maybe') before.push(rule);
  }
  return undefined;
}

/**
 * Why an action may not be asked for under a raised class: fewer people, or others, would have to approve it then.
 * INVARIANT: raising the class of an action never loosens who approves it (actions.class.raised).
 */
export function raisedBarrier(config: TrustConfig, subject: RuleSubject, floor: string): Refusal | undefined {
  if (subject.class === floor) return undefined;
  const [raised, own] = [ruleFor(config, subject), ruleFor(config, { ...subject, class: floor })];
  if (raised === undefined || (own !== undefined && isAsStrict(raised, own, config.groups))) return undefined;
  return new Refusal('class', 'under that class others, or fewer, would have to approve it', { path: 'class' });
}

/** The rule's approvers among the active people with the role, but for those who may not; narrowed as asked; sorted. */
export function approversOf(
  rule: ApprovalRule,
  groups: TrustConfig['groups'],
  active: readonly string[],
  excluded: readonly string[],
  asked: readonly string[] | undefined,
): readonly string[] {
  const people = rule.approvers.flatMap((name) => (name.startsWith('group:') ? membersOf(groups, name) : [name]));
  const named = people.includes('*') ? active : people.filter((name) => active.includes(name));
  const eligible = named.filter((name) => !excluded.includes(name));
  const narrowed = asked === undefined ? eligible : eligible.filter((name) => asked.includes(name));
  return [...new Set(narrowed)].sort();
}

/** What an agent may ask of people. */
export function askBoundsOf(config: TrustConfig, principal: string): AskBounds {
  const name = principal.slice('agent:'.length);
  const settings = principal.startsWith('agent:') && Object.hasOwn(config.agents, name) ? config.agents[name] : null;
  return {
    pending: settings?.pending_max ?? LIMITS.pendingMaxDefault,
    perHour: settings?.asks_per_hour ?? LIMITS.asksPerHourDefault,
  };
}

/**
 * Who may not approve: the proposer and those it acts for; the owner of the agent, and the person who edited the
 * action, where the rule says so.
 */
export function excludedOf(
  rule: ApprovalRule,
  config: TrustConfig,
  proposedBy: string,
  onBehalfOf: readonly string[],
  editedBy: string | null,
): readonly string[] {
  const excluded = [proposedBy, ...onBehalfOf];
  if (editedBy !== null && rule.separate.includes('editor')) excluded.push(editedBy);
  const owner = config.agents[proposedBy.slice('agent:'.length)]?.owner;
  if (owner !== undefined && rule.separate.includes('owner')) excluded.push(owner);
  return excluded;
}

/** A software key counts for class costly only where the rule says so. */
export function methodsOf(rule: ApprovalRule, actionClass: string): readonly string[] {
  return rule.methods.filter(
    (method) => method !== 'ed25519' || actionClass !== 'costly' || rule.software_key_for_costly,
  );
}

/** The ways of signing that count for an action: none where no rule covers it. */
export function countingMethods(config: TrustConfig, subject: RuleSubject): readonly string[] {
  const rule = ruleFor(config, subject);
  return rule === undefined ? [] : methodsOf(rule, subject.class);
}

/** Somebody who is registered, and the ways in which their keys sign. */
interface Signer {
  readonly person: string;
  readonly methods: readonly string[];
}

/** Who could decide about an action today, of active people by role. */
export interface Deciders {
  readonly approvers: readonly Signer[];
  readonly operators: readonly Signer[];
}

/** Whether somebody has a key that signs in one of these ways. */
export function signsBy({ methods }: Signer, counting: readonly string[]): boolean {
  return methods.some((method) => counting.includes(method));
}

/**
 * Who may say what became of an action, by keys that count for it: those who may approve it; where none of them can
 * sign any more, whom the present rule names; else the operators. None where nobody has such a key.
 * INVARIANT: an unknown outcome never waits for people who are gone, or lost their keys (authority.finding.somebody).
 */
export function resolversOf(
  config: TrustConfig,
  subject: RuleSubject & { readonly proposed_by: string; readonly on_behalf_of: readonly string[] },
  approvers: readonly string[],
  deciders: Deciders,
  counting: readonly string[],
): readonly string[] {
  const able = (known: readonly Signer[]) => known.filter((one) => signsBy(one, counting)).map(({ person }) => person);
  const names = able(deciders.approvers);
  const own = approvers.filter((name) => names.includes(name));
  if (own.length > 0) return own;
  const rule = ruleFor(config, subject);
  const excluded = rule === undefined ? [] : excludedOf(rule, config, subject.proposed_by, subject.on_behalf_of, null);
  const named = rule === undefined ? [] : approversOf(rule, config.groups, names, excluded, undefined);
  return named.length > 0 ? named : able(deciders.operators).sort();
}
