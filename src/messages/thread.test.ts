/** Threads: our vectors, every kind of rewriting, and a hundred thousand messages in bounded memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { ownVectors } from '../../vectors/read.js';
import { importPrivateKey, type PrivateKey } from '../core/index.js';
import { messageHash } from './canonical.js';
import { IdSet } from './id-set.js';
import type { Message } from './schema.js';
import { signerOf, signMessage } from './sign.js';
import { THREAD_DEFECTS, type ThreadDefectName, type ThreadOptions, ThreadVerifier, verifyThread } from './thread.js';

interface Threads {
  readonly about: string;
  readonly cases: readonly {
    readonly messages: readonly Message[];
    readonly signatures?: 'each' | 'cover';
    readonly keys?: readonly string[];
    readonly count: number;
    readonly head: string | null;
    readonly defect?: { readonly index: number; readonly what: ThreadDefectName };
  }[];
}

const REQUIREMENT_OF: Record<string, string> = {
  'cut-tail.json': 'messages.thread.tail',
  'edit-rechained.json': 'messages.thread.signatures',
  'resigned.json': 'messages.thread.keys',
  'stripped.json': 'messages.thread.signatures',
};

for (const { name, content } of ownVectors<Threads>('messages/thread')) {
  test(`threads, ${name.replace('.json', '')}: ${content.about}`, async () => {
    verifies(REQUIREMENT_OF[name] ?? 'messages.thread.links');
    for (const { messages, count, head, defect, ...options } of content.cases) {
      const report = await verifyThread(messages, options);
      const { id: _, refusal: __, ...found } = report.defect ?? { id: '' };
      assert.deepEqual(
        { ok: report.ok, count: report.count, head: report.head ?? null, defect: report.defect && found },
        { ok: defect === undefined, count, head, defect },
      );
      if (defect !== undefined) assert.equal(report.defect?.id, messages[defect.index]?.id);
    }
  });
}

const KEY = importPrivateKey(new Uint8Array(32).fill(7)) as PrivateKey;
const OTHER = importPrivateKey(new Uint8Array(32).fill(8)) as PrivateKey;
const MINE = signerOf(KEY).name;

function* makeThread(count: number, isSigned: (index: number) => boolean, key = KEY): Generator<Message> {
  let head: string | undefined;
  for (let index = 0; index < count; index += 1) {
    const unsigned: Message = {
      ...{ version: 'v1', id: `m-${index}`, thread_id: 't', intent: 'assert', epistemic: 'inferred', confidence: 1 },
      ...(head === undefined ? {} : { prev_hash: head }),
      ...{ provenance: { source: 'model:self' }, payload: `entry ${index}` },
    } as Message;
    const message = isSigned(index) ? signMessage(key, unsigned) : unsigned;
    head = messageHash(message);
    yield message;
  }
}

test('a verifier answers the first defect at once and for good', () => {
  verifies('messages.thread.links');
  const messages = [...makeThread(4, () => false)] as [Message, Message, Message, Message];
  const verifier = new ThreadVerifier();
  assert.equal(verifier.add(messages[0]), undefined);
  const defect = { index: 1, id: 'm-2', what: 'broken_chain' };
  assert.deepEqual(verifier.add(messages[2]), defect);
  assert.deepEqual(verifier.add(messages[1]), defect);
  assert.deepEqual(verifier.report(), { ok: false, count: 1, head: messageHash(messages[0]), defect });
});

test('an invalid message is told with the rule that it breaks, whatever its type', () => {
  verifies('messages.thread.links');
  const [message] = makeThread(1, () => false) as Iterable<Message> as [Message];
  const found = new ThreadVerifier().add({ ...message, payload: '' });
  assert.equal(found?.what, 'invalid');
  assert.equal(found?.refusal?.path, 'payload');
  for (const value of [undefined, null, 1, 'x', {}, { id: { toString: undefined } }]) {
    assert.equal(new ThreadVerifier().add(value as unknown as Message)?.what, 'invalid');
  }
});

test('a thread may come as any iterable, and reading ends at the first defect', async () => {
  verifies('messages.thread.streaming');
  let handed = 0;
  async function* source(): AsyncGenerator<Message> {
    for (const message of makeThread(10, () => true)) {
      handed += 1;
      yield handed === 4 ? { ...message, payload: 'edited' } : message;
    }
  }
  const report = await verifyThread(source(), { signatures: 'each' });
  assert.deepEqual([report.ok, report.count, report.defect?.what, handed], [false, 3, 'bad_signature', 4]);
});

test('keys without a word on signatures demand that every message is covered', async () => {
  verifies('messages.thread.keys');
  const verdict = async (messages: Iterable<Message>, options: ThreadOptions) =>
    (await verifyThread(messages, options)).defect?.what;
  assert.equal(
    await verdict(
      makeThread(3, () => false),
      { keys: [MINE] },
    ),
    'uncovered',
  );
  assert.equal(
    await verdict(
      makeThread(3, (index) => index === 2),
      { keys: [MINE] },
    ),
    undefined,
  );
  assert.equal(
    await verdict(
      makeThread(3, (index) => index === 2, OTHER),
      { keys: [MINE] },
    ),
    'untrusted_signer',
  );
  assert.equal(
    await verdict(
      makeThread(3, (index) => index === 1),
      { keys: [MINE] },
    ),
    'uncovered',
  );
  assert.equal(
    await verdict(
      makeThread(3, () => false),
      { signatures: 'none' as 'each' },
    ),
    'unsigned',
  );
});

test('a tail that is cut behind a signature shows in count and head alone', async () => {
  verifies('messages.thread.tail');
  const messages = [...makeThread(6, (index) => index % 3 === 2)];
  const whole = await verifyThread(messages, { signatures: 'cover' });
  const cut = await verifyThread(messages.slice(0, 3), { signatures: 'cover' });
  assert.deepEqual([whole.ok, cut.ok], [true, true]);
  assert.deepEqual([whole.count, cut.count], [6, 3]);
  assert.notEqual(whole.head, cut.head);
  for (const length of [1, 2, 4, 5]) {
    const report = await verifyThread(messages.slice(0, length), { signatures: 'cover' });
    assert.equal(report.defect?.what, 'uncovered');
    assert.equal(report.defect?.index, length < 3 ? 0 : 3);
  }
});

const SIGNED = [...makeThread(6, () => true)];

/** Ways to rewrite a thread of signed messages without the key. */
const rewriting = fc.oneof(
  fc.record({ how: fc.constant('drop' as const), at: fc.nat(4) }),
  fc.record({ how: fc.constant('swap' as const), at: fc.nat(4) }),
  fc.record({ how: fc.constant('copy' as const), at: fc.nat(5), to: fc.nat(6) }),
  fc.record({ how: fc.constant('edit' as const), at: fc.nat(5), text: fc.string() }),
  fc.record({ how: fc.constant('sign' as const), at: fc.nat(5) }),
);

