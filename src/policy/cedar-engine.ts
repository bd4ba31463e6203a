/**
 * The engine that asks Cedar: first whether an action may be launched at all, then, for classes that may run without a
 * person, whether this one may. A configuration without rules and files is decided by the class rule alone, and Cedar
 * is never loaded for it.
 *
 * Before an operation's first decision under a configuration, Cedar's validator checks every policy against the types
 * of its arguments, strictly: what could fail for some arguments denies for all of them (policy.validated).
 * Source: spec authority (policy).
 */
import type { ZodType } from 'zod';
import { LIMITS } from '../core/index.js';
import { type CedarAnswer, CedarDoor, type CedarModule } from './cedar.js';
import { type CompiledPolicy, reservationsOf, ruleName } from './compile.js';
import { classRule, mayRunUnattended, policyError } from './engine.js';
import { type Policies, policiesOf } from './policies.js';
import type { PolicyAnswer, PolicyEngine, PolicyQuestion } from './question.js';
import { cedarSchema, type Question, requestOf } from './request.js';
import type { TrustConfig } from './schema.js';
import { type RecordShape, shapeOf } from './shape.js';

/** What is known of an operation under a configuration. */
interface Known {
  readonly shape: RecordShape;
  /** Policies whose scope leaves them to it: no other could be evaluated. */
  readonly applicable: readonly CompiledPolicy[];
  readonly problem: string | undefined;
}

export interface CedarOptions {
  /** Milliseconds since some fixed point: an evaluation that took too long has denied. */
  readonly monotonic: () => number;
  readonly load?: () => CedarModule;
}

export class CedarEngine implements PolicyEngine {
  readonly door: CedarDoor;
  readonly #monotonic: () => number;
  /** What is known of each operation, by configuration. */
  readonly #known = new WeakMap<Policies, Map<string, Known>>();

  constructor({ monotonic, load }: CedarOptions) {
    this.#monotonic = monotonic;
    this.door = new CedarDoor(load);
  }

  decide(question: PolicyQuestion, config: TrustConfig, args?: ZodType): PolicyAnswer {
    const { rules, cedar, otherwise } = config.policy;
    if (rules === undefined && cedar === undefined && otherwise === undefined) {
      return classRule.decide(question, config) as PolicyAnswer;
    }
    return this.decideShaped(question, config, shapeOf(args));
  }

  /** The same for arguments whose types are known otherwise. */
  decideShaped(question: PolicyQuestion, config: TrustConfig, shape: RecordShape): PolicyAnswer {
    const policies = policiesOf(this.door, config.policy);
    if (policies === undefined) return policyError('the policies can not be read');
    const known = this.#knownOf(policies, question, shape);
    if (known.problem !== undefined) return policyError(known.problem);
    const launch = this.#ask('launch', question, known);
    if (launch.is === 'error') return failed(policies, launch);
    if (launch.is === 'deny') return denied(policies, launch.by);
    const isAsked = mayRunUnattended(question, config);
    const unattended = isAsked ? this.#ask('launch_unattended', question, known) : undefined;
    if (unattended?.is === 'error') return failed(policies, unattended);
    if (unattended?.is !== 'allow') return asks(policies, question, unattended?.by ?? []);
    return allowed(policies, question, config, unattended.by);
  }

  #ask(question: Question, asked: PolicyQuestion, { shape, applicable }: Known): CedarAnswer {
    const request = requestOf(question, asked, shape);
    if (request === undefined) return { is: 'error', what: 'the arguments can not be judged' };
    const startedAt = this.#monotonic();
    const answer = this.door.ask(applicable, request);
    if (this.#monotonic() - startedAt > LIMITS.policyMsMax) return { is: 'error', what: 'it took too long' };
    return answer;
  }

  /** The policies that can apply to an operation, and why they do not fit its arguments. */
  #knownOf(policies: Policies, { connector, operation }: PolicyQuestion, shape: RecordShape): Known {
    const operations = this.#known.get(policies) ?? new Map<string, Known>();
    this.#known.set(policies, operations);
    const name = `${connector}/${operation}`;
    const found = operations.get(name);
    if (found?.shape === shape) return found;
    if (operations.size >= LIMITS.cachedRecordsMax) operations.clear();
    const groups = [undefined, `connector:${connector}`, `operation:${name}`];
    const applicable = policies.all.filter(({ scope }) => groups.includes(scope));
    const schema = cedarSchema([{ connector, operation, shape }], policies.groups);
    const [first] = this.door.validate(applicable, schema as never);
    const problem =
      first === undefined ? undefined : `${nameOf(policies, first.policy ?? '')} does not fit the arguments`;
    const known = { shape, applicable, problem };
    operations.set(name, known);
    return known;
  }
}

function nameOf(policies: Policies, id: string): string {
  return policies.all.find((policy) => policy.id === id)?.name ?? 'a policy';
}

function namesOf(policies: Policies, ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => nameOf(policies, id)))];
}

function failed(policies: Policies, { policy }: Extract<CedarAnswer, { is: 'error' }>): PolicyAnswer {
  if (policy === undefined) return policyError('policy could not be evaluated');
  const name = nameOf(policies, policy);
  return policyError(`${name} could not be evaluated`, [name]);
}

function denied(policies: Policies, by: readonly string[]): PolicyAnswer {
  const names = namesOf(policies, by);
  const reason = names.length === 0 ? 'no rule allows it' : `${names.join(', ')} denies it`;
  return { outcome: 'DENY', code: 'policy_denied', determinedBy: names, reason };
}

function asks(policies: Policies, question: PolicyQuestion, by: readonly string[]): PolicyAnswer {
  const names = namesOf(policies, by);
  if (names.length > 0) {
    return { outcome: 'REQUIRE_APPROVAL', determinedBy: names, reason: `${names.join(', ')} asks for a person` };
  }
  const reason = `class ${question.class} needs a person where no rule allows it`;
  return { outcome: 'REQUIRE_APPROVAL', determinedBy: ['built-in: unattended classes'], reason };
}

function allowed(
  policies: Policies,
  question: PolicyQuestion,
  config: TrustConfig,
  by: readonly string[],
): PolicyAnswer {
  const names = namesOf(policies, by);
  const bounded = (config.policy.rules ?? []).filter((rule) => names.includes(ruleName(rule)));
  const reservations = bounded.flatMap((rule) => reservationsOf(rule, question));
  const reason = `${names.join(', ')} allows it without a person`;
  return { outcome: 'ALLOW', determinedBy: names, reason, ...(reservations.length === 0 ? {} : { reservations }) };
}
