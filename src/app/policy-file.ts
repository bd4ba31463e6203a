/**
 * A trust configuration in a file, looked at before anybody signs it: Cedar's validator over the operations that it
 * configures, and its own test cases. Nothing is decided or written here.
 * Source: spec authority (policy: `policy check`, `policy test`).
 */
import { openConnectors } from '../connectors/index.js';
import { LIMITS, Refusal } from '../core/index.js';
import {
  CedarEngine,
  checkPolicy,
  type PolicyFinding,
  runTests,
  shapeOf,
  type TestResult,
  type TrustConfig,
  type TypedOperation,
} from '../policy/index.js';
import { systemClock } from './clock.js';
import { type Home, homeAt } from './home.js';
import { readTrustText, type TrustText } from './trust-file.js';

/** An engine of this process for looking at drafts. */
export function draftEngine(): CedarEngine {
  return new CedarEngine({ monotonic: () => systemClock.monotonic() });
}

/** Every operation that a configuration's connectors have, with the types of its arguments. */
export async function operationsOf(config: TrustConfig, home: Home): Promise<readonly TypedOperation[]> {
  const connectors = openConnectors(config.connectors, { stateDir: home.workFolder, now: () => systemClock.now() });
  const found: TypedOperation[] = [];
  for (const connector of connectors.values()) {
    for (const name of connector.operations) {
      const operation = await connector.operation(name);
      if (operation === undefined) continue;
      found.push({ connector: connector.name, operation: name, shape: shapeOf(operation.args) });
    }
  }
  return found;
}

export interface CheckedFile {
  readonly text: TrustText;
  /** Each with the place in the file, where there is one. */
  readonly findings: readonly (PolicyFinding & { readonly place: string | null })[];
  readonly tests: readonly (TestResult & { readonly line: number })[];
}

/** Reads a file, checks its policy and runs its tests. Refuses `config_invalid` for a file that can not be read. */
export async function checkPolicyFile(path: string, home: Home = homeAt(undefined, {})): Promise<CheckedFile> {
  const text = await readTrustText(path);
  const { config, file } = text;
  const operations = await operationsOf(config, home);
  const engine = draftEngine();
  const placed = checkPolicy(engine.door, config.policy, operations).map((finding) => ({
    ...finding,
    place: placeOf(text, finding.where) ?? null,
  }));
  const written = (file.value as { readonly policy?: unknown } | null)?.policy;
  const results = runTests(engine, config, written, operations);
  const tests = results.map((result) => ({ ...result, line: file.lineOf(['policy', ...result.path]) }));
  return { text, findings: placed, tests };
}

/** `LINE` of the file for a rule, `FILE:LINE` for a Cedar policy. */
export function placeOf({ config, file }: TrustText, name: string): string | undefined {
  if (name.startsWith('cedar: ')) return name.slice('cedar: '.length);
  const at = (config.policy.rules ?? []).findIndex(({ title }) => `rule: ${title}` === name);
  return at < 0 ? undefined : String(file.lineOf(['policy', 'rules', String(at)]));
}

/** Refuses `config_invalid` for a configuration that its own checks or tests speak against. */
export function demandSound({ findings, tests }: Pick<CheckedFile, 'findings' | 'tests'>): void {
  const problem = findings.find(({ level }) => level === 'problem');
  const next = 'see `countersign policy check` and `countersign policy test`';
  if (problem !== undefined) {
    const line = problem.place === null ? '' : `line ${problem.place}: `;
    throw new Refusal('config_invalid', `${line}${problem.where}: ${problem.what}`.slice(0, LIMITS.wordsCharsMax), {
      next,
    });
  }
  const failed = tests.find(({ passed }) => !passed);
  if (failed === undefined) return;
  const { line, title, expected, found } = failed;
  throw new Refusal('config_invalid', `line ${line}: test \`${title}\` expects ${expected}, and finds ${found}`, {
    next,
  });
}
