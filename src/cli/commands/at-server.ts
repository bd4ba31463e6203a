/**
 * The gate of another address, asked for what people sign there. It is believed nothing: it has to be a gate of the
 * ledger of this home, and what it hands over counts as if anybody had brought it. The action, the request, the
 * registry and the rules of this side decide, and every signature is verified here.
 * Source: spec authority (request and receipt).
 */
import { readEnvironment } from '../../app/index.js';
import { FILE_REASONS, readPlainFile, textOf } from '../../app/internal.js';
import type { Client } from '../../client/index.js';
import { canonicalize, type Json, LIMITS, Refusal } from '../../core/index.js';
import type { OpenGate } from '../run.js';

export interface ServerOptions {
  readonly server?: string;
  readonly token?: string;
}

type Approved = NonNullable<Awaited<ReturnType<OpenGate['fetchReceipt']>>>;
type Issued = Awaited<ReturnType<OpenGate['request']>>;
type Asked = NonNullable<Parameters<OpenGate['request']>[1]>;

/** What was signed there, attached here; undefined while nothing is. One that can't count stands in nobody's way. */
export async function fetchFrom(
  opened: OpenGate,
  options: ServerOptions,
  actionId: string,
): Promise<Approved | undefined> {
  const client = await clientFor(options);
  await demandSame(opened, client, actionId);
  const { receipts } = await client.call('receipts', { action_id: actionId });
  let attached: Approved | undefined;
  let refused: Refusal | undefined;
  for (const receipt of receipts) {
    try {
      // INVARIANT: a receipt from elsewhere is verified as any other (cli.at-server).
      attached = await opened.approve(actionId, receipt);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused = error;
    }
  }
  if (attached === undefined && refused !== undefined) throw refused;
  return attached;
}

/** A request that the gate there issued. Refuses `unknown_request` for one that is not of this ledger, as it says. */
export async function requestAt(
  opened: OpenGate,
  options: ServerOptions,
  actionId: string,
  asked: Asked,
): Promise<Issued> {
  const client = await clientFor(options);
  await demandSame(opened, client, actionId);
  const { ttlMs, ...rest } = asked;
  const body = { ...rest, ...(ttlMs === undefined ? {} : { ttl_ms: ttlMs }) };
  const { request: said } = await client.call('request', { action_id: actionId, body });
  // The lines that its signer has to see are rendered here, from the action of this side.
  const { request, summary } = await opened.requestDetails(String(said['request_id']));
  const isSame = canonicalize(request as unknown as Json) === canonicalize(said as Json);
  if (!isSame || request.kind !== 'action' || request.subject !== actionId) {
    throw new Refusal('unknown_request', 'the server tells of another request than this ledger has');
  }
  return { request, summary };
}

/** Refuses `audience` for the gate of another ledger, `digest_mismatch` where the action is another one there. */
async function demandSame(opened: OpenGate, client: Client, actionId: string): Promise<void> {
  const [own, there] = [await opened.identity(), await client.call('identity', {})];
  if (there.ledger_id !== own.ledger_id || there.epoch !== own.epoch) {
    const next = 'name the address of a gate of this ledger';
    throw new Refusal('audience', 'the server is the gate of another ledger', { next });
  }
  const { content } = await opened.show(actionId);
  const action = await client.call('show', { action_id: actionId });
  const digest =
    action.sees === 'all' ? (action.action as { content?: { digest?: unknown } }).content?.digest : action.digest;
  if (digest === content.digest) return;
  throw new Refusal('digest_mismatch', 'the action is another one at the server');
}

async function clientFor({ server = '', token = 'env:COUNTERSIGN_TOKEN' }: ServerOptions): Promise<Client> {
  const { connect } = await import('../../client/index.js');
  return connect({ url: server, token: tokenIn(token) });
}

/** The token that a word names: no command line holds one. Refuses `usage`. */
function tokenIn(word: string): string {
  const next = 'name where it stands: `--token env:NAME` or `--token file:PATH`';
  const refused = (why: string) => new Refusal('usage', `the token ${why}`, { path: 'token', next });
  if (word.startsWith('env:')) {
    const found = readEnvironment().variable(word.slice('env:'.length));
    if (found === undefined || found === '') throw refused('is in no such variable');
    return found.trim();
  }
  if (!word.startsWith('file:')) throw refused('is named by `env:` or `file:`');
  const read = readPlainFile(word.slice('file:'.length), LIMITS.configBytesMax);
  if (!read.ok) throw refused(`stands in a file that ${FILE_REASONS[read.reason]}`);
  return textOf(read.bytes).trim();
}
