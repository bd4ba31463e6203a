/**
 * What is wrong with policies before anybody relies on them: Cedar's validator over every known operation,
 * strictly, and
 * what it can't know: a rule about an operation that there is not, or an argument that it doesn't take. Pure but
 * for the
 * door to Cedar.
 * Source: spec authority (policy: `policy check`).
 */
import type { CedarDoor } from './cedar.js';
import { ruleName } from './compile.js';
import { scopeOf } from './conditions.js';
import { type FileProblem, policiesOf, readFiles } from './policies.js';
import { cedarSchema, type TypedOperation } from './request.js';
import type { Policy, PolicyRule } from './rule-schema.js';
import type { RecordShape, Shape } from './shape.js';

export interface PolicyFinding {
  readonly level: 'problem' | 'warning';
  /** The rule or the Cedar file, as decisions name them. */
  readonly where: string;
  readonly what: string;
}

/** A Cedar file that can not be read; undefined where all can. */
export function cedarDefect(door: CedarDoor, policy: Policy): FileProblem | undefined {
  const read = readFiles(door, policy);
  return 'problem' in read ? read.problem : undefined;
}

export function checkPolicy(
  door: CedarDoor,
  policy: Policy,
  operations: readonly TypedOperation[],
): readonly PolicyFinding[] {
  const defect = cedarDefect(door, policy);
  if (defect !== undefined) {
    return [{ level: 'problem', where: `cedar: ${defect.file}:${defect.line}`, what: defect.what }];
  }
  const policies = policiesOf(door, policy);
  if (policies === undefined) return [{ level: 'problem', where: 'policy', what: 'the policies can not be read' }];
  const schema = cedarSchema(operations, policies.groups);
  const validated = door.validate(policies.all, schema as never).map(({ policy: id, what }): PolicyFinding => {
    const name = policies.all.find((one) => one.id === id)?.name;
    return { level: 'problem', where: name ?? 'policy', what: plainWords(what) };
  });
  const groups = [...policies.groups].flatMap((group) => groupFinding(group, operations));
  const args = (policy.rules ?? []).flatMap((rule) => argFindings(rule, operations));
  return distinct([...validated, ...groups, ...args]);
}

/** Cedar's message without our long ids of policies. */
function plainWords(what: string): string {
  return what.replace(/^for policy `[^`]*`, /, '');
}

function distinct(findings: readonly PolicyFinding[]): readonly PolicyFinding[] {
  const seen = new Set<string>();
  return findings.filter((finding) => {
    const text = JSON.stringify(finding);
    return seen.has(text) ? false : seen.add(text);
  });
}

/** A group of actions that no operation belongs to. */
function groupFinding(group: string, operations: readonly TypedOperation[]): readonly PolicyFinding[] {
  const [, kind, name = ''] = /^(operation|connector):(.*)$/s.exec(group) ?? [];
  const where = `Action::"${group}"`;
  if (kind === undefined) {
    const isKnown = group === 'launch' || group === 'launch_unattended' || / .*\//.test(group);
    return isKnown ? [] : [{ level: 'problem', where, what: 'no action is in this group' }];
  }
  const connector = kind === 'connector' ? name : (name.split('/')[0] ?? '');
  if (!operations.some((one) => one.connector === connector)) {
    return [{ level: 'warning', where, what: 'no such connector is configured: its arguments are not checked' }];
  }
  const isThere = kind === 'connector' || operations.some((one) => `${one.connector}/${one.operation}` === name);
  return isThere ? [] : [{ level: 'problem', where, what: 'the connector has no such operation' }];
}

/** Arguments that no operation takes which the rule can be about. */
function argFindings(rule: PolicyRule, operations: readonly TypedOperation[]): readonly PolicyFinding[] {
  const [connector, operation] = scopeOf(rule);
  const meant = operations.filter(
    (one) => (connector ?? one.connector) === one.connector && (operation ?? one.operation) === one.operation,
  );
  if (meant.length === 0) return [];
  return Object.keys(rule.when?.args ?? {})
    .filter((name) => meant.every(({ shape }) => !hasMember(shape, name.split('.').slice(1))))
    .map((name) => ({ level: 'problem', where: ruleName(rule), what: `no such argument has a type: ${name}` }));
}

function hasMember(shape: RecordShape, path: readonly string[]): boolean {
  let found: Shape | undefined = shape;
  for (const name of path) found = found?.type === 'record' ? found.members[name]?.shape : undefined;
  return found !== undefined;
}
