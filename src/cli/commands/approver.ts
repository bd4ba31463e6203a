/**
 * The people who sign: keys, signatures, the registry. Nothing here makes a command a person: a signature does.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PATTERNS, parseJson, Refusal } from '../../core/index.js';
import { type Output, paint, shown, timeText, writeTable } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { askText, hasTerminal, readPassphrase } from '../terminal.js';
import { previewText, readContent } from './propose.js';

function personOf(name: string): string {
  const person = name.startsWith('human:') ? name : `human:${name}`;
  if (!PATTERNS.human.test(person)) throw new Refusal('invalid', 'a person is named `human:NAME`');
  return person;
}

export interface KeyOptions {
  readonly out?: string;
  readonly passphraseFrom?: string;
}

/** Makes a software key. The first one is confirmed at this terminal; a later one is registered by a signature. */
export function key(name: string, options: KeyOptions): Command {
  return async ({ gate, output }) => {
    const app = await import('../../app/index.js');
    const opened = await gate();
    const identity = await opened.identity();
    const person = personOf(name);
    const path = resolve(options.out ?? app.keyPath(opened.home, person));
    if (existsSync(path) && !identity.bootstrapped) {
      // The ceremony was interrupted: the key is there, and its code was never typed.
      const held = app.readKeyFile(new TextDecoder().decode(readContent(path)));
      if (held.person !== person) throw new Refusal('invalid', 'the key file is somebody else’s', { path: 'out' });
      await confirmFirst(output, opened, path, app.confirmationCode(identity.ledger_id, held.publicKey));
      output.value({ person, key_file: path, confirmed: true });
      output.line(`${paint.good('confirmed')}: ${person} may approve, and is the operator of this ledger`);
      return undefined;
    }
    if (existsSync(path)) throw new Refusal('invalid', `there is a file at \`${shown(path)}\``, { path: 'out' });
    if (!identity.bootstrapped && !hasTerminal()) {
      throw new Refusal('no_terminal', 'the first approver is confirmed at a terminal');
    }
    const passphrase = await readPassphrase(options.passphraseFrom, `A passphrase for the key of ${person}`, true);
    const made = await app.makeKey(identity.ledger_id, person, passphrase, path);
    output.note(`key file: ${shown(path)}`);
    if (!identity.bootstrapped) {
      await confirmFirst(output, opened, made.path, made.code);
      output.value({ person, key_file: path, confirmed: true });
      output.line(`${paint.good('confirmed')}: ${person} may approve, and is the operator of this ledger`);
      return undefined;
    }
    const change = {
      change: 'add-key' as const,
      person,
      roles: ['approver' as const],
      public_key: made.publicKey,
    };
    const issued = await opened.requestAct({ kind: 'registry', change });
    output.value({ person, key_file: path, confirmed: false, code: made.code, request_id: issued.request.request_id });
    output.line(`code: ${made.code}`);
    output.note('compare the code, and sign:');
    noteSigners(output, issued);
    return undefined;
  };
}

/** The bootstrap ceremony: the code that the gate shows is typed at the terminal of the store's owner. */
export async function confirmFirst(output: Output, opened: OpenGate, path: string, code: string): Promise<void> {
  const { bootstrapApprover } = await import('../../app/internal.js');
  output.line(`The code of this key is ${paint.bold(code)}.`);
  const typed = await askText('Type the code to make it the key of the first approver');
  const { ledger_id } = await opened.identity();
  await bootstrapApprover(opened.ledger, ledger_id, readFileSync(path, 'utf8'), typed, 'terminal');
}

export interface SignOptions {
  readonly key?: string;
  readonly passphraseFrom?: string;
  readonly deny?: boolean;
  readonly reason?: string;
  readonly sendBack?: boolean;
  readonly out?: string;
}

