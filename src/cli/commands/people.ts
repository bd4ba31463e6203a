/**
 * Who signs: keys and passkeys, being away, the list of people, and the ceremonies at the terminal. Nothing here makes
 * a command a person: a signature or a code that is typed does.
 */
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { isoTime, PATTERNS, Refusal } from '../../core/index.js';
import { type Output, paint, shown, writeTable } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { askText, hasTerminal, readPassphrase } from '../terminal.js';
import { readKey } from './key-file.js';
import { readText } from './propose.js';

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
      const held = await readKey(path);
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
    const roles = ['approver' as const];
    const issued = await opened.requestAct({
      kind: 'registry',
      change: { change: 'add-key', person, roles, public_key: made.publicKey },
    });
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
  await bootstrapApprover(opened.ledger, ledger_id, readText(path), typed, 'terminal');
}

export interface PasskeyOptions {
  readonly credential: string;
  readonly publicKey: string;
}

/** Asks for a passkey to be registered whose id and public key its person handed over, and shows its code. */
export function passkey(name: string, { credential, publicKey }: PasskeyOptions): Command {
  return async ({ gate, output }) => {
    const { confirmationCode } = await import('../../app/index.js');
    const { passkeyAlgorithm } = await import('../../app/internal.js');
    if (passkeyAlgorithm(publicKey) === undefined) {
      const next = 'hand over the COSE key of the registration as lower-case hex';
      throw new Refusal('invalid', 'this is no sound public key of P-256 with ES256, or of Ed25519', { next });
    }
    const opened = await gate();
    const person = personOf(name);
    const change = { change: 'add-passkey' as const, person, roles: ['approver' as const], credential };
    const issued = await opened.requestAct({ kind: 'registry', change: { ...change, public_key: publicKey } });
    const code = confirmationCode((await opened.identity()).ledger_id, publicKey);
    output.value({ person, code, request_id: issued.request.request_id });
    output.line(`code: ${code}`);
    output.note(`compare it with the code that ${shown(person)} sees, and sign:`);
    noteSigners(output, issued);
    return undefined;
  };
}

/** The ceremony of the first approver once more, for whoever lost every key that could sign. No gate may be open. */
export function recover(name: string, options: KeyOptions): Command {
  return async ({ output, options: common }) => {
    const app = await import('../../app/index.js');
    const { endOpenActions, placeKey, recoverable, recoverApprover } = await import('../../app/internal.js');
    if (!hasTerminal()) throw new Refusal('no_terminal', 'a ledger is recovered at the terminal of its owner');
    const home = app.homeAt(common.home, app.readEnvironment());
    const person = personOf(name);
    const path = resolve(options.out ?? app.keyPath(home, person));
    const { ledgerId } = await recoverable(home);
    const fresh = `${path}.new`;
    if (existsSync(fresh)) {
      const next = 'try it with `approver sign --key`: it may be the key of a recovery that was interrupted';
      throw new Refusal('invalid', `there is a file at \`${shown(fresh)}\``, { path: 'out', next });
    }
    output.note('every earlier request and receipt becomes void, and the ledger shows it for ever');
    const passphrase = await readPassphrase(options.passphraseFrom, `A passphrase for the new key of ${person}`, true);
    const made = await app.makeKey(ledgerId, person, passphrase, fresh);
    const recovered = async () => {
      output.line(`The code of this key is ${paint.bold(made.code)}.`);
      const typed = await askText('Type the code to recover the ledger with this key');
      return recoverApprover(home, readText(fresh), typed);
    };
    const done = await recovered().catch((error: unknown) => {
      // Refused is not recovered. Whatever else it was, the key may be registered: then its file is all there is.
      if (error instanceof Refusal) rmSync(fresh, { force: true });
      throw error;
    });
    const { kept } = placeKey(fresh, path, Date.now());
    output.value({ ...done, key_file: path });
    output.line(`${paint.good('recovered')}: ${person} may approve, and is an operator; epoch ${done.epoch}`);
    for (const id of done.revoked) output.note(`revoked: ${id}`);
    if (kept !== undefined) output.note(`the key file before is kept: ${shown(kept)}`);
    await endOpenActions(home);
    return undefined;
  };
}

export interface AwayOptions {
  readonly until: string;
  readonly delegate?: string;
}

/** A day or a minute in UTC, as milliseconds. */
function timeOf(text: string): number {
  const isTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}Z)?$/.test(text);
  const ms = isTime ? Date.parse(text) : Number.NaN;
  // A day that the month does not have would be another one.
  if (Number.isSafeInteger(ms) && isoTime(ms).startsWith(text.replace(/Z$/, ''))) return ms;
  throw new Refusal('usage', 'a time is a day such as `2027-01-31`, or `2027-01-31T08:00Z`', { path: 'until' });
}

/** Somebody is away, and says so by a signature; `undefined` is being back. */
export function away(name: string, options: AwayOptions | undefined): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const person = personOf(name);
    await demandKnown(opened, person);
    const until = options === undefined ? null : timeOf(options.until);
    const delegate = options?.delegate === undefined ? null : personOf(options.delegate);
    const issued = await opened.requestAct({ kind: 'registry', change: { change: 'away', person, until, delegate } });
    output.value(issued);
    for (const line of issued.summary) output.line(line);
    noteSigners(output, issued);
    return undefined;
  };
}

export function listApprovers(): Command {
  return async ({ gate, output }) => {
    const { listPeople } = await import('../../app/index.js');
    const { describeKey, describePerson } = await import('../../app/internal.js');
    const { people, keys } = await listPeople((await gate()).ledger);
    output.value({ people, keys });
    const rows = people.flatMap((person) => {
      const own = keys.filter((known) => known.person === person.person);
      const who = [shown(person.person), person.roles.join(', '), shown(describePerson(person, Date.now()))];
      if (own.length === 0) return [[...who, 'none', '']];
      return own.map((known) => [...who, describeKey(known, person), known.key_id]);
    });
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
