/**
 * The door to Cedar's WebAssembly: loaded when a decision first needs it, asked with a policy set that was parsed once.
 *
 * Cedar skips a policy whose evaluation fails, so that a `forbid` that fails forbids nothing. Here every failure,
 * in any
 * policy, is an answer of its own. An exception of the module (a trap) may leave its memory as it was in the middle of
 * something: that instance is never asked again, and the next question loads a fresh one.
 * INVARIANT: nothing of Cedar's answers is an allowance unless every policy was evaluated (policy.errors.deny).
 * Source: spec authority (policy: Cedar fails open by itself).
 */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';
import { LIMITS } from '../core/index.js';
import type { CompiledPolicy } from './compile.js';

export type CedarModule = Pick<
  typeof Cedar,
  'preparsePolicySet' | 'statefulIsAuthorized' | 'validate' | 'policySetTextToParts' | 'policyToJson'
>;

const MODULE = '@cedar-policy/cedar-wasm/nodejs';

/**
 * V8 of Node 20 can end the process ("unreachable code") when a function into which it inlined a call of WebAssembly is
 * deoptimized in that call. Without that inlining it can't; a call costs well under a microsecond more.
 */
function callSafely(): void {
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--no-turbo-inline-js-wasm-calls');
}

/** A fresh instance of the module. */
export function loadCedar(): CedarModule {
  callSafely();
  const require = createRequire(import.meta.url);
  delete require.cache[require.resolve(MODULE)];
  return require('@cedar-policy/cedar-wasm/nodejs') as CedarModule;
}

export type CedarAnswer =
  | { readonly is: 'allow' | 'deny'; readonly by: readonly string[] }
  | { readonly is: 'error'; readonly what: string; readonly policy?: string };

export type CedarProblem = { readonly policy: string | undefined; readonly what: string; readonly at: number };

/** Policies under the name of a set, as this instance of the module knows it. */
interface Parsed {
  readonly module: CedarModule;
  readonly name: string;
}

export class CedarDoor {
  readonly #load: () => CedarModule;
  #module: CedarModule | undefined;
  #parsed = new WeakMap<readonly CompiledPolicy[], Parsed>();
  #sets = 0;

  constructor(load: () => CedarModule = loadCedar) {
    this.#load = load;
  }

  /** Asks the policies. `request` is the call without its policies. Never throws. */
  ask(policies: readonly CompiledPolicy[], request: Omit<Cedar.StatefulAuthorizationCall, 'preparsedPolicySetId'>) {
    return this.#use((module): CedarAnswer => {
      const name = this.#setOf(module, policies);
      if (name === undefined) return { is: 'error', what: 'the policies can not be parsed' };
      return answerOf(module.statefulIsAuthorized({ ...request, preparsedPolicySetId: name }));
    });
  }

  /** What the validator finds, in strict mode. Never throws. */
  validate(policies: readonly CompiledPolicy[], schema: Cedar.Schema): readonly CedarProblem[] {
    const found = this.#use((module) => {
      const settings = { mode: 'strict' } as const;
      return module.validate({ validationSettings: settings, schema, policies: { staticPolicies: texts(policies) } });
    });
    if ('is' in found) return [{ policy: undefined, what: found.what, at: 0 }];
    if (found.type === 'failure') return found.errors.map((error) => problemOf(undefined, error));
    return found.validationErrors.map(({ policyId, error }) => problemOf(policyId, error));
  }

  /** The policies of one text, or its first defect. Never throws. */
  parse(text: string): { readonly policies: readonly string[] } | CedarProblem {
    const found = this.#use((module) => module.policySetTextToParts(text));
    if ('is' in found) return { policy: undefined, what: found.what, at: 0 };
    if (found.type === 'failure') return problemOf(undefined, found.errors[0]);
    if (found.policy_templates.length > 0) return { policy: undefined, what: 'a template is no policy', at: 0 };
    return { policies: found.policies };
  }

  /** A policy in Cedar's JSON form; undefined where it is none. Never throws. */
  json(text: string): Cedar.PolicyJson | undefined {
    const found = this.#use((module) => module.policyToJson(text));
    return 'is' in found || found.type === 'failure' ? undefined : found.json;
  }

  #use<Found>(work: (module: CedarModule) => Found): Found | Extract<CedarAnswer, { is: 'error' }> {
    try {
      this.#module ??= this.#load();
      return work(this.#module);
    } catch {
      this.#module = undefined;
      return { is: 'error', what: 'Cedar failed' };
    }
  }

  /** The name under which the module knows these policies. Names are used again: a module never forgets a set. */
  #setOf(module: CedarModule, policies: readonly CompiledPolicy[]): string | undefined {
    const known = this.#parsed.get(policies);
    if (known?.module === module) return known.name;
    this.#sets += 1;
    if (this.#sets % LIMITS.policySetsMax === 0) this.#parsed = new WeakMap();
    const name = `set ${this.#sets % LIMITS.policySetsMax}`;
    if (module.preparsePolicySet(name, { staticPolicies: texts(policies) }).type !== 'success') return undefined;
    this.#parsed.set(policies, { module, name });
    return name;
  }
}

function texts(policies: readonly CompiledPolicy[]): Record<string, string> {
  return Object.fromEntries(policies.map(({ id, text }) => [id, text]));
}

function answerOf(answer: Cedar.AuthorizationAnswer): CedarAnswer {
  if (answer.type !== 'success') return { is: 'error', what: answer.errors[0]?.message ?? 'the request was refused' };
  const { decision, diagnostics } = answer.response;
  const [failed] = diagnostics.errors;
  if (failed !== undefined) return { is: 'error', what: failed.error.message, policy: failed.policyId };
  if (answer.warnings.length > 0) return { is: 'error', what: 'the request was read with a warning' };
  if (decision !== 'allow' && decision !== 'deny') return { is: 'error', what: 'Cedar gave no decision' };
  return { is: decision, by: [...diagnostics.reason].sort() };
}

function problemOf(policy: string | undefined, error: Cedar.DetailedError | undefined): CedarProblem {
  const what = [error?.message ?? 'it can not be read', error?.help].filter((part) => part != null).join('; ');
  return { policy, what, at: error?.sourceLocations?.[0]?.start ?? 0 };
}
