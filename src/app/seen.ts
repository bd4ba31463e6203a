/**
 * What this gate remembers of its ledger outside the store: (ledger_id, epoch, sequence, log hash). A store that
 * does not contain it was rolled back or replaced, and launches nothing until a person accepts it.
 * Source: spec authority (identity of the ledger).
 */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { readPlainFile } from '../connectors/index.js';
import {
  canonicalize,
  Fault,
  isJsonObject,
  type JsonObject,
  LIMITS,
  PATTERNS,
  Refusal,
  readJson,
} from '../core/index.js';
import type { Ledger, LogHead } from '../ledger/index.js';

export type Seen = {
  /** A copy was put in the place of the store since: whatever stands there waits for a person. */
  readonly placed?: true;
  readonly ledger_id: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly log_hash: string;
};

/** Refuses `ledger_rolled_back` for a memory that is damaged or can't be read: it can't vouch for anything. */
export function readSeen(path: string): Seen | undefined {
  if (!existsSync(path)) return undefined;
  const { placed, ledger_id, epoch, sequence, log_hash } = objectIn(path);
  const valid =
    typeof ledger_id === 'string' &&
    PATTERNS.ledgerId.test(ledger_id) &&
    (placed === undefined || placed === true) &&
    Number.isSafeInteger(epoch) &&
    (epoch as number) >= 0 &&
    (epoch as number) <= LIMITS.epochMax &&
    Number.isSafeInteger(sequence) &&
    (sequence as number) >= 0 &&
    typeof log_hash === 'string' &&
    PATTERNS.sha256.test(log_hash);
  if (!valid) throw new Refusal('ledger_rolled_back', 'what this gate remembers of its ledger is damaged');
  const seen = { ledger_id, epoch: epoch as number, sequence: sequence as number, log_hash };
  return placed === true ? { placed, ...seen } : seen;
}

/** As `readSeen`; undefined also where it is damaged. */
export function seenIn(path: string): Seen | undefined {
  try {
    return readSeen(path);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Refuses a memory that this user may not read: what it says is not given up. */
export function demandReadable(path: string): void {
  objectIn(path);
}

/** The object in a file; an empty one for whatever else stands there. Refuses what this user may not read. */
function objectIn(path: string): JsonObject {
  const read = readPlainFile(path, 65_536);
  if (!read.ok && read.reason === 'unreadable') {
    // Nothing is lost: accepting the store as it is would give up what the file says.
    const next = `make it readable for its owner: chmod 600 ${path}`;
    throw new Refusal('ledger_rolled_back', 'what this gate remembers of its ledger can not be read', { next });
  }
  const json = read.ok ? readJson(read.bytes) : undefined;
  return json?.ok === true && isJsonObject(json.value) ? json.value : {};
}

/** Replaces the memory, in one step, unless another process of this gate remembers more of the same epoch. */
export function writeSeen(path: string, seen: Seen, options: { readonly force?: boolean } = {}): void {
  try {
    const known = options.force === true ? undefined : readSeen(path);
    const older = known !== undefined && known.epoch === seen.epoch && known.sequence >= seen.sequence;
    if (older && known.ledger_id === seen.ledger_id) return;
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, `${canonicalize(seen)}\n`, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    throw new Fault('store', 'the gate could not write down what it has seen', error);
  }
}

/** Whether the store contains what was seen; undefined when it does. */
export async function rollbackBarrier(
  ledger: Ledger,
  ledgerId: string,
  epoch: number,
  seen: Seen | undefined,
): Promise<Refusal | undefined> {
  // Every home gets its memory with its ledger: one without is new to this store, and can't vouch for it.
  if (seen === undefined) return new Refusal('ledger_rolled_back', 'this gate remembers nothing of its ledger');
  if (seen.ledger_id !== ledgerId)
    return new Refusal('ledger_rolled_back', 'another ledger stands where this gate knew its own');
  if (seen.placed === true) return new Refusal('ledger_rolled_back', 'a backup was put in the place of the store');
  if (seen.epoch > epoch) return new Refusal('ledger_rolled_back', 'the store is from before a restore');
  if (seen.sequence === 0) return undefined;
  const [entry] = await ledger.log(seen.sequence - 1, 1);
  if (entry?.logHash === seen.log_hash) return undefined;
  return new Refusal('ledger_rolled_back', 'the store misses what this gate has seen');
}

export function seenOf(ledgerId: string, epoch: number, head: LogHead): Seen {
  return { ledger_id: ledgerId, epoch, sequence: head.sequence, log_hash: head.logHash };
}
