/**
 * What each route does: it hands over to the gate of whoever asks, and shapes the answer. No rule stands here.
 * Source: spec doors (HTTP API).
 */
import type { RouteName } from '../api/index.js';
import { openApi } from '../api/index.js';
import { type CountersignGate, type Gate, readEntries, sightOf } from '../app/index.js';
import type { PeopleDoor, WorkerDoor } from '../app/internal.js';
import { base64urlDecode, type Json, PATTERNS, parseTrusted, Refusal } from '../core/index.js';
import type { AuditDesk } from './audit-desk.js';
import { PACKAGE_HANDLERS } from './package-handlers.js';
import { identityOf, PEOPLE_HANDLERS } from './people-handlers.js';
import { WORKER_HANDLERS } from './worker-handlers.js';

/** What a handler is given: everything was read and admitted before. */
export interface Asked {
  readonly gate: Gate;
  /** The gate of the process, for what no caller's scope bounds. */
  readonly owner: CountersignGate;
  readonly publicUrl: string;
  readonly version: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: admitted by the schema of the route
  readonly body: any;
  readonly idempotencyKey: string | undefined;
  readonly people: PeopleDoor;
  readonly auditDesk: AuditDesk;
  readonly workers: WorkerDoor;
  /** Ends when whoever asked has gone, or the server ends. */
  readonly signal: AbortSignal;
  /** Sets or ends the session of the browser. */
  setSession(session: string | undefined, expires: number): void;
}

export type Handler = (asked: Asked) => Promise<unknown>;

const idOf = ({ params }: Asked): string => params['action_id'] ?? '';

/**
 * The two routes that answer a stream or plain text are the server's own: `events` and `metrics`. Those about people,
 * for workers and of packages stand in files of their own.
 */
