/** Signatures of messages: our vectors, and every way that we know to pass without one. */
import assert from 'node:assert/strict';
import { type KeyObject, verify } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { ownVector } from '../../vectors/read.js';
import { bytesToHex, hexToBytes, importPrivateKey, importPublicKey, type PrivateKey, Refusal } from '../core/index.js';
import { canonicalMessage, messageHash, signedText } from './canonical.js';
import type { Message } from './schema.js';
import {
  AdmittedKeys,
  isTrusted,
  type SignatureVerdict,
  signedCanonical,
  signerOf,
  signMessage,
  verifySignature,
} from './sign.js';
import { decodeMessage } from './wire.js';

interface Signed {
  readonly cases: readonly {
    readonly seed: string;
    readonly message: Message;
    readonly signer: string;
    readonly signed_text: string;
    readonly signature: string;
    readonly canonical: string;
    readonly hash: string;
  }[];
}

interface Verdicts {
  readonly cases: readonly { readonly text: string; readonly verdict: SignatureVerdict }[];
}

function keyOf(byte: number): PrivateKey {
  return importPrivateKey(new Uint8Array(32).fill(byte)) as PrivateKey;
}

const KEY = keyOf(7);
const OTHER = keyOf(8);
const [base, full] = ownVector<{ cases: { message: Message }[] }>('messages/canonical/fields.json').cases.map(
  ({ message }) => message,
) as [Message, Message];
const signed = signMessage(KEY, full);

test('signatures are those of the vectors, byte by byte', () => {
  verifies('messages.sign.interchangeable');
  for (const vector of ownVector<Signed>('messages/signed.json').cases) {
    const key = importPrivateKey(hexToBytes(vector.seed) as Uint8Array) as PrivateKey;
    const message = signMessage(key, vector.message);
    assert.deepEqual(message, { ...vector.message, signer: vector.signer, signature: vector.signature });
    assert.equal(signedText(vector.message, vector.signer), vector.signed_text);
    assert.equal(canonicalMessage(message), vector.canonical);
    assert.equal(signedCanonical(signerOf(key), vector.message), vector.canonical);
    assert.equal(messageHash(message), vector.hash);
    assert.equal(verifySignature(message), 'good');
    assert.ok(isTrusted(message, [vector.signer]));
  }
});

test('what is said of a signature is what the vectors say', () => {
  verifies('messages.sign.tampering');
  verifies('messages.sign.stripping');
  verifies('messages.sign.unknown-fields');
  verifies('messages.sign.key-confusion');
  for (const { text, verdict } of ownVector<Verdicts>('messages/verdicts.json').cases) {
    const message = decodeMessage(text);
    assert.equal(verifySignature(message), verdict, text);
    assert.equal(isTrusted(message, message.signer ? [message.signer] : ['']), verdict === 'good');
  }
});

test('only a valid message is signed, and an earlier signature does not matter', () => {
  verifies('messages.sign.validates');
  for (const change of [{ payload: '\u0085' }, { version: 'v2' }, { confidence: Number.NaN }, { id: '\ud800' }]) {
    assert.throws(
      () => signMessage(KEY, { ...base, ...change }),
      (error) => error instanceof Refusal && error.code === 'invalid' && error.path === Object.keys(change)[0],
    );
  }
  const again = signMessage(OTHER, signed);
  assert.equal(again.signer, signerOf(OTHER).name);
  assert.equal(verifySignature(again), 'good');
  assert.deepEqual(signMessage(KEY, { ...base, signer: 'x', signature: 'y' }), signMessage(KEY, base));
  const read = decodeMessage(JSON.stringify({ ...base, future: 1 }));
  assert.deepEqual(signMessage(KEY, read), signMessage(KEY, base));
});

/** For each field another value that leaves the message valid. */
const CHANGES: Readonly<Record<string, readonly unknown[]>> = {
  id: ['m-2'],
  room: ['', 'Ops', undefined],
  thread_id: ['t-2'],
  to: [[], ['agent:b'], ['agent:c', 'agent:b'], ['agent:b', 'agent:c', 'agent:d']],
  in_reply_to: ['', 'm-9'],
  intent: ['assert', 'query'],
  epistemic: ['inferred'],
  confidence: [0, 1, 0.8750000000000001],
  context_refs: [[], [`sha256:${'b'.repeat(64)}`]],
  prev_hash: ['', `sha256:${'b'.repeat(64)}`],
  provenance: [
    { ...full.provenance, source: 'tool:other' },
    { ...full.provenance, chain: [] },
    { ...full.provenance, chain: ['agent:y', 'agent:x'] },
    { ...full.provenance, evidence: full.provenance.evidence?.slice(1) },
  ],
  max_hops: [0, 2, 4],
  cost_budget: [0, 2001],
  ack_required: [false],
  payload: ['please deploy 1.2.4', 'please deploy 1.2.3 '],
  signer: [signerOf(OTHER).name],
  signature: [signMessage(KEY, base).signature],
};

test('a change of any field breaks the signature', () => {
  verifies('messages.sign.tampering');
  assert.equal(verifySignature(signed), 'good');
  // The version has one value alone; any other makes the message invalid.
  assert.deepEqual(['version', ...Object.keys(CHANGES)].sort(), Object.keys(signed).sort());
  for (const [name, values] of Object.entries(CHANGES)) {
    for (const value of values) {
      const changed = { ...signed, [name]: value } as Message;
      assert.equal(verifySignature(changed), 'bad_signature', `${name}: ${JSON.stringify(value)}`);
      assert.ok(!isTrusted(changed, [signerOf(KEY).name, signerOf(OTHER).name]));
    }
  }
  assert.equal(verifySignature({ ...signed, version: 'v2' }), 'bad_signature');
});

