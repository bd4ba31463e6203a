/**
 * Every Cedar policy of a configuration: those of its plain rules and those of its files, compiled once for each
 * configuration; and the groups of actions that they name.
 * Source: spec authority (policy: Cedar files stand beside them).
 */
import type { CedarDoor, CedarProblem } from './cedar.js';
import { type CompiledPolicy, compileRules } from './compile.js';
import type { Policy } from './rule-schema.js';

export interface Policies {
  readonly all: readonly CompiledPolicy[];
  /** Names of `Action::"…"` that stand in any of them. */
  readonly groups: ReadonlySet<string>;
}

export interface FileProblem extends CedarProblem {
  readonly file: string;
  readonly line: number;
}

const MADE = new WeakMap<Policy, Policies>();

/** Undefined where a text can not be read: then nothing may be decided by the others. */
export function policiesOf(door: CedarDoor, policy: Policy): Policies | undefined {
  const known = MADE.get(policy);
  if (known !== undefined) return known;
  const read = readFiles(door, policy);
  if ('problem' in read) return undefined;
  const all = [...compileRules(policy), ...read.policies];
  const groups = new Set<string>();
  for (const { text } of all) {
    const json = door.json(text);
    if (json === undefined) return undefined;
    collectActions(json, groups);
  }
  const made = { all, groups };
  MADE.set(policy, made);
  return made;
}

/** The policies of the Cedar files, or the first defect with its line. */
export function readFiles(
  door: CedarDoor,
  { cedar = [] }: Policy,
): { readonly policies: readonly CompiledPolicy[] } | { readonly problem: FileProblem } {
  const policies: CompiledPolicy[] = [];
  for (const { name, text } of cedar) {
    const read = door.parse(text);
    if ('what' in read) return { problem: { ...read, file: name, line: lineAt(text, read.at) } };
    let from = 0;
    for (const [at, one] of read.policies.entries()) {
      const found = text.indexOf(one, from);
      const line = lineAt(text, Math.max(found, from));
      from = found < 0 ? from : found + one.length;
      const id = `cedar: ${name}:${line}${found < 0 ? `#${at}` : ''}`;
      policies.push({ id: policies.some((known) => known.id === id) ? `${id}#${at}` : id, name: id, text: one });
    }
  }
  return { policies };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Every `{ type: 'Action', id }` in a policy's JSON form. */
function collectActions(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  const { type, id } = value as { type?: unknown; id?: unknown };
  if (type === 'Action' && typeof id === 'string') into.add(id);
  for (const inner of Object.values(value)) collectActions(inner, into);
}
