/**
 * What people do about an outcome that nobody knows, and the brake: each asks for a signature, or proposes an action.
 */
import { Refusal } from '../../core/index.js';
import { type Output, paintState, shown } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { settledExit } from './action.js';
import { noteSigners } from './people.js';

export interface FindingOptions {
  readonly outcome: string;
  readonly evidence: string;
  readonly approver?: string;
}

export interface FreezeOptions {
  readonly project?: string;
  readonly agent?: string;
  readonly connector?: string;
  readonly for?: string;
}

/** Runs an unknown action again, which people approved since. */
export function retry(actionId: string): Command {
  return async ({ gate, output }) => settledExit(output, await (await gate()).retry(actionId));
}

/** Asks a person to sign what became of an action. */
export function finding(action_id: string, options: FindingOptions): Command {
  return async ({ gate, output }) => {
    const { outcome, evidence, approver } = options;
    if (outcome !== 'confirmed' && outcome !== 'failed') {
      throw new Refusal('usage', '`--outcome` is confirmed or failed', { path: 'outcome' });
    }
    const opened = await gate();
    noteAsked(output, await opened.requestResolution({ kind: 'finding', action_id, outcome, evidence }, approver));
    return undefined;
  };
}

/** Asks a person to let the same effect run again as another action. */
export function replace(action_id: string, options: { readonly approver?: string }): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    noteAsked(output, await opened.requestResolution({ kind: 'assume_duplicate', action_id }, options.approver));
    return undefined;
  };
}

/** Proposes what would undo a confirmed action. */
export function undo(actionId: string): Command {
  return async ({ gate, output }) => {
    const proposed = await (await gate()).proposeUndo(actionId);
    output.value(proposed);
    output.line(`${proposed.action_id} ${paintState(proposed.state)}`);
    return undefined;
  };
}

/** Asks for the brake, or for its release. */
export function freeze(op: 'freeze' | 'unfreeze', options: FreezeOptions): Command {
  return async ({ gate, output }) => {
    const given = (['project', 'agent', 'connector'] as const).filter((scope) => options[scope] !== undefined);
    if (given.length > 1) throw new Refusal('usage', 'one of --project, --agent and --connector');
    const [scope] = given;
    const opened = await gate();
    const what =
      scope === undefined ? ({ scope: 'all', name: null } as const) : scopeNamed(scope, options[scope] ?? '');
    const act = { kind: 'freeze', op: op === 'freeze' ? 'set' : 'lift', scope: what } as const;
    const issued = await opened.requestAct(act, options.for);
    output.value(issued);
    for (const line of issued.summary) output.line(shown(line));
    if (op === 'freeze' && !(await isKnown(opened, what))) {
      output.note(`no action of ${what.scope} ${shown(what.name)} is known here: look whether that is its name`);
    }
    noteSigners(output, issued);
    return undefined;
  };
}

type Scope = { readonly scope: 'all' | 'project' | 'agent' | 'connector'; readonly name: string | null };

/** Whether there is anything of that name: a freeze of another one would stop nothing. */
async function isKnown(gate: OpenGate, { scope, name }: Scope): Promise<boolean> {
  if (name === null) return true;
  if (scope === 'project') return (await gate.list({ project: name, limit: 1 })).rows.length > 0;
  if (scope === 'connector') return gate.services.connector(name) !== undefined;
  const { listTokens } = await import('../../app/index.js');
  const { agents } = gate.services.trust().config;
  const isLocal = Object.hasOwn(agents, name.slice('agent:'.length));
  return isLocal || (await listTokens(gate.ledger)).some(({ agent }) => agent === name);
}

/** An agent is named as actions name it; people leave `agent:` out. */
function scopeNamed(scope: 'project' | 'agent' | 'connector', name: string): Scope & { readonly name: string } {
  const isShort = scope === 'agent' && !name.startsWith('agent:');
  return { scope, name: isShort ? `agent:${name}` : name };
}

type Asked = {
  readonly request: { readonly request_id: string; readonly approver: string };
  readonly summary: readonly string[];
};

function noteAsked(output: Output, asked: Asked): void {
  output.value(asked);
  for (const line of asked.summary) output.line(line);
  const { approver, request_id } = asked.request;
  output.note(`next: ${shown(approver)}: countersign approver sign ${request_id}`);
}
