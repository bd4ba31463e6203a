/**
 * The verbs of an action after its proposal: list, ask, attach, run, find out, take back.
 */
import { LIMITS, parseJson, Refusal } from '../../core/index.js';
import { EXIT, type Output, paintState, shown, timeText, writeTable } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { fetchFrom, requestAt, type ServerOptions } from './at-server.js';
import { duration, previewText, readContent, rowCount } from './propose.js';

type Settled = Awaited<ReturnType<OpenGate['execute']>>;

export interface ListOptions {
  readonly project?: string;
  readonly state?: readonly string[];
  readonly limit?: string;
  readonly after?: string;
}

export function list(options: ListOptions): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const page = await opened.list({
      ...(options.project === undefined ? {} : { project: options.project }),
      ...(options.state === undefined ? {} : { states: options.state }),
      limit: rowCount(options.limit ?? '50'),
      ...(options.after === undefined ? {} : { after: options.after }),
    });
    const states = await Promise.all(page.rows.map((row) => opened.show(row.id)));
    output.value({ actions: states, ...(page.next === undefined ? {} : { next: page.next }) });
    const rows = states.map(({ content, ...state }) => [
      content.action_id,
      paintState(state.state, state.authorization?.kind === 'policy'),
      `${shown(content.connector)} ${shown(content.operation)}`,
      shown(content.target),
      shown(content.proposed_by),
    ]);
    if (rows.length === 0) output.note('no such actions');
    else await writeTable(output, ['action', 'state', 'what', 'target', 'proposed by'], rows);
    if (page.next !== undefined) output.note(`more: --after ${page.next}`);
    return undefined;
  };
}

export interface RequestOptions extends ServerOptions {
  readonly approver?: string;
  readonly deny?: boolean;
  readonly expires?: string;
}

export function request(actionId: string, options: RequestOptions): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const asked = {
      ...(options.approver === undefined ? {} : { approver: options.approver }),
      decision: options.deny === true ? ('deny' as const) : ('approve' as const),
      ...(options.expires === undefined ? {} : { ttlMs: duration(options.expires) }),
    };
    const issued =
      options.server === undefined
        ? await opened.request(actionId, asked)
        : await requestAt(opened, options, actionId, asked);
    output.value(issued);
    output.line(issued.request.request_id);
    output.note(`${shown(issued.request.approver)} signs until ${timeText(issued.request.exp, Date.now())}`);
    if (options.server === undefined) output.note(`next: countersign approver sign ${issued.request.request_id}`);
    else output.note(`next: sign at ${new URL(`/requests/${issued.request.request_id}`, options.server).href}`);
    return undefined;
  };
}

export function fetchReceipt(actionId: string, options: ServerOptions): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const attached =
      options.server === undefined ? await opened.fetchReceipt(actionId) : await fetchFrom(opened, options, actionId);
    const { state, closed, approvals, retry, replaced_by } = await opened.show(actionId);
    // An unknown outcome stays one while people let it run again, which they may have done already.
    const isLetRunAgain = state === 'unknown' && retry !== null && retry.authorization !== null;
    const isOpen = state === 'proposed' || state === 'failed' || (state === 'unknown' && replaced_by === null);
    if (attached === undefined && (!isOpen || isLetRunAgain)) {
      if (state === 'approved' || isLetRunAgain) {
        const { length } = isLetRunAgain ? retry.approvals : approvals;
        output.value({ action_id: actionId, state, approvals: length });
        output.line(`${actionId} ${paintState(state)}`);
        if (isLetRunAgain) output.note(`next: countersign action retry ${actionId}`);
        return undefined;
      }
      throw new Refusal('state', `the action is ${closed?.how ?? state}: no signature is waited for`);
    }
    output.value(attached ?? { action_id: actionId, state: 'not_signed' });
    if (attached === undefined) {
      output.note('not signed yet');
      return EXIT.unsigned;
    }
    output.line(`${attached.action_id} ${paintState(attached.state)}`);
    if (attached.state === 'approved') output.note(`next: countersign action execute ${actionId}`);
    if (isLetRunAgain) output.note(`next: countersign action retry ${actionId}`);
    return undefined;
  };
}

export interface ApproveOptions {
  readonly receipt?: string;
  readonly standing?: boolean;
  readonly reason?: string;
  readonly sendBack?: boolean;
}