test('a message that is not valid has no good signature, whoever made it', () => {
  verifies('messages.sign.validates');
  for (const change of [{ payload: '' }, { confidence: 2 }, { epistemic: 'verified' }, { to: ['b', 'b'] }]) {
    const invalid = { ...base, ...change } as Message;
    const message = decodeless(signedCanonical(signerOf(KEY), invalid));
    assert.equal(verifySignature(message), 'bad_signature', JSON.stringify(change));
  }
});

/** A message as a careless reader would take it from its text. */
function decodeless(text: string): Message {
  return JSON.parse(text) as Message;
}

test('a signature is good for random messages exactly when nothing was changed', () => {
  verifies('messages.sign.tampering');
  const said = fc.record({ id: fc.string({ minLength: 1 }), payload: fc.string().map((text) => `${text}!`) });
  const admitted = new AdmittedKeys();
  fc.assert(
    fc.property(said, said, fc.nat(511), (mine, theirs, bit) => {
      const message = signMessage(KEY, { ...base, ...mine });
      assert.equal(verifySignature(message, admitted), 'good');
      const isSame = mine.id === theirs.id && mine.payload === theirs.payload;
      assert.equal(verifySignature({ ...message, ...theirs }, admitted) === 'good', isSame);
      const bytes = hexToBytes(message.signature as string) as Uint8Array;
      bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
      assert.equal(verifySignature({ ...message, signature: bytesToHex(bytes) }, admitted), 'bad_signature');
    }),
    { numRuns: 200 },
  );
});

test('nothing that stands for a signature and is none passes', () => {
  verifies('messages.sign.stripping');
  const { signature, signer } = signed as Required<Message>;
  const { signature: _, ...withoutSignature } = signed;
  const { signer: __, ...withoutSigner } = signed;
  const broken: object[] = [withoutSignature, withoutSigner];
  for (const value of [
    '',
    null,
    [],
    [signature],
    {},
    true,
    0,
    `${signature}\n`,
    signature.slice(2),
    `0x${signature}`,
  ]) {
    broken.push({ ...signed, signature: value });
  }
  for (const value of ['', null, [], [signer], {}, true, 0, signer.toUpperCase(), `${signer} `]) {
    broken.push({ ...signed, signer: value });
  }
  for (const message of broken as Message[]) {
    assert.notEqual(verifySignature(message), 'good', JSON.stringify(message));
    assert.ok(!isTrusted(message, [signer]));
  }
  assert.equal(verifySignature(withoutSignature), 'bad_signature');
  assert.equal(verifySignature(withoutSigner), 'bad_signature');
  const unsigned = { ...withoutSignature, signer: undefined } as unknown as Message;
  assert.equal(verifySignature(unsigned), 'unsigned');
  assert.ok(!isTrusted(unsigned, [signer, '', 'undefined']));
  // A field that names another way of signing is unknown and changes nothing.
  const text = JSON.stringify({ ...signed, alg: 'none', payload: 'another' });
  assert.equal(verifySignature(decodeMessage(text)), 'unverifiable_unknown_fields');
});

/** Points of small order: their forged signatures verify for the platform. */
const SMALL_ORDER = [
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  '00'.repeat(32),
  `${'00'.repeat(31)}80`,
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
];

test('a weak key is refused, also where the platform would take its forged signature', () => {
  verifies('messages.sign.key-confusion');
  const [identity] = SMALL_ORDER as [string];
  const forged = { ...base, signer: identity, signature: `${identity}${'00'.repeat(32)}` };
  const weak = importPublicKey(hexToBytes(identity) as Uint8Array);
  const bytes = Buffer.from(signedText(forged, identity));
  assert.ok(verify(null, bytes, weak as unknown as KeyObject, Buffer.from(forged.signature, 'hex')));
  for (const signer of SMALL_ORDER) {
    const message = { ...forged, signer };
    assert.equal(verifySignature(message), 'bad_signature');
    assert.ok(!isTrusted(message, [signer]));
    assert.equal(new AdmittedKeys().get(signer), undefined);
  }
});

test('trust is a matter of the named keys and not of the key in the message', () => {
  verifies('messages.sign.trust');
  const mine = signerOf(KEY).name;
  assert.ok(isTrusted(signed, [mine]));
  assert.ok(isTrusted(signed, new Set([signerOf(OTHER).name, mine])));
  for (const keys of [[], [signerOf(OTHER).name], [mine.toUpperCase()], [mine.slice(1)], ['']]) {
    assert.ok(!isTrusted(signed, keys));
  }
  const impostor = signMessage(OTHER, signed);
  assert.equal(verifySignature(impostor), 'good');
  assert.ok(!isTrusted(impostor, [mine]));
  assert.ok(!isTrusted({ ...impostor, signer: mine }, [mine]));
});

test('keys that were checked are kept, good ones and refused ones, and never mixed up', () => {
  verifies('messages.sign.trust');
  const admitted = new AdmittedKeys();
  const mine = signerOf(KEY).name;
  assert.equal(admitted.get(mine), admitted.get(mine));
  assert.notEqual(admitted.get(mine), admitted.get(signerOf(OTHER).name));
  for (const hex of ['', 'zz', mine.toUpperCase(), `${mine}00`, SMALL_ORDER[0] as string]) {
    assert.equal(admitted.get(hex), undefined);
    assert.equal(admitted.get(hex), undefined);
  }
});
