/** The thread that the gate writes behind its commits: exactly once, chained, covered, readable. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { Fault, importPrivateKey, type PrivateKey, Refusal } from '../core/index.js';
import {
  type Kind,
  type LedgerEvent,
  LocalLedger,
  MemoryStore,
  type NewEvent,
  registerKinds,
} from '../ledger/index.js';
import { readEntries, readThread, type ThreadSource } from './read.js';
import type { Message } from './schema.js';
import { signerOf } from './sign.js';
import { type ThreadEntry, threadKind, threadProjection } from './stored.js';
import { verifyThread } from './thread.js';
import { decodeMessage, encodeMessage } from './wire.js';

const KEY = importPrivateKey(new Uint8Array(32).fill(7)) as PrivateKey;
const GATE = signerOf(KEY).name;

/** A kind of record whose events say what the thread shall be told. */
type Note = { readonly notes: number };
const noteKind: Kind<Note> = {
  name: 'package',
  version: 1,
  evolve: (state) => ({ notes: (state?.notes ?? 0) + 1 }),
  columns: () => ({}),
};

type Told = { readonly thread: string; readonly text: string; readonly intent?: 'assert' | 'escalate' };

function entryOf(event: LedgerEvent): ThreadEntry | undefined {
  if (event.record.kind !== 'package') return undefined;
  const { thread, text, intent = 'assert' } = event.data as Told;
  return thread === '' ? undefined : { thread, intent, text };
}

function openLedger(): LocalLedger {
  let now = 1_800_000_000_000;
  return new LocalLedger({
    store: new MemoryStore('0'.repeat(32)),
    kinds: registerKinds([noteKind, threadKind]),
    clock: { now: () => (now += 1), monotonic: () => now },
    random: { bytes: (count) => new Uint8Array(count) },
    projections: [threadProjection({ signer: KEY, entryOf })],
  });
}

/** One unit of work that notes all of `told` on one record. */
function note(ledger: LocalLedger, id: string, told: readonly Told[]) {
  const record = { kind: 'package', id } as const;
  const events: NewEvent[] = told.map((data) => ({ record, type: 'noted', data }));
  return ledger.commit({ actor: 'agent:bot', writes: [record], decide: () => ({ events, outcome: null }) });
}

async function entriesOf(ledger: ThreadSource, thread: string, from = 0): Promise<Message[]> {
  const entries: Message[] = [];
  for await (const entry of readThread(ledger, thread, from)) entries.push(entry);
  return entries;
}

function threadEvents(ledger: LocalLedger, id: string) {
  return ledger.events({ kind: 'thread', id });
}

const hello = (text: string, thread = 'shop'): Told => ({ thread, text });

test('an entry says what happened, by whom it is known, and which event is the evidence', async () => {
  verifies('messages.projection.once');
  const ledger = openLedger();
  await note(ledger, 'p-1', [hello('first')]);
  await note(ledger, 'p-1', [{ ...hello('second'), intent: 'escalate' }]);
  const [first, second] = (await ledger.events({ kind: 'package', id: 'p-1' })) as [LedgerEvent, LedgerEvent];
  const entries = await entriesOf(ledger, 'shop');
  assert.equal(entries.length, 2);
  const { signature: _, ...told } = entries[1] as Message;
  assert.deepEqual(told, {
    version: 'v1',
    id: 'package/p-1/1',
    thread_id: 'shop',
    intent: 'escalate',
    epistemic: 'verified',
    confidence: 1,
    prev_hash: (await threadEvents(ledger, 'shop'))[0]?.data.head,
    provenance: { source: 'engine:gate', evidence: [second.hash] },
    payload: 'second',
    signer: GATE,
  });
  assert.equal(entries[0]?.prev_hash, undefined);
  assert.deepEqual(entries[0]?.provenance.evidence, [first.hash]);
});

test('a batch makes one event and one payload for each thread, and nothing where nothing is told', async () => {
  verifies('messages.projection.one-event');
  const ledger = openLedger();
  const silent = { thread: '', text: 'x' };
  await Promise.all([
    note(ledger, 'p-1', [hello('a'), hello('b', 'other'), silent, hello('c')]),
    note(ledger, 'p-2', [hello('d')]),
    note(ledger, 'p-3', [silent]),
  ]);
  const events = await threadEvents(ledger, 'shop');
  assert.equal(events.length, 1);
  const head = (await ledger.read(threadKind, 'shop'))?.state.head;
  assert.deepEqual(events[0]?.data, { first: 0, count: 3, head });
  assert.equal(events[0]?.payloads.length, 1);
  assert.equal(events[0]?.type, 'entries-appended');
  assert.equal((await threadEvents(ledger, 'other')).length, 1);
  assert.deepEqual(
    (await entriesOf(ledger, 'shop')).map((entry) => entry.id),
    ['package/p-1/0', 'package/p-1/3', 'package/p-2/0'],
  );
  await note(ledger, 'p-3', [silent]);
  assert.equal((await threadEvents(ledger, 'shop')).length, 1);
  const bytes = await ledger.payload({ kind: 'thread', id: 'shop' }, 0, events[0]?.payloads[0] as string);
  const lines = (await entriesOf(ledger, 'shop')).map((entry) => `${encodeMessage(entry)}\n`);
  assert.equal(Buffer.from(bytes as Uint8Array).toString('utf8'), lines.join(''));
  assert.deepEqual((await ledger.verify()).defects, []);
});

