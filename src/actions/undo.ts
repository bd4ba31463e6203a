/**
 * What would undo a confirmed action, proposed as an ordinary action: the connector left a description of it with its
 * evidence. It needs whatever any action needs; nothing is undone by itself.
 * Source: spec actions (connectors: compensation), doors (embedding: undo).
 */
import * as z from 'zod';
import { digest, type JsonObject, PATTERNS, Refusal } from '../core/index.js';
import { evidenceOf } from './evidence.js';
import { actionKind, tellingAttempt } from './evolve.js';
import { findOperation, loadAction } from './load.js';
import { type ProposedAction, propose } from './propose.js';
import type { ActionState } from './schema.js';
import type { Caller, Services } from './services.js';

/** As a connector leaves it: an operation of its own, and the arguments. */
const Compensation = z.object({
  undo: z.union([
    z.strictObject({ operation: z.string().regex(PATTERNS.operation), args: z.record(z.string(), z.json()) }),
    z.strictObject({ tool: z.string().regex(PATTERNS.operation), args: z.record(z.string(), z.json()) }),
  ]),
});

/** Proposes the compensation of a confirmed action. Refuses `state`, and `not_found` where none was left. */
export async function proposeUndo(services: Services, caller: Caller, actionId: string): Promise<ProposedAction> {
  const { state, content } = await loadAction(services, actionId);
  if (state.state !== 'confirmed') {
    throw new Refusal('state', `the action is ${state.state}: there is nothing to undo`, {
      details: { state: state.state },
    });
  }
  const found = await compensationOf(services, state);
  if (found === undefined) throw new Refusal('not_found', 'the operation left nothing that would undo it');
  const operation = await findOperation(services, content.connector, found.operation);
  const target = operation.facts?.(found.args).target ?? content.target;
  const { project, connector, work_item, on_behalf_of } = content;
  // INVARIANT: what was done once is undone once, whoever asks (actions.undo.once).
  const command = digest('countersign-command/1', { undo: actionId });
  const claim = { scope: 'undo', principal: 'engine:gate', key: actionId, command };
  const input = {
    project,
    connector,
    operation: found.operation,
    target,
    args: found.args,
    ...(work_item === null ? {} : { work_item }),
    ...(on_behalf_of.length > 0 && caller.mayActForOthers === true ? { on_behalf_of: [...on_behalf_of] } : {}),
  };
  const proposed = await propose(services, caller, input, { claim });
  const known = (await services.ledger.read(actionKind, proposed.action_id))?.state;
  if (known?.state !== 'cancelled') return proposed;
  const next = `countersign action propose --like ${proposed.action_id}`;
  throw new Refusal('state', 'what would undo it was proposed already, and is cancelled', { next });
}

/** What would undo a confirmed action, as its connector left it; undefined where it left nothing. */
export async function compensationOf(
  { ledger }: Pick<Services, 'ledger'>,
  state: ActionState,
): Promise<{ readonly operation: string; readonly args: JsonObject } | undefined> {
  const attempt = tellingAttempt(state);
  // What a person found out are words: no connector speaks in them.
  if (state.state !== 'confirmed' || attempt === undefined || attempt.settled_by === 'human') return undefined;
  const parsed = Compensation.safeParse(await evidenceOf(ledger, state.content.action_id, attempt.evidence_ref));
  if (!parsed.success) return undefined;
  const { undo } = parsed.data;
  return { operation: 'tool' in undo ? undo.tool : undo.operation, args: undo.args as JsonObject };
}
