/**
 * Signing, and checking what was signed. Every request is shown in full before the one passphrase that signs them all.
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isOurs, LIMITS, parseJson, Refusal } from '../../core/index.js';
import { EXIT, type Output, paint, paintState, shown, timeText, writeError } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { readPassphrase } from '../terminal.js';
import { readKey } from './key-file.js';
import { previewText, readContent } from './propose.js';

export interface SignOptions {
  readonly key?: string;
  readonly passphraseFrom?: string;
  readonly deny?: boolean;
  readonly reason?: string;
  readonly sendBack?: boolean;
  readonly out?: string;
}

type Asked = Awaited<ReturnType<OpenGate['requestDetails']>>;
type Receipt = ReturnType<typeof import('../../app/index.js').signWith>;

/** Shows each request in full, signs them with one passphrase, and hands the receipts in (or writes one to a file). */
export function sign(requestIds: readonly string[], options: SignOptions): Command {
  return async ({ gate, output }) => {
    const app = await import('../../app/index.js');
    const opened = await gate();
    const asked = await detailsOf(opened, requestIds, options);
    const [first] = asked as [Asked];
    for (const [at, one] of asked.entries()) {
      if (asked.length > 1) output.line(`${at === 0 ? '' : '\n'}${at + 1} of ${asked.length}`);
      show(output, one, options);
    }
    const { approver } = first.request;
    const path = options.key ?? join(opened.home.keysFolder, `${approver.slice('human:'.length)}.key`);
    const { text } = await readKey(path);
    const what = asked.length === 1 ? 'this' : `these ${asked.length}`;
    const passphrase = await readPassphrase(options.passphraseFrom, `Passphrase of ${shown(approver)} to sign ${what}`);
    const key = await app.unlockKey(text, passphrase);
    const requests = asked.map(({ request }) => request);
    const receipts = requests.length === 1 ? [app.signWith(key, first.request)] : app.signBatch(key, requests);
    if (options.out !== undefined) {
      writeFileSync(options.out, `${JSON.stringify(receipts[0])}\n`, { mode: 0o600 });
      output.value({ request_id: first.request.request_id, receipt: resolve(options.out) });
      output.line(`signed: ${shown(options.out)}`);
      return undefined;
    }
    return handInAll(output, opened, receipts, options);
  };
}

/** The requests as they are signed: all open, all of one person; a denial is asked for anew. */
async function detailsOf(opened: OpenGate, ids: readonly string[], options: SignOptions): Promise<readonly Asked[]> {
  if (ids.length > LIMITS.batchRequestsMax || new Set(ids).size !== ids.length) {
    throw new Refusal('usage', `one gesture signs up to ${LIMITS.batchRequestsMax} different requests`);
  }
  if (options.out !== undefined && ids.length > 1) throw new Refusal('usage', '--out takes one request');
  const asked: Asked[] = [];
  for (const id of ids) {
    const one = await opened.requestDetails(id);
    if (one.state === 'withdrawn') throw new Refusal('unknown_request', 'the request ended with a failed try');
    if (one.state !== 'open') throw new Refusal('replay', 'the request was signed already');
    const { request } = one;
    if (request.approver !== (asked[0] ?? one).request.approver) {
      throw new Refusal('foreign_authenticator', 'the requests are of different people: each signs their own');
    }
    asked.push(denies(request, options) ? { ...(await askDenial(opened, request)), state: 'open' } : one);
  }
  return asked;
}

function denies({ kind }: Asked['request'], { deny }: SignOptions): boolean {
  return deny === true && kind === 'action';
}

/** A denial is a request of its own: its signature says deny. */
function askDenial(opened: OpenGate, request: Asked['request']) {
  return opened.request(request.subject, { approver: request.approver, decision: 'deny' });
}

function show(output: Output, { request, summary, preview }: Asked, options: SignOptions): void {
  for (const line of summary) output.line(line);
  if (preview !== undefined) output.line(previewText(preview.text));
  const yes = paint.good(request.kind === 'action' ? 'APPROVE' : 'SIGN');
  const verdict = denies(request, options) ? paint.bad('DENY') : yes;
  output.note(`${verdict} as ${shown(request.approver)}, until ${timeText(request.exp, Date.now())}`);
}

/** One that is refused does not stand in the way of the others; the exit code is then that of the first refusal. */
async function handInAll(
  output: Output,
  opened: OpenGate,
  receipts: readonly Receipt[],
  options: SignOptions,
): Promise<number | undefined> {
  let exit: number | undefined;
  for (const receipt of receipts) {
    try {
      await handIn(output, opened, receipt, options);
    } catch (error) {
      if (receipts.length === 1 || !isOurs(error)) throw error;
      output.note(`${receipt.request.request_id}:`);
      exit ??= writeError(output, error);
    }
  }
  return exit ?? EXIT.done;
}

async function handIn(output: Output, opened: OpenGate, receipt: Receipt, options: SignOptions): Promise<void> {
  const { request } = receipt;
  const isDenial = denies(request, options);
  const denial = { words: options.reason ?? null, sendBack: options.sendBack === true };
  const done = isDenial ? await opened.approve(request.subject, receipt, denial) : await opened.submit(receipt);
  output.value(done);
  const missing = 'missing' in done ? (done.missing ?? 0) : 0;
  const carried = request.kind !== 'action' && missing === 0;
  output.line(paint.good(isDenial ? 'denied' : carried ? 'signed and carried out' : 'signed'));
  if (missing > 0) output.note(`${missing} more has to sign the same`);
  if (!isDenial && request.kind === 'action') {
    output.note(`next: countersign action fetch-receipt ${request.subject}`);
  }
  if (request.kind === 'assume_duplicate' && 'action_id' in done && done.action_id !== undefined) {
    await noteReplacement(output, opened, done.action_id);
  }
}

/** The action that takes the place of another one, which needs its own approval. */
async function noteReplacement(output: Output, opened: OpenGate, actionId: string): Promise<void> {
  const { state, authorization } = await opened.show(actionId);
  output.line(`${actionId} ${paintState(state, authorization?.kind === 'policy')}`);
  output.note(`next: countersign action ${state === 'approved' ? 'execute' : 'request'} ${actionId}`);
}

export interface VerifyReceiptOptions {
  readonly publicKey?: string;
}

/** Checks a receipt: against the ledger, or with `--public-key` against that key alone, offline. */
export function verifyReceipt(file: string, options: VerifyReceiptOptions): Command {
  return async ({ gate, output }) => {
    const { checkReceiptOffline, checkReceiptOnline } = await import('../../app/index.js');
    const value = parseJson(readContent(file), { code: 'format' });
    const verdict =
      options.publicKey === undefined
        ? await checkReceiptOnline(await gate(), value)
        : await checkReceiptOffline(value, options.publicKey);
    output.value(verdict);
    const { request, method, origin } = verdict;
    const what = request.kind === 'action' ? `${request.kind} ${request.decision}` : request.kind;
    output.line(`${paint.good('good')}: ${shown(request.approver)} signed ${what} for ${shown(request.subject)}`);
    const where = origin === 'loopback' ? 'on a page of this machine' : 'on a page with a certificate';
    output.line(method === 'webauthn' ? `by a passkey, ${where}` : 'by a software key');
    output.line(`fingerprint ${request.digest}`);
    return undefined;
  };
}
