/**
 * A project's thread as the ledger holds it: the record's kind, and the projection that writes entries behind each
 * commit.
 *
 * One batch of the ledger makes one event for each thread that it touches, with all its entries as lines of one
 * payload, so that a busy gate writes few rows. Entries are chained by `prev_hash` and unsigned but the last of each
 * batch, which the gate's key signs: it covers the rest. Only the gate writes a project's thread, exactly once for
 * each event. Texts are redacted and made displayable here, so that no part can forget it. Pure.
 * Source: spec actions (the thread), messages (threads, stored).
 */
import { assert, contentRef, displayText, type PrivateKey, redact } from '../core/index.js';
import {
  isRecordId,
  type Kind,
  type LedgerEvent,
  type NewEvent,
  type Projection,
  type ProjectionView,
  type RecordRef,
  recordName,
} from '../ledger/index.js';
import { canonicalMessage, hashText } from './canonical.js';
import { MESSAGE_VERSION, type Message } from './schema.js';
import { type Signer, signedCanonical, signerOf } from './sign.js';
import { isBlank } from './validate.js';

/** Where a thread stands. */
export type ThreadState = {
  /** Entries so far. */
  readonly count: number;
  /** Hash of the last entry; null before the first. */
  readonly head: string | null;
};

/** What the event `entries-appended` says; the entries themselves are its one payload. */
export type EntriesAppended = {
  /** Index of the first of these entries, counted from 0. */
  readonly first: number;
  readonly count: number;
  /** Hash of the last of them. */
  readonly head: string;
};

export const ENTRIES_APPENDED = 'entries-appended';

function threadAfter(event: LedgerEvent): ThreadState {
  assert(event.type === ENTRIES_APPENDED, 'a thread has events of one type');
  const { first, count, head } = event.data as EntriesAppended;
  return { count: first + count, head };
}

export const threadKind: Kind<ThreadState> = {
  name: 'thread',
  version: 1,
  keepsDocument: true,
  evolve: (state, event) => {
    const after = threadAfter(event);
    // Whoever counts from another number than the thread stands at has not seen the thread.
    assert(
      (event.data as EntriesAppended).first === (state?.count ?? 0),
      'entries that begin elsewhere than the thread ends',
    );
    return after;
  },
  ofLast: threadAfter,
  columns: () => ({}),
};

/** What the thread is told about one event. */
export interface ThreadEntry {
  /** The thread's id: the project. */
  readonly thread: string;
  readonly intent: 'assert' | 'escalate';
  /** One line for people; it may hold anything, it is redacted and made displayable. */
  readonly text: string;
}

export interface ThreadProjectionOptions {
  /** The gate's key. */
  readonly signer: PrivateKey;
  /** What an event adds to which thread, if anything. Pure. */
  entryOf(event: LedgerEvent, view: ProjectionView): ThreadEntry | undefined;
}

interface Cause {
  readonly event: LedgerEvent;
  readonly entry: ThreadEntry;
}

export function threadProjection({ signer, entryOf }: ThreadProjectionOptions): Projection {
  const gate = signerOf(signer);
  const group = (batch: readonly LedgerEvent[], view: ProjectionView) => groupByThread(batch, view, entryOf);
  return {
    name: 'threads',
    targets: (batch, view) => [...group(batch, view).keys()].map(threadRecord),
    project: (batch, view) =>
      [...group(batch, view)].map(([thread, causes]) =>
        appendEntries(thread, causes, view.get(threadKind, thread)?.state, gate),
      ),
  };
}

export function threadRecord(thread: string): RecordRef {
  return { kind: 'thread', id: thread };
}

function groupByThread(
  batch: readonly LedgerEvent[],
  view: ProjectionView,
  entryOf: ThreadProjectionOptions['entryOf'],
): ReadonlyMap<string, readonly Cause[]> {
  const threads = new Map<string, Cause[]>();
  for (const event of batch) {
    const entry = entryOf(event, view);
    if (entry === undefined) continue;
    assert(isRecordId(entry.thread), 'a thread has the id of a record');
    const causes = threads.get(entry.thread);
    if (causes === undefined) threads.set(entry.thread, [{ event, entry }]);
    else causes.push({ event, entry });
  }
  return threads;
}

// INVARIANT: messages.projection.covered
function appendEntries(
  thread: string,
  causes: readonly Cause[],
  state: ThreadState | undefined,
  gate: Signer,
): NewEvent {
  let head = state?.head ?? null;
  let lines = '';
  causes.forEach((cause, at) => {
    const message = entryMessage(thread, cause, head);
    const text = at === causes.length - 1 ? signedCanonical(gate, message) : canonicalMessage(message);
    head = hashText(text);
    lines += `${text}\n`;
  });
  const data = { first: state?.count ?? 0, count: causes.length, head };
  const payloads = [{ ref: contentRef(lines), bytes: lines }];
  return { record: threadRecord(thread), type: ENTRIES_APPENDED, data, payloads };
}

function entryMessage(thread: string, { event, entry }: Cause, head: string | null): Message {
  return {
    version: MESSAGE_VERSION,
    id: `${recordName(event.record)}/${event.revision}`,
    thread_id: thread,
    intent: entry.intent,
    epistemic: 'verified',
    confidence: 1,
    ...(head === null ? {} : { prev_hash: head }),
    provenance: { source: 'engine:gate', evidence: [event.hash] },
    payload: payloadOf(entry.text, event),
  };
}

/** An entry without words would be no valid message, and must not stop the commit that it follows. */
function payloadOf(text: string, event: LedgerEvent): string {
  const shown = displayText(redact(text) as string);
  return isBlank(shown) ? event.type : shown;
}