test('only the last entry of a batch is signed, by the gate, and covers the rest', async () => {
  verifies('messages.projection.covered');
  const ledger = openLedger();
  await note(ledger, 'p-1', [hello('a'), hello('b'), hello('c')]);
  await note(ledger, 'p-1', [hello('d')]);
  const entries = await entriesOf(ledger, 'shop');
  assert.deepEqual(
    entries.map((entry) => entry.signer),
    [undefined, undefined, GATE, GATE],
  );
  const report = await verifyThread(entries, { signatures: 'cover', keys: [GATE] });
  const { state } = (await ledger.read(threadKind, 'shop')) as { state: object };
  assert.deepEqual([report.ok, { count: report.count, head: report.head }], [true, state]);
  assert.equal((await verifyThread(entries, { signatures: 'each' })).defect?.index, 0);
});

test('whatever work comes in whatever batches, each event is told once and the thread verifies', async () => {
  verifies('messages.projection.once');
  verifies('messages.projection.covered');
  const told = fc.record({ thread: fc.constantFrom('', 'shop', 'other'), text: fc.string({ unit: 'binary' }) });
  const unit = fc.record({
    id: fc.constantFrom('p-1', 'p-2', 'p-3'),
    told: fc.array(told, { minLength: 1, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(unit, { maxLength: 4 }), { maxLength: 4 }), async (batches) => {
      const ledger = openLedger();
      for (const units of batches) await Promise.all(units.map((one) => note(ledger, one.id, one.told)));
      const log = await ledger.log(0);
      for (const thread of ['shop', 'other']) {
        const expected = log.flatMap(({ event }) =>
          entryOf(event)?.thread === thread ? [`package/${event.record.id}/${event.revision}`] : [],
        );
        if (expected.length === 0) continue;
        const entries = await entriesOf(ledger, thread);
        assert.deepEqual(
          entries.map((entry) => entry.id),
          expected,
        );
        const report = await verifyThread(entries, { signatures: 'cover', keys: [GATE] });
        assert.deepEqual([report.ok, report.count], [true, expected.length]);
      }
      assert.deepEqual((await ledger.verify()).defects, []);
    }),
    { numRuns: 60 },
  );
});

test('a refused unit of work is told to nobody', async () => {
  verifies('messages.projection.once');
  const ledger = openLedger();
  const record = { kind: 'package', id: 'p-1' } as const;
  const refused = ledger.commit({
    actor: 'agent:bot',
    writes: [record],
    decide: () => new Refusal('state', 'not now'),
  });
  await Promise.all([assert.rejects(refused), note(ledger, 'p-2', [hello('a')])]);
  assert.deepEqual(
    (await entriesOf(ledger, 'shop')).map((entry) => entry.id),
    ['package/p-2/0'],
  );
});

test('a text is redacted, displayable and never blank', async () => {
  verifies('messages.projection.readable');
  const ledger = openLedger();
  const texts = [
    'token ghp_0123456789abcdefABCDEF here',
    'two\nlines and \u202e',
    '<b>&</b> \u00e9 \ud83d\ude00',
    '',
    ' \t ',
    '   ',
  ];
  await note(
    ledger,
    'p-1',
    texts.map((text) => hello(text)),
  );
  assert.deepEqual(
    (await entriesOf(ledger, 'shop')).map((entry) => entry.payload),
    [
      'token [redacted] here',
      'two\\u{a}lines and \\u{202e}',
      '<b>&</b> \u00e9 \ud83d\ude00',
      'noted',
      ' \\u{9} ',
      'noted',
    ],
  );
});

test('the projection is a pure function, of texts without bytes too', () => {
  verifies('messages.projection.readable');
  const projection = threadProjection({
    signer: KEY,
    entryOf: () => ({ thread: 'shop', intent: 'assert', text: 'half \ud800' }),
  });
  const event: LedgerEvent = {
    ...{ record: { kind: 'package', id: 'p-1' }, revision: 3, type: 'noted', at: 1, actor: 'agent:bot', data: {} },
    ...{ payloads: [], prev: null, hash: `sha256:${'a'.repeat(64)}` },
  };
  const view = { now: 1, get: () => undefined };
  assert.deepEqual(projection.targets([event, event], view), [{ kind: 'thread', id: 'shop' }]);
  assert.deepEqual(projection.project([event], view), projection.project([event], view));
  const [appended] = projection.project([event], view);
  assert.equal(decodeMessage(String(appended?.payloads?.[0]?.bytes).trimEnd()).payload, 'half \\u{d800}');
  assert.deepEqual(projection.targets([], view), []);
  assert.deepEqual(projection.project([], view), []);
});

test('a thread is read from any index, over pages of events and of entries', async () => {
  verifies('messages.read.pages');
  const ledger = openLedger();
  // 450 events of one to three entries: 900 entries.
  for (let at = 0; at < 450; at += 1)
    await note(
      ledger,
      'p-1',
      Array.from({ length: (at % 3) + 1 }, () => hello(`${at}`)),
    );
  const all = await entriesOf(ledger, 'shop');
  assert.equal(all.length, 900);
  for (const from of [0, 1, 2, 3, 199, 200, 399, 401, 599, 897, 898, 899]) {
    const page = await readEntries(ledger, 'shop', from, 5);
    assert.deepEqual(page.entries, all.slice(from, from + 5));
    assert.equal(page.next, from + 5 < 900 ? from + 5 : undefined);
    assert.equal((await entriesOf(ledger, 'shop', from)).length, 900 - from);
  }
  assert.deepEqual(await readEntries(ledger, 'shop', 900), { entries: [] });
  assert.deepEqual(await readEntries(ledger, 'shop', 5_000), { entries: [] });
  const walked: Message[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const page = await readEntries(ledger, 'shop', from, 1_000);
    assert.ok(page.entries.length <= 200);
    walked.push(...page.entries);
    from = page.next;
  }
  assert.deepEqual(walked, all);
});

/** The same ledger with other payloads. */
function withPayloads(
  ledger: LocalLedger,
  change: (bytes: Uint8Array, revision: number) => Uint8Array | undefined,
): ThreadSource {
  return {
    read: (kind, id) => ledger.read(kind, id),
    events: (ref, from) => ledger.events(ref, from),
    payload: async (ref, revision, address) => {
      const bytes = await ledger.payload(ref, revision, address);
      return bytes && change(bytes, revision);
    },
  };
}

test('what is not there is refused by name, and the reader can go on behind it', async () => {
  verifies('messages.read.refusals');
  const ledger = openLedger();
  const isNotFound = (error: unknown) => error instanceof Refusal && error.code === 'not_found';
  await assert.rejects(entriesOf(ledger, 'shop'), isNotFound);
  for (const from of [-1, 0.5, Number.NaN]) {
    await assert.rejects(entriesOf(ledger, 'shop', from), (error) => error instanceof Refusal && error.path === 'from');
  }
  await note(ledger, 'p-1', [hello('a'), hello('b')]);
  await note(ledger, 'p-1', [hello('c'), hello('d')]);
  await note(ledger, 'p-1', [hello('e')]);
  const erased = withPayloads(ledger, (bytes, revision) => (revision === 1 ? undefined : bytes));
  const before: Message[] = [];
  const reading = async () => {
    for await (const entry of readThread(erased, 'shop')) before.push(entry);
  };
  await assert.rejects(reading(), (error) => {
    assert.ok(isNotFound(error));
    const { details, message } = error as Refusal;
    assert.deepEqual(details, { first: 2, count: 2 });
    assert.match(message, /entries 2 to 3 .* erased/);
    return true;
  });
  assert.deepEqual(
    before.map((entry) => entry.payload),
    ['a', 'b'],
  );
  assert.deepEqual(
    (await entriesOf(erased, 'shop', 4)).map((entry) => entry.payload),
    ['e'],
  );
});

test('bytes that are no entries of the thread are a fault', async () => {
  verifies('messages.read.refusals');
  const ledger = openLedger();
  await note(ledger, 'p-1', [hello('a'), hello('b')]);
  await note(ledger, 'p-1', [hello('c', 'other'), hello('d', 'other')]);
  const [foreign] = await threadEvents(ledger, 'other');
  const other = await ledger.payload({ kind: 'thread', id: 'other' }, 0, foreign?.payloads[0] as string);
  const texts = (change: (text: string) => string) => (bytes: Uint8Array) =>
    Buffer.from(change(Buffer.from(bytes).toString('utf8')), 'utf8');
  const changes = [
    texts((text) => text.slice(0, -1)),
    texts((text) => text.slice(0, text.indexOf('\n') + 1)),
    texts((text) => `${text}\n`),
    texts((text) => text.replace('"v1"', '"v2"')),
    texts((text) => text.replace('{', '[')),
    texts(() => ''),
    () => new Uint8Array([0xff, 0x0a, 0x0a]),
    () => other as Uint8Array,
  ];
  for (const change of changes) {
    await assert.rejects(
      entriesOf(withPayloads(ledger, change), 'shop'),
      (error) => error instanceof Fault && error.code === 'corrupt' && error.path === 'thread/shop#0',
    );
  }
  const gap: ThreadSource = {
    read: (kind, id) => ledger.read(kind, id),
    events: async (ref, from) =>
      (await ledger.events(ref, from)).map((event) => ({ ...event, data: { ...event.data, first: 1 } })),
    payload: (ref, revision, address) => ledger.payload(ref, revision, address),
  };
  await assert.rejects(entriesOf(gap, 'shop'), (error) => error instanceof Fault && error.code === 'corrupt');
});