/** Shows a request in full, signs it, and hands the receipt in (or writes it to a file). */
export function sign(requestId: string, options: SignOptions): Command {
  return async ({ gate, output }) => {
    const app = await import('../../app/index.js');
    const opened = await gate();
    const asked = await opened.requestDetails(requestId);
    if (asked.state !== 'open') throw new Refusal('replay', 'the request was signed already');
    const denies = options.deny === true && asked.request.kind === 'action';
    const details = denies ? await askDenial(opened, asked.request) : asked;
    const { request, summary } = details;
    for (const line of summary) output.line(line);
    if (asked.preview !== undefined) output.line(previewText(asked.preview.text));
    const verdict = denies ? paint.bad('DENY') : paint.good(request.kind === 'action' ? 'APPROVE' : 'SIGN');
    output.note(`${verdict} as ${shown(request.approver)}, until ${timeText(request.exp, Date.now())}`);
    const path = options.key ?? join(opened.home.keysFolder, `${request.approver.slice('human:'.length)}.key`);
    const text = new TextDecoder().decode(readContent(path));
    const passphrase = await readPassphrase(
      options.passphraseFrom,
      `Passphrase of ${shown(request.approver)} to sign this`,
    );
    const receipt = app.signWith(await app.unlockKey(text, passphrase), request);
    if (options.out !== undefined) {
      writeFileSync(options.out, `${JSON.stringify(receipt)}\n`, { mode: 0o600 });
      output.value({ request_id: request.request_id, receipt: resolve(options.out) });
      output.line(`signed: ${shown(options.out)}`);
      return undefined;
    }
    const denial = { words: options.reason ?? null, sendBack: options.sendBack === true };
    const done = denies ? await opened.approve(request.subject, receipt, denial) : await opened.submit(receipt);
    output.value(done);
    const missing = 'missing' in done ? (done.missing ?? 0) : 0;
    const carried = request.kind !== 'action' && missing === 0;
    output.line(paint.good(denies ? 'denied' : carried ? 'signed and carried out' : 'signed'));
    if (missing > 0) output.note(`${missing} more has to sign the same`);
    if (!denies && request.kind === 'action') output.note(`next: countersign action fetch-receipt ${request.subject}`);
    return undefined;
  };
}

/** A denial is a request of its own: its signature says deny. */
function askDenial(opened: OpenGate, request: { readonly subject: string; readonly approver: string }) {
  return opened.request(request.subject, { approver: request.approver, decision: 'deny' });
}

export function listApprovers(): Command {
  return async ({ gate, output }) => {
    const { personKind, keyKind } = await import('../../app/index.js');
    const { ledger } = await gate();
    const people = await Promise.all(
      (await ledger.list({ kind: 'person' })).rows.map((row) => ledger.read(personKind, row.id)),
    );
    const keys = await Promise.all(
      (await ledger.list({ kind: 'key' })).rows.map((row) => ledger.read(keyKind, row.id)),
    );
    const states = people.flatMap((person) => (person === undefined ? [] : [person.state]));
    const keyStates = keys.flatMap((known) => (known === undefined ? [] : [known.state]));
    output.value({ people: states, keys: keyStates });
    const rows = states.flatMap((person) =>
      keyStates
        .filter((known) => known.person === person.person)
        .map((known) => [
          shown(person.person),
          person.roles.join(', '),
          person.state,
          `${known.state}, software key`,
          known.key_id,
        ]),
    );
    await writeTable(output, ['person', 'roles', 'state', 'key', 'key id'], rows);
    return undefined;
  };
}

/** Nobody is asked to sign for a key or a person that there is not. */
async function demandKnown({ ledger }: OpenGate, name: string): Promise<void> {
  const { personKind, keyKind } = await import('../../app/index.js');
  const known = PATTERNS.sha256.test(name) ? await ledger.read(keyKind, name) : await ledger.read(personKind, name);
  if (known !== undefined) return;
  throw new Refusal('not_found', 'no such key or person is registered', { next: 'see `countersign approver list`' });
}

/** Asks an operator to revoke a key (`sha256:…`) or remove a person. */
export function revoke(name: string): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const change = PATTERNS.sha256.test(name)
      ? { change: 'revoke-key' as const, key_id: name }
      : { change: 'remove-person' as const, person: personOf(name) };
    await demandKnown(opened, change.change === 'revoke-key' ? change.key_id : change.person);
    const issued = await opened.requestAct({ kind: 'registry', change });
    output.value(issued);
    for (const line of issued.summary) output.line(line);
    noteSigners(output, issued);
    return undefined;
  };
}

/** Who signs what next: an act may need more than one. */
export function noteSigners(output: Output, { request, also }: Awaited<ReturnType<OpenGate['requestAct']>>): void {
  for (const one of [request, ...also]) {
    output.note(`next: ${shown(one.approver)}: countersign approver sign ${one.request_id}`);
  }
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
    const { request } = verdict;
    const what = request.kind === 'action' ? `${request.kind} ${request.decision}` : request.kind;
    output.line(`${paint.good('good')}: ${shown(request.approver)} signed ${what} for ${shown(request.subject)}`);
    output.line(`fingerprint ${request.digest}`);
    return undefined;
  };
}
