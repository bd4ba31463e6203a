/**
 * What each route does: it hands over to the gate of whoever asks, and shapes the answer. No rule stands here.
 * Source: spec doors (HTTP API).
 */
import type { RouteName } from '../api/index.js';
import { openApi } from '../api/index.js';
import { type CountersignGate, type Gate, readEntries, sightOf } from '../app/index.js';
import { base64urlDecode, type Json, parseTrusted, Refusal } from '../core/index.js';

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
}

type Handler = (asked: Asked) => Promise<unknown>;

const idOf = ({ params }: Asked): string => params['action_id'] ?? '';

/** The two routes that answer a stream or plain text are the server's own: `events` and `metrics`. */
export const HANDLERS: Readonly<Record<Exclude<RouteName, 'events' | 'metrics'>, Handler>> = {
  health: async () => ({ status: 'ok' }),
  ready: async ({ owner }) => {
    await owner.ledger.head();
    return { status: 'ok' };
  },
  openapi: async ({ publicUrl, version }) => openApi(version, publicUrl),
  identity: async ({ gate }) => {
    const { ledger_id, name, epoch, demo } = await gate.identity();
    return { ledger_id, name, epoch, demo, principal: gate.caller.principal };
  },
  list: ({ gate, query }) => listed(gate, query),
  propose: async ({ gate, query, body, idempotencyKey }) => {
    const proposal = proposalOf(body, idempotencyKey);
    if (query['launch'] !== 'true') return gate.propose(proposal);
    const { proposed, settled } = await gate.proposeAndLaunch(proposal);
    const { action_id, joined } = proposed;
    const { state } = await gate.show(action_id);
    return { action_id, joined, state, ...(settled === undefined ? {} : { settled }) };
  },
  explain: ({ gate, body }) => gate.explain(proposalOf(body, undefined)),
  show: (asked) => shown(asked.gate, idOf(asked)),
  summary: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    return asked.gate.summary(idOf(asked));
  },
  like: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    return asked.gate.proposeLike(idOf(asked));
  },
  undo: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    return asked.gate.proposeUndo(idOf(asked));
  },
  request: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    const { approver, decision, ttl_ms } = asked.body;
    return asked.gate.request(idOf(asked), {
      ...(approver === undefined ? {} : { approver }),
      ...(decision === undefined ? {} : { decision }),
      ...(ttl_ms === undefined ? {} : { ttlMs: ttl_ms }),
    });
  },
  approve: (asked) => {
    const { receipt, words, send_back } = asked.body;
    return asked.gate.approve(idOf(asked), receipt, {
      ...(words === undefined ? {} : { words }),
      ...(send_back === undefined ? {} : { sendBack: send_back }),
    });
  },
  cover: (asked) => asked.gate.coverByStanding(idOf(asked)),
  fetchReceipt: async (asked) => (await asked.gate.fetchReceipt(idOf(asked))) ?? { pending: true },
  execute: (asked) => asked.gate.execute(idOf(asked)).then((settled) => seen(asked, settled)),
  retry: (asked) => asked.gate.retry(idOf(asked)).then((settled) => seen(asked, settled)),
  reconcile: (asked) => asked.gate.reconcile(idOf(asked)).then((settled) => seen(asked, settled)),
  cancel: async (asked) => {
    await asked.gate.cancel(idOf(asked), asked.body.words);
    return { done: true };
  },
  recover: ({ gate }) => gate.recover(),
  requestDetails: async ({ gate, params }) => {
    const details = await gate.requestDetails(params['request_id'] ?? '');
    await demandSight(gate, details.request.subject);
    return details;
  },
  receipt: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    const receipt = await asked.gate.receiptOf(idOf(asked));
    if (receipt === undefined) throw new Refusal('not_found', 'nobody approved this by a receipt');
    return receipt;
  },
  submit: async ({ gate, body }) => {
    const { request_id, action_id, missing } = await gate.submit(body.receipt);
    return {
      request_id,
      ...(action_id === undefined ? {} : { action_id }),
      ...(missing === undefined ? {} : { missing }),
    };
  },
  requestAct: ({ gate, body }) => gate.requestAct(body.act, body.person),
  requestResolution: async ({ gate, body }) => {
    const subject = (body.resolution as { action_id?: unknown } | null)?.action_id;
    if (typeof subject === 'string') await demandSight(gate, subject);
    return gate.requestResolution(body.resolution, body.person);
  },
  decisions: async ({ gate, query }) => ({ rows: await visible(gate, await gate.decisions(query['for'])) }),
  grants: async ({ gate }) => {
    const rows = await gate.grants();
    return { rows: rows.filter(({ grant }) => sightOf(gate.caller, grant) !== 'none') };
  },
  requestStanding: ({ gate, body }) => gate.requestStanding(body.grant, body.person),
  narrowestGrant: async (asked) => {
    await demandSight(asked.gate, idOf(asked));
    const bounds = { count: Number(asked.query['count']), until: Number(asked.query['until']) };
    return { grant: await asked.gate.narrowestGrant(idOf(asked), bounds) };
  },
  thread: async ({ gate, params, query }) => {
    const thread = params['thread'] ?? '';
    if (sightOf(gate.caller, { project: thread }) === 'none') throw new Refusal('not_found', 'there is no such thread');
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
  if (sight === 'all') return { sees: 'all', action: state, args: await gate.args(id) };
  return { sees: 'some', action_id: id, state: state.state, digest: state.content.digest };
}

/** INVARIANT: what an action says is for its proposer and for people (server.read.scoped). */
async function demandSight(gate: Gate, id: string): Promise<void> {
  const { scope } = gate.caller;
  if (scope === undefined) return;
  const state = await gate.show(id);
  const sight = sightOf(gate.caller, state.content);
  if (sight === 'all') return;
  if (sight === 'none') throw new Refusal('unknown_action', 'there is no such action');
  throw new Refusal('forbidden', 'this is for the proposer of the action, and for people');
}

/** The outcome of a launch without its evidence, for whoever did not propose it. */
async function seen({ gate }: Asked, settled: { readonly action_id: string }): Promise<unknown> {
  const { content } = await gate.show(settled.action_id);
  return sightOf(gate.caller, content) === 'all' ? settled : { ...settled, external_ref: null, evidence: null };
}

async function listed(gate: Gate, query: Asked['query']): Promise<unknown> {
  const { project, states, limit, after } = query;
  const page = await gate.list({
    ...(project === undefined ? {} : { project }),
    ...(states === undefined ? {} : { states: states.split(',') }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(after === undefined ? {} : { after }),
  });
  const rows = page.rows.filter((row) => sightOf(gate.caller, row) !== 'none');
  return { rows, ...(page.next === undefined ? {} : { next: page.next }) };
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