export const HANDLERS: Readonly<Record<Exclude<RouteName, 'events' | 'metrics'>, Handler>> = {
  ...PEOPLE_HANDLERS,
  ...WORKER_HANDLERS,
  ...PACKAGE_HANDLERS,
  health: async () => ({ status: 'ok' }),
  ready: async ({ owner }) => {
    await owner.ledger.head();
    return { status: 'ok' };
  },
  openapi: async ({ publicUrl, version }) => openApi(version, publicUrl),
  identity: ({ gate, owner }) => identityOf(gate, owner),
  list: ({ gate, query }) => listed(gate, query),
  propose: async ({ gate, query, body, idempotencyKey }) => {
    const proposal = proposalOf(body, idempotencyKey);
    if (query['launch'] !== 'true') return gate.propose(proposal);
    const { proposed, settled } = await gate.proposeAndLaunch(proposal);
    const { action_id, joined } = proposed;
    const { state } = await gate.show(action_id);
    return { action_id, joined, state, ...(settled === undefined ? {} : { settled }) };
  },
  explain: ({ gate, body, query }) => gate.explain(proposalOf(body, undefined), query['as']),
  show: (asked) => shown(asked.gate, idOf(asked)),
  summary: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    return asked.gate.summary(idOf(asked));
  },
  like: async (asked) => {
    await demandSight(asked.gate, idOf(asked), 'propose');
    const { idempotencyKey } = asked;
    return asked.gate.proposeLike(idOf(asked), idempotencyKey === undefined ? {} : { idempotencyKey });
  },
  undo: async (asked) => {
    await demandSight(asked.gate, idOf(asked), 'propose');
    return asked.gate.proposeUndo(idOf(asked));
  },
  undoing: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    return { undo: (await asked.gate.undoing(idOf(asked))) ?? null };
  },
  request: async (asked) => {
    await demandSight(asked.gate, idOf(asked), 'propose');
    const { approver, decision, ttl_ms } = asked.body;
    return asked.gate.request(idOf(asked), {
      ...(approver === undefined ? {} : { approver }),
      ...(decision === undefined ? {} : { decision }),
      ...(ttl_ms === undefined ? {} : { ttlMs: ttl_ms }),
    });
  },
  approve: async (asked) => {
    const { receipt, words, send_back } = asked.body;
    const approved = await asked.gate.approve(idOf(asked), receipt, {
      ...(words === undefined ? {} : { words }),
      ...(send_back === undefined ? {} : { sendBack: send_back }),
    });
    return seenWithin(asked, approved);
  },
  cover: (asked) => asked.gate.coverByStanding(idOf(asked)),
  fetchReceipt: async (asked) => {
    const fetched = await asked.gate.fetchReceipt(idOf(asked));
    return fetched === undefined ? { pending: true } : seenWithin(asked, fetched);
  },
  execute: (asked) => asked.gate.execute(idOf(asked)).then((settled) => seen(asked, settled)),
  retry: (asked) => asked.gate.retry(idOf(asked)).then((settled) => seen(asked, settled)),
  reconcile: (asked) => asked.gate.reconcile(idOf(asked)).then((settled) => seen(asked, settled)),
  comments: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    return { comments: await asked.gate.comments(idOf(asked)) };
  },
  comment: async (asked) => {
    await demandSight(asked.gate, idOf(asked), 'propose');
    return asked.gate.comment(idOf(asked), asked.body.text);
  },
  cancel: async (asked) => {
    await asked.gate.cancel(idOf(asked), asked.body.words);
    return { done: true };
  },
  recover: ({ gate }) => gate.recover(),
  requestDetails: async ({ gate, params }) => {
    const requestId = params['request_id'] ?? '';
    await demandSightOfRequest(gate, requestId);
    return gate.requestDetails(requestId);
  },
  receipt: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    const receipt = await asked.gate.receiptOf(idOf(asked));
    if (receipt === undefined) throw new Refusal('not_found', 'nobody approved this by a receipt');
    return receipt;
  },
  receipts: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    return { receipts: await asked.gate.signedReceipts(idOf(asked)) };
  },
  submit: async ({ gate, body }) => {
    const { request_id, action_id, missing, applied } = await gate.submit(body.receipt);
    return {
      request_id,
      ...(action_id === undefined ? {} : { action_id }),
      ...(missing === undefined ? {} : { missing }),
      ...(applied === undefined ? {} : { applied }),
    };
  },
  requestAct: ({ gate, body }) => gate.requestAct(body.act, body.person),
  requestResolution: async ({ gate, body }) => {
    const subject = (body.resolution as { action_id?: unknown } | null)?.action_id;
    if (typeof subject === 'string') await demandSight(gate, subject, 'propose');
    return gate.requestResolution(body.resolution, body.person);
  },
  decisions: async ({ gate, query }) => {
    const { limit, after, for: person } = query;
    const { rows, ...rest } = await gate.inbox({
      ...(person === undefined ? {} : { person }),
      ...(limit === undefined ? {} : { limit: Number(limit) }),
      ...(after === undefined ? {} : { after }),
    });
    return { rows: await visible(gate, rows), ...rest };
  },
  grants: async ({ gate }) => ({ rows: (await gate.grants()).flatMap((row) => grantSeen(gate, row)) }),
  requestStanding: ({ gate, body }) => gate.requestStanding(body.grant, body.person),
  narrowestGrant: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    const bounds = { count: Number(asked.query['count']), until: Number(asked.query['until']) };
    return { grant: await asked.gate.narrowestGrant(idOf(asked), bounds) };
  },
  thread: async ({ gate, params, query }) => {
    const thread = params['thread'] ?? '';
    if (!PATTERNS.project.test(thread)) throw new Refusal('not_found', 'there is no such thread');
    const { entries, next } = await readEntries(gate.ledger, thread, Number(query['after'] ?? 0));
    return { entries, ...(next === undefined ? {} : { next: String(next) }) };
  },
};

/** What the library takes, from the body of a request. */
function proposalOf(body: Readonly<Record<string, unknown>>, key: string | undefined) {
  const { content, ...proposal } = body;
  const bytes = (content as readonly string[] | undefined)?.map((text) => {
    const decoded = base64urlDecode(text);
    if (decoded === undefined) throw new Refusal('invalid', 'content is base64url', { path: 'content' });
    return decoded;
  });
  return {
    ...proposal,
    ...(bytes === undefined ? {} : { content: bytes }),
    ...(key === undefined ? {} : { idempotency_key: key }),
  } as never;
}

async function shown(gate: Gate, id: string): Promise<unknown> {
  const state = await gate.show(id);
  const sight = sightOf(gate.caller, state.content);
  // What a caller may not see is not there.
  if (sight === 'none') throw new Refusal('unknown_action', 'there is no such action');
  if (sight === 'all') {
    return { sees: 'all', action: state, args: await gate.args(id), awaited: await gate.isAwaited(id) };
  }
  return { sees: 'some', action_id: id, state: state.state, digest: state.content.digest };
}