test('no rewriting of a signed thread passes, unless it changes nothing or cuts the tail', async () => {
  verifies('messages.thread.links');
  verifies('messages.thread.signatures');
  await fc.assert(
    fc.asyncProperty(fc.array(rewriting, { minLength: 1, maxLength: 3 }), async (steps) => {
      const messages = [...SIGNED];
      for (const step of steps) {
        const message = messages[step.at];
        if (message === undefined) continue;
        if (step.how === 'drop') messages.splice(step.at, 1);
        else if (step.how === 'swap') messages.splice(step.at, 2, ...messages.slice(step.at, step.at + 2).reverse());
        else if (step.how === 'copy') messages.splice(step.to, 0, message);
        else if (step.how === 'edit') messages[step.at] = { ...message, payload: `${step.text}!` };
        else messages[step.at] = signMessage(OTHER, message);
      }
      const isPrefix = messages.every((message, at) => message === SIGNED[at]);
      const report = await verifyThread(messages, { signatures: 'each', keys: [MINE] });
      assert.equal(report.ok, isPrefix, JSON.stringify(steps));
    }),
    { numRuns: 300 },
  );
});

test('the set of ids knows every id, however many, and no other', () => {
  verifies('messages.thread.streaming');
  const ids = new IdSet();
  const known = new Set<string>();
  fc.assert(
    fc.property(fc.string(), (id) => {
      assert.equal(ids.add(id), !known.has(id));
      known.add(id);
    }),
    { numRuns: 3_000 },
  );
  for (let at = 0; at < 20_000; at += 1) assert.ok(ids.add(`number ${at}`));
  for (let at = 0; at < 20_000; at += 1) assert.ok(!ids.add(`number ${at}`));
});

test('the heap does not grow with a thread of a hundred thousand messages', async () => {
  verifies('messages.thread.streaming');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapOf = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const heaps: number[] = [];
  function* watched(): Generator<Message> {
    let index = 0;
    for (const message of makeThread(100_000, (at) => at % 1_000 === 999)) {
      index += 1;
      if (index % 45_000 === 5_000) heaps.push(heapOf());
      yield message;
    }
  }
  const report = await verifyThread(watched(), { signatures: 'cover', keys: [MINE] });
  assert.deepEqual([report.ok, report.count], [true, 100_000]);
  const [early, , late] = heaps as [number, number, number];
  assert.ok(late - early < 4 * 1024 * 1024, `the heap grew from ${early} to ${late} bytes`);
});

test('words for defects are one line, lower case, without a full stop', () => {
  for (const words of Object.values(THREAD_DEFECTS)) assert.match(words, /^[a-z][^\n]*[^.\n]$/);
});