export function approve(actionId: string, options: ApproveOptions): Command {
  return async ({ gate, output }) => {
    if ((options.receipt === undefined) === (options.standing !== true)) {
      throw new Refusal('usage', 'one of --receipt and --standing approves it');
    }
    const opened = await gate();
    const denial = { words: options.reason ?? null, sendBack: options.sendBack === true };
    const attached =
      options.receipt === undefined
        ? await opened.coverByStanding(actionId)
        : await opened.approve(actionId, parseJson(readContent(options.receipt), { code: 'format' }), denial);
    output.value(attached);
    output.line(`${attached.action_id} ${paintState(attached.state)}`);
    return undefined;
  };
}

export function execute(actionId: string): Command {
  return async ({ gate, output }) => settledExit(output, await (await gate()).execute(actionId));
}

export function reconcile(actionId: string): Command {
  return async ({ gate, output }) => settledExit(output, await (await gate()).reconcile(actionId));
}

export function settledExit(output: Output, settled: Settled): number {
  output.value(settled);
  const words = [settled.code, settled.external_ref].filter((word) => word !== null).map(shown);
  output.line(`${settled.action_id} ${paintState(settled.state)}${words.length > 0 ? `: ${words.join(' ')}` : ''}`);
  switch (settled.state) {
    case 'confirmed':
      return EXIT.done;
    case 'failed':
      return EXIT.failed;
    case 'unknown':
      output.note(`next: countersign action reconcile ${settled.action_id}`);
      return EXIT.unknown;
  }
}

export function cancel(actionId: string, options: { readonly reason?: string }): Command {
  return async ({ gate, output }) => {
    await (await gate()).cancel(actionId, options.reason);
    output.value({ action_id: actionId, state: 'cancelled' });
    output.line(`${actionId} ${paintState('cancelled')}`);
    return undefined;
  };
}

/** Says something about an action; nothing that is signed or launched depends on it. */
export function comment(actionId: string, text: string): Command {
  return async ({ gate, output }) => {
    const made = await (await gate()).comment(actionId, text);
    output.value(made);
    output.line(`${actionId} comment ${made.no}`);
    return undefined;
  };
}

export function recover(): Command {
  return async ({ gate, output }) => {
    const recovered = await (await gate()).recover();
    output.value(recovered);
    for (const id of recovered.unknown) output.line(`${id} ${paintState('unknown')}`);
    for (const id of recovered.expired) output.line(`${id} expired`);
    if (recovered.unknown.length + recovered.expired.length === 0) output.note('nothing to recover');
    return undefined;
  };
}

/** Waits until the action is decided, or with `--settled` until its outcome is known. */
export function wait(actionId: string, options: { readonly timeout?: string; readonly settled?: boolean }): Command {
  return async ({ gate, output, settings }) => {
    const opened = await gate();
    const timeout = options.timeout ?? (await settings()).timeout;
    const timeoutMs = timeout === undefined ? 600_000 : duration(timeout);
    if (timeoutMs > LIMITS.waitMsMax) throw new Refusal('usage', 'a wait lasts a day at most', { path: 'timeout' });
    const open = options.settled === true ? ['proposed', 'approved', 'launched'] : ['proposed'];
    const state = await opened.wait(actionId, ({ state: now }) => !open.includes(now), timeoutMs);
    output.value(state);
    output.line(`${actionId} ${paintState(state.state, state.authorization?.kind === 'policy')}`);
    switch (state.state) {
      case 'proposed':
        return EXIT.unsigned;
      case 'failed':
        return EXIT.failed;
      case 'unknown':
        return EXIT.unknown;
      case 'cancelled':
        throw new Refusal(
          state.closed?.how === 'expired' ? 'expired' : 'state',
          `the action is cancelled: ${state.closed?.how}`,
        );
      default:
        return undefined;
    }
  };
}

/** The summary exactly as signed, and the connector's own view. */
export function summary(actionId: string): Command {
  return async ({ gate, output }) => {
    const { lines, preview } = await (await gate()).summary(actionId);
    output.value({ summary: lines, ...(preview === undefined ? {} : { preview }) });
    for (const line of lines) output.line(line);
    if (preview !== undefined) output.line(previewText(preview.text));
    return undefined;
  };
}
