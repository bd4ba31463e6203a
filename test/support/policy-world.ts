/**
 * Policy under the hands of a test: a configuration from a few lines, an engine, and a question to change.
 */
import { parseTrustConfig } from '../../src/app/index.js';
import { CedarEngine, type PolicyQuestion, type TrustConfig } from '../../src/policy/index.js';

/** A configuration whose policy is these lines of YAML. */
export function policyOf(lines: string, folder?: string): Promise<TrustConfig> {
  const indented = lines
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`);
  return parseTrustConfig(['version: 1', 'name: test', 'mode: enforce', 'policy:', ...indented, ''].join('\n'), folder);
}

/** One engine for all: loading Cedar takes a tenth of a second. */
const SHARED = new CedarEngine({ monotonic: () => 0 });

export function engine(): CedarEngine {
  return SHARED;
}

export function asking(changes: Partial<PolicyQuestion> = {}): PolicyQuestion {
  return {
    principal: 'agent:bot',
    on_behalf_of: [],
    project: 'acme',
    connector: 'payments',
    operation: 'refund',
    class: 'irreversible',
    target: 'cus_9',
    amount: null,
    currency: null,
    facts_unknown: false,
    args: {},
    ...changes,
  };
}
