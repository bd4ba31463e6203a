/**
 * Reads a stored thread back, message by message, a page of events at a time.
 *
 * It promises entries in their order without gaps, each strictly decoded, from bytes whose digest the ledger has
 * checked; whether they are chained and signed, `verifyThread` says. It refuses `not_found` for a thread that does
 * not exist and for entries that were erased, and faults `corrupt` for bytes that are no entries of this thread.
 * Source: spec messages (threads, stored), ledger (erasure).
 */
import { Fault, LIMITS, Refusal, utf8Decode } from '../core/index.js';
import type { Ledger, LedgerEvent } from '../ledger/index.js';
import type { Message } from './schema.js';
import { ENTRIES_APPENDED, type EntriesAppended, threadKind, threadRecord } from './stored.js';
import { decodeMessage } from './wire.js';

/** What reading needs of a ledger. */
export type ThreadSource = Pick<Ledger, 'read' | 'events' | 'payload'>;

/** The entries of a thread from index `from` on, counted from 0, to its end as it stands when the last is read. */
export async function* readThread(
  ledger: ThreadSource,
  thread: string,
  from = 0,
): AsyncGenerator<Message, void, undefined> {
  if (!Number.isSafeInteger(from) || from < 0) throw new Refusal('invalid', 'this is not a place', { path: 'from' });
  const record = await ledger.read(threadKind, thread);
  if (record === undefined) throw new Refusal('not_found', 'there is no such thread');
  let revision = from === 0 ? 0 : await findRevision(ledger, thread, from, record.revision);
  let next = from;
  for (;;) {
    const events = await ledger.events(threadRecord(thread), revision);
    for (const event of events) {
      revision = event.revision + 1;
      const appended = appendedBy(event);
      if (appended === undefined || appended.first + appended.count <= next) continue;
      if (from === next ? appended.first > next : appended.first !== next) throw corrupt(event, 'entries are missing');
      const lines = await linesOf(ledger, event, appended);
      for (const line of lines.slice(next - appended.first)) yield decode(event, line);
      next = appended.first + appended.count;
    }
    if (events.length === 0) return;
  }
}

/** A page of a thread. */
export interface EntriesPage {
  readonly entries: readonly Message[];
  /** The `from` of the next page; absent when this one reaches the end. */
  readonly next?: number;
}

/** At most `limit` (200) entries from index `from` on. */
export async function readEntries(
  ledger: ThreadSource,
  thread: string,
  from = 0,
  limit: number = LIMITS.pageRowsMax,
): Promise<EntriesPage> {
  const wanted = Math.max(1, Math.min(limit, LIMITS.pageRowsMax));
  const entries: Message[] = [];
  for await (const entry of readThread(ledger, thread, from)) {
    if (entries.length === wanted) return { entries, next: from + wanted };
    entries.push(entry);
  }
  return { entries };
}

/** A revision at or shortly before the event that holds entry `index`. An event holds one entry or more. */
async function findRevision(ledger: ThreadSource, thread: string, index: number, last: number): Promise<number> {
  let low = 0;
  let high = Math.min(index, last);
  while (high - low > LIMITS.pageRowsMax) {
    const middle = Math.floor((low + high) / 2);
    const [event] = await ledger.events(threadRecord(thread), middle);
    const appended = event && appendedBy(event);
    if (appended === undefined || appended.first > index) high = middle;
    else low = middle;
  }
  return low;
}

function appendedBy(event: LedgerEvent): EntriesAppended | undefined {
  return event.type === ENTRIES_APPENDED ? (event.data as EntriesAppended) : undefined;
}

async function linesOf(
  ledger: ThreadSource,
  event: LedgerEvent,
  appended: EntriesAppended,
): Promise<readonly string[]> {
  const [address] = event.payloads;
  if (address === undefined) throw corrupt(event, 'the event names no entries');
  const bytes = await ledger.payload(event.record, event.revision, address);
  if (bytes === undefined) {
    const { first, count } = appended;
    throw new Refusal('not_found', `entries ${first} to ${first + count - 1} of the thread were erased`, {
      details: { first, count },
      next: `read from entry ${first + count} on`,
    });
  }
  const lines = utf8Decode(bytes)?.split('\n') ?? [];
  if (lines.pop() !== '' || lines.length !== appended.count)
    throw corrupt(event, 'the entries are not as many as told');
  return lines;
}

function decode(event: LedgerEvent, line: string): Message {
  try {
    const message = decodeMessage(line);
    if (message.thread_id !== event.record.id) throw corrupt(event, 'an entry is of another thread');
    return message;
  } catch (error) {
    throw error instanceof Fault ? error : corrupt(event, 'an entry is no message', error);
  }
}

function corrupt(event: LedgerEvent, what: string, cause?: unknown): Fault {
  return new Fault('corrupt', what, cause, { path: `thread/${event.record.id}#${event.revision}` });
}
