/**
 * The test cases of a configuration file: those of each rule and those of policy as a whole, tried on an engine.
 * Source: spec authority (policy: `policy test`).
 */
import type { CedarEngine } from './cedar-engine.js';
import type { PolicyAnswer } from './question.js';
import type { TypedOperation } from './request.js';
import type { TrustConfig } from './schema.js';
import { type RecordShape, shapeOfValue } from './shape.js';
import { EXPECTED, questionOfTest, type RuleTest, WrittenRuleTest } from './test-case.js';

export interface TestResult {
  readonly title: string;
  /** Where it stands in the file. */
  readonly path: readonly string[];
  readonly expected: RuleTest['expect'];
  readonly found: RuleTest['expect'];
  readonly answer: PolicyAnswer;
  readonly passed: boolean;
}

interface WrittenTests {
  readonly tests?: readonly unknown[];
  readonly rules?: readonly { readonly title: string; readonly match?: object; readonly tests?: readonly unknown[] }[];
}

/** `written` is the `policy` of a file that was read as a configuration. */
export function runTests(
  engine: CedarEngine,
  config: TrustConfig,
  written: unknown,
  operations: readonly TypedOperation[],
): readonly TestResult[] {
  const { tests = [], rules = [] } = (written ?? {}) as WrittenTests;
  const ofRules = rules.flatMap((rule, at) =>
    (rule.tests ?? []).map((test, index) => {
      const match = config.policy.rules?.[at]?.match ?? {};
      return { test, match, title: rule.title, path: ['rules', String(at), 'tests', String(index)] };
    }),
  );
  const ofAll = tests.map((test, index) => ({ test, match: {}, title: 'policy', path: ['tests', String(index)] }));
  return [...ofRules, ...ofAll].map(({ test, match, title, path }) => {
    const parsed = WrittenRuleTest.parse(test);
    const question = questionOfTest(parsed, match);
    const answer = engine.decideShaped(question, config, shapeFor(question, operations));
    const found = EXPECTED[answer.outcome];
    const name = `${title}: ${parsed.title ?? `test ${Number(path.at(-1)) + 1}`}`;
    return { title: name, path, expected: parsed.expect, found, answer, passed: found === parsed.expect };
  });
}

/** The types of a known operation's arguments, else those of the values themselves. */
function shapeFor(
  { connector, operation, args }: { connector: string; operation: string; args: unknown },
  operations: readonly TypedOperation[],
): RecordShape {
  const known = operations.find((one) => one.connector === connector && one.operation === operation);
  const inferred = shapeOfValue(args);
  return known?.shape ?? (inferred?.type === 'record' ? inferred : { type: 'record', members: {}, isPartial: true });
}