/** INVARIANT: what an action says is for its proposer and for people (server.read.scoped). */
async function demandSight(gate: Gate, id: string, verb: 'read' | 'propose' = 'read'): Promise<void> {
  const { scope } = gate.caller;
  if (scope === undefined) return;
  const state = await gate.show(id);
  const sight = sightOf(gate.caller, state.content, verb);
  if (sight === 'all') return;
  if (sight === 'none') throw new Refusal('unknown_action', 'there is no such action');
  throw new Refusal('forbidden', 'this is for the proposer of the action, and for people');
}

/** A request is for whoever asked for it, and for people; one about an action for its proposer. */
async function demandSightOfRequest(gate: Gate, requestId: string): Promise<void> {
  if (gate.caller.scope === undefined) return;
  const { action_id, ...seen } = await gate.requestSeen(requestId);
  const sight = sightOf(gate.caller, action_id === undefined ? seen : (await gate.show(action_id)).content);
  if (sight === 'all') return;
  if (sight === 'none') throw new Refusal('unknown_request', 'there is no such request');
  throw new Refusal('forbidden', 'this is for whoever asked for it, and for people');
}

/**
 * INVARIANT: the outcome of a launch goes to the proposer of its action with its evidence, to others without
 * (server.read.scoped). Whoever may launch it may hear of its own.
 */
async function seen({ gate }: Asked, settled: { readonly action_id: string }): Promise<unknown> {
  const { content } = await gate.show(settled.action_id);
  const isOwn = sightOf(gate.caller, content, 'execute') === 'all';
  return isOwn ? settled : { ...settled, external_ref: null, evidence: null };
}

async function seenWithin(
  asked: Asked,
  { settled, ...rest }: { readonly settled?: { readonly action_id: string } },
): Promise<unknown> {
  return settled === undefined ? rest : { ...rest, settled: await seen(asked, settled) };
}

/** A standing approval in full for the agents that it is for, and for people; to others that there is one. */
function grantSeen({ caller }: Gate, row: Awaited<ReturnType<Gate['grants']>>[number]): readonly unknown[] {
  const { grant_id, grant, state } = row;
  const isFor = grant.agents.includes(caller.principal);
  const sight = sightOf(caller, { ...grant, ...(isFor ? { proposed_by: caller.principal } : {}) });
  if (sight === 'none') return [];
  return [sight === 'all' ? row : { grant_id, state }];
}

async function listed(gate: Gate, query: Asked['query']): Promise<unknown> {
  const { project, states, limit, after } = query;
  const page = await gate.list({
    ...(project === undefined ? {} : { project }),
    ...(states === undefined ? {} : { states: states.split(',') }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(after === undefined ? {} : { after }),
  });
  const rows = await Promise.all(page.rows.map((row) => rowSeen(gate, row)));
  return { rows: rows.filter((row) => row !== undefined), ...(page.next === undefined ? {} : { next: page.next }) };
}

type Row = Awaited<ReturnType<Gate['list']>>['rows'][number];

/** A row of a list does not name its connector: for a token of some of them the action is looked at. */
async function rowSeen(gate: Gate, row: Row): Promise<Row | Pick<Row, 'id' | 'status'> | undefined> {
  const isBound = gate.caller.scope?.connectors.includes('*') === false;
  const sight = sightOf(gate.caller, isBound ? (await gate.show(row.id)).content : row);
  if (sight === 'none') return undefined;
  if (sight === 'all') return row;
  return { id: row.id, ...(row.status === undefined ? {} : { status: row.status }) };
}

/** Rows about actions that the caller sees; about people and rules for nobody with a token. */
async function visible<Row extends { readonly id: string }>(gate: Gate, rows: readonly Row[]): Promise<readonly Row[]> {
  if (gate.caller.scope === undefined) return rows;
  const found: Row[] = [];
  for (const row of rows) {
    const state = await gate.show(row.id).catch(() => undefined);
    if (state !== undefined && sightOf(gate.caller, state.content) === 'all') found.push(row);
  }
  return found;
}

/** An answer as JSON, whatever it holds. */
export function bodyOf(answer: unknown): Json {
  return parseTrusted(JSON.stringify(answer ?? null));
}
