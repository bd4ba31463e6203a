/** The gesture of a passkey: each check failed one by one, in order, hostile input, and the vectors of the W3C. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  authenticator,
  type Gesture,
  ORIGIN,
  passkeyReceipt,
  passkeyState,
  RP_ID,
} from '../../test/support/authenticator.js';
import { verifies } from '../../test/support/verifies.js';
import { publicSuite } from '../../vectors/read.js';
import { parseReceipt } from '../actions/index.js';
import { base64urlEncode, digest, hexToBytes, type Json, LIMITS, parseJson, Refusal } from '../core/index.js';
import { passkeyAlgorithm } from '../identity/index.js';
import { checkGesture, gradeOf, isUsable } from './client-data.js';
import { ProofVerifier } from './proof.js';
import { challengeDigest, challengeOf, type PasskeyReceipt, type RequestDocument } from './schema.js';
import { isDerSignature, isSigned, verifyPasskey } from './webauthn.js';

const HASH = (digit: string) => `sha256:${digit.repeat(64)}`;
const REQUEST: RequestDocument = {
  ...({ v: 1, kind: 'action', decision: 'approve', approver: 'human:alice', requested_by: 'agent:local' } as const),
  aud: { ledger_id: '0123456789abcdef0123456789abcdef', epoch: 1 },
  request_id: 'req_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
  subject: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
  ...{ digest: HASH('d'), binding: HASH('b'), summary_digest: HASH('5') },
  nonce: base64urlEncode(new Uint8Array(32).fill(7)),
  ...{ iat: 1_790_000_000_000, exp: 1_790_000_060_000 },
};
const SETTINGS = { rp_id: RP_ID, origins: [ORIGIN, 'http://localhost:8787', 'http://gate.example.org'] };
const KEYS = [authenticator('human:alice', 'ES256'), authenticator('human:alice', 'EdDSA')];
const ALICE = KEYS[0] as (typeof KEYS)[0];

async function verdict(gesture: Gesture, by = ALICE): Promise<string | undefined> {
  return (await verifyPasskey(passkeyReceipt(by, REQUEST, gesture), passkeyState(by), SETTINGS))?.code;
}

const flipped = (good: Uint8Array) => good.map((byte, at) => (at === good.length - 1 ? byte ^ 1 : byte));
const challenge = base64urlEncode(challengeOf(REQUEST));

/** Each defect with its code, in the order of the specification. */
const DEFECTS: readonly (readonly [string, readonly Gesture[]])[] = [
  [
    'client_data',
    [
      ...['webauthn.create', 'payment.get', '', null, 1, ['webauthn.get']].map((type) => ({ type })),
      ...['', '{', '[]', 'null', '"webauthn.get"', '{"type":"webauthn.get"}', '\u0000'].map((clientText) => ({
        clientText,
      })),
      { clientText: `{"type":"webauthn.get","type":"webauthn.get","challenge":"${challenge}","origin":"${ORIGIN}"}` },
      { clientText: `\ufeff{"type":"webauthn.get","challenge":"${challenge}","origin":"${ORIGIN}"}` },
      { clientText: Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]) },
      { clientText: `${'['.repeat(4_000)}` },
      ...[null, 1, [], {}].map((value) => ({ challenge: value })),
      ...[1, [ORIGIN], {}].map((origin) => ({ origin })),
    ],
  ],
  [
    'challenge_mismatch',
    ['', 'AAAA', `${challenge}=`, `${challenge}A`, base64urlEncode(new Uint8Array(32))].map((other) => ({
      challenge: other,
    })),
  ],
  [
    'origin',
    [
      ...['http://gate.example.org', 'https://example.org', 'https://evil.gate.example.org', `${ORIGIN}.evil.org`],
      ...[`${ORIGIN}:8443`, `${ORIGIN}/`, 'HTTPS://gate.example.org', 'null', '', 'http://localhost', `${ORIGIN}\n`],
    ].map((origin) => ({ origin })),
  ],
  [
    'origin',
    [
      ...[{ crossOrigin: true }, { crossOrigin: 'false' }, { crossOrigin: null }, { crossOrigin: 0 }],
      ...[{ topOrigin: ORIGIN }, { topOrigin: null }, { crossOrigin: true, topOrigin: 'https://evil.org' }],
    ].map((client) => ({ client })),
  ],
  ['rp_id_mismatch', ['evil.org', 'gate.example.org', 'Example.org', ''].map((rpId) => ({ rpId }))],
  ['user_presence', [0x00, 0x04].map((flags) => ({ flags }))],
  ['user_verification', [0x01].map((flags) => ({ flags }))],
  [
    'bad_signature',
    [
      { signature: flipped },
      { signature: () => new Uint8Array(64) },
      { signature: () => Uint8Array.from([0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00]) },
      { signature: () => Uint8Array.from([0x30]) },
      { signature: (good) => Buffer.concat([good, Buffer.alloc(32)]) },
      { signature: (good) => Buffer.concat([good.subarray(0, 1), Buffer.from([0x81]), good.subarray(1)]) },
      // Bytes behind the authenticator's data, and a backup that was never possible: the protocol's own rules.
      { more: Uint8Array.from([1, 2, 3]) },
      { flags: 0x15 },
      { flags: 0x45 },
      { flags: 0x85 },
    ],
  ],
];

describe('a gesture of a passkey', () => {
  it('that is as it should be counts, for both algorithms, also with members that a browser adds', async () => {
    verifies('receipts.webauthn.good');
    for (const by of KEYS) {
      assert.equal(await verdict({}, by), undefined, by.algorithm);
      assert.equal(await verdict({ flags: 0x1d, client: { other_keys_can_be_added_here: 'yes' } }, by), undefined);
      assert.equal(await verdict({ origin: 'http://localhost:8787' }, by), undefined);
      const { clientText } = { clientText: JSON.stringify({ type: 'webauthn.get', challenge, origin: ORIGIN }) };
      assert.equal(await verdict({ clientText }, by), undefined, 'no word of crossOrigin');
    }
  });

  it('has a code for each check', async () => {
    verifies('receipts.webauthn.checks');
    verifies('receipts.webauthn.cross-origin');
    for (const by of KEYS) {
      for (const [code, gestures] of DEFECTS) {
        for (const gesture of gestures) {
          assert.equal(await verdict(gesture, by), code, JSON.stringify({ ...gesture, signature: '' }));
        }
      }
    }
  });

  it('is checked in the order of the specification: of two defects the first is told', async () => {
    verifies('receipts.webauthn.order');
    const one = DEFECTS.map(([code, gestures]) => [code, gestures[0] as Gesture] as const);
    for (const [at, [first, spoilt]] of one.entries()) {
      for (const [second, also] of one.slice(at + 1)) {
        assert.equal(await verdict({ ...also, ...spoilt }), first, `${first} before ${second}`);
      }
    }
  });

  it('is by the registered key, over this request, by its own algorithm', async () => {
    verifies('receipts.webauthn.checks');
    const [es256, eddsa] = KEYS.map((by) => passkeyState(by));
    assert.ok(es256 !== undefined && eddsa !== undefined);
    const receipt = passkeyReceipt(ALICE, REQUEST);
    assert.equal((await verifyPasskey(receipt, eddsa, SETTINGS))?.code, 'bad_signature');
    const other = passkeyState(authenticator('human:alice'));
    assert.equal((await verifyPasskey(receipt, other, SETTINGS))?.code, 'bad_signature');
    for (const change of [{ decision: 'deny' }, { nonce: base64urlEncode(new Uint8Array(16)) }, { exp: 1 }] as const) {
      const moved: PasskeyReceipt = { ...receipt, request: { ...REQUEST, ...change } as RequestDocument };
      assert.equal((await verifyPasskey(moved, es256, SETTINGS))?.code, 'challenge_mismatch');
    }
    // The same request under the domain of another kind, of a command, of a batch of one.
    const others = (['countersign-approval/config/1', 'countersign-command/1'] as const).map((domain) =>
      digest(domain, REQUEST as unknown as Json),
    );
    for (const other of [...others, digest('countersign-approval-batch/1', [challengeDigest(REQUEST)])]) {
      const bytes = hexToBytes(other.slice('sha256:'.length)) ?? new Uint8Array(0);
      assert.equal(await verdict({ challenge: base64urlEncode(bytes) }), 'challenge_mismatch');
    }
  });

  it('counts with either of the two signatures that P-256 has for it', async () => {
    verifies('receipts.webauthn.high-s');
    const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
    const mirrored = (good: Uint8Array) => {
      const rEnd = 4 + (good[3] as number);
      const s = BigInt(`0x${Buffer.from(good.subarray(rEnd + 2)).toString('hex')}`);
      const digits = (order - s).toString(16);
      const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
      const strict = (bytes[0] as number) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]);
      const body = Buffer.concat([good.subarray(2, rEnd), Buffer.from([2, strict.length]), strict]);
      return Buffer.concat([Buffer.from([0x30, body.length]), body]);
    };
    assert.equal(await verdict({ signature: mirrored }), undefined);
  });

  it('belongs to pages of its domain', () => {
    verifies('receipts.webauthn.grade');
    for (const origin of ['https://example.org', 'https://a.example.org:8443']) assert.ok(isUsable(origin, RP_ID));
    assert.ok(isUsable('http://localhost:8787', 'localhost'));
    for (const origin of ['https://badexample.org', 'http://a.example.org', 'https://example.org.evil.org']) {
      assert.ok(!isUsable(origin, RP_ID), origin);
    }
  });

  it('tells where it was made', () => {
    verifies('receipts.webauthn.grade');
    const loopback = ['http://localhost', 'http://localhost:80', 'http://a.localhost:1', 'http://127.0.0.1:8787'];
    for (const origin of [...loopback, 'http://[::1]:8787']) assert.equal(gradeOf(origin), 'loopback', origin);
    for (const origin of ['https://a.org', 'https://localhost']) assert.equal(gradeOf(origin), 'https');
    for (const origin of [
      'http://a.org',
      'http://localhost.evil.org',
      'http://127.0.0.1.evil.org',
      'ftp://localhost',
    ]) {
      assert.equal(gradeOf(origin), undefined, origin);
    }
  });
});

describe('the proof of a passkey', () => {
  const GOOD = JSON.parse(JSON.stringify(passkeyReceipt(ALICE, REQUEST))) as Record<string, Json>;
  const formatOf = (value: unknown) => {
    try {
      parseReceipt(value);
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error));
      return error.code;
    }
    return 'read';
  };

  it('is a closed form, within bounds', () => {
    verifies('receipts.webauthn.format');
    assert.equal(formatOf(GOOD), 'read');
    const proof = GOOD.proof as Record<string, string>;
    for (const name of Object.keys(proof)) {
      const { [name]: text = '', ...rest } = proof;
      assert.equal(formatOf({ ...GOOD, proof: rest }), 'format', name);
      for (const value of [null, [], {}, 0, true, '', [text], `${text}=`, `${text}\n`, 'A'.repeat(20_000)]) {
        assert.equal(formatOf({ ...GOOD, proof: { ...proof, [name]: value } }), 'format', name);
      }
    }
    const bounds = [
      ['authenticator_data', 37, LIMITS.authenticatorDataBytesMax],
      ['client_data', 1, LIMITS.clientDataBytesMax],
      ['signature', 1, LIMITS.signatureBytesMax],
    ] as const;
    for (const [name, min, max] of bounds) {
      const told = [min - 1, min, max, max + 1].map((count) =>
        formatOf({ ...GOOD, proof: { ...proof, [name]: base64urlEncode(new Uint8Array(count)) } }),
      );
      assert.deepEqual(told, ['format', 'read', 'read', 'format'], name);
    }
    for (const more of [{ user_handle: 'x' }, { alg: 'none' }, { public_key: 'x' }]) {
      assert.equal(formatOf({ ...GOOD, proof: { ...proof, ...more } }), 'format');
    }
    const text = JSON.stringify(GOOD);
    for (const name of ['signature', 'client_data', 'method']) {
      const twice = text.replace(`"${name}":`, `"${name}":"x","${name}":`);
      assert.throws(() => parseJson(twice, { code: 'format' }), { code: 'format' }, name);
    }
    for (const method of ['ed25519', 'none', 'WebAuthn', null]) assert.equal(formatOf({ ...GOOD, method }), 'format');
    assert.equal(formatOf({ ...GOOD, proof: { signature: proof.signature as string } }), 'format');
  });

  it('holds against 2,000 broken ones: a verdict each time, and only the good one counts', async () => {
    verifies('receipts.webauthn.hostile');
    const key = passkeyState(ALICE);
    const good = passkeyReceipt(ALICE, REQUEST);
    const part = fc.constantFrom('authenticator_data', 'client_data', 'signature');
    const change = fc.record({ part, at: fc.nat(400), value: fc.nat(255), cut: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const proof: Record<string, string> = { ...good.proof };
        for (const { part: name, at, value, cut } of changes) {
          const bytes = [...Buffer.from(proof[name] as string, 'base64url')];
          bytes.splice(at % bytes.length, cut, value);
          proof[name] = base64urlEncode(Uint8Array.from(bytes));
        }
        let receipt: ReturnType<typeof parseReceipt>;
        try {
          receipt = parseReceipt({ ...good, proof });
        } catch (error) {
          assert.ok(error instanceof Refusal && error.code === 'format', String(error));
          return;
        }
        const wrong = await new ProofVerifier().verify(receipt, key, SETTINGS);
        if (wrong === undefined) assert.deepEqual(receipt, good);
      }),
      { numRuns: 2_000 },
    );
  });

  it('counts again from memory only for the same pages and the same key', async () => {
    verifies('receipts.webauthn.checks');
    const proofs = new ProofVerifier();
    const receipt = passkeyReceipt(ALICE, REQUEST);
    const key = passkeyState(ALICE);
    assert.equal(await proofs.verify(receipt, key, SETTINGS), undefined);
    assert.equal(await proofs.verify(receipt, key, SETTINGS), undefined);
    assert.equal((await proofs.verify(receipt, key))?.code, 'method_refused');
    const elsewhere = { ...SETTINGS, origins: ['https://other.example.org'] };
    assert.equal((await proofs.verify(receipt, key, elsewhere))?.code, 'origin');
    assert.equal((await proofs.verify(receipt, key, { ...SETTINGS, rp_id: 'other.org' }))?.code, 'rp_id_mismatch');
    const weak = { ...key, public_key: `a4010103272006215820${'01'.padEnd(64, '0')}` };
    assert.equal((await proofs.verify(receipt, weak, SETTINGS))?.code, 'unknown_authenticator');
  });
});

interface W3cVector {
  readonly name: string;
  readonly registration: { readonly attestationObject: string };
  readonly authentication: Readonly<Record<'challenge' | 'clientDataJSON' | 'authenticatorData' | 'signature', string>>;
}

describe('the vectors of the W3C', () => {
  const { path, skip } = publicSuite('webauthn-w3c');

  it('verify for P-256 and Ed25519 in a page of its own; all other algorithms and pages do not', { skip }, async () => {
    verifies('receipts.webauthn.vectors');
    const text = readFileSync(join(path, 'vectors.json'), 'utf8');
    const { vectors, rpId, origin } = JSON.parse(text) as { vectors: W3cVector[]; rpId: string; origin: string };
    const settings = { rp_id: rpId, origins: [origin] };
    const told = new Map<string, string>();
    for (const { name, registration, authentication } of vectors) {
      const cose = /a501020326200121582[0-9a-f]{65}225820[0-9a-f]{64}|a4010103272006215820[0-9a-f]{64}/.exec(
        registration.attestationObject,
      )?.[0];
      if (cose === undefined || passkeyAlgorithm(cose) === undefined) {
        told.set(name, 'key refused');
        continue;
      }
      const text64 = (hex: string) => base64urlEncode(hexToBytes(hex) ?? new Uint8Array(0));
      const proof = {
        authenticator_data: text64(authentication.authenticatorData),
        client_data: text64(authentication.clientDataJSON),
        signature: text64(authentication.signature),
      };
      const receipt = { ...passkeyReceipt(ALICE, REQUEST), proof };
      const signed = hexToBytes(authentication.challenge) ?? new Uint8Array(0);
      const key = { ...passkeyState(ALICE), public_key: cose };
      const byPlatform = await signatureOf(authentication, cose);
      const code = checkGesture(receipt, signed, settings)?.code;
      const byLibrary = code === undefined && (await isSigned(receipt, key, signed, settings));
      assert.ok(code !== undefined || byLibrary === (byPlatform === 'good'), name);
      told.set(name, code ?? byPlatform);
    }
    const refused = ['packed-es384', 'packed-es512', 'packed-rs256', 'packed-ed448'];
    for (const name of refused) assert.equal(told.get(name), 'key refused', name);
    for (const name of ['none-es256-crossOrigin', 'none-es256-topOrigin']) assert.equal(told.get(name), 'origin', name);
    const wrong = [...told].filter(([name]) => !refused.includes(name) && !name.includes('Origin'));
    assert.equal(wrong.length, 9);
    for (const [name, verdictOf] of wrong) {
      assert.ok(['good', 'user_verification', 'user_presence'].includes(verdictOf), `${name}: ${verdictOf}`);
    }
    assert.ok([...told.values()].filter((one) => one === 'good').length >= 2);
  });
});

interface WycheproofGroup {
  readonly publicKey: { readonly uncompressed: string };
  readonly tests: readonly { tcId: number; comment: string; msg: string; sig: string; result: string }[];
}

describe('the vectors of Wycheproof', () => {
  const { path, skip } = publicSuite('wycheproof');

  it('agree on every signature of P-256: what is misspelt, out of range or forged is refused', { skip }, async () => {
    verifies('receipts.webauthn.wycheproof');
    const { verifySignature } = await import('@simplewebauthn/server/helpers');
    const text = readFileSync(join(path, 'ecdsa_secp256r1_sha256_test.json'), 'utf8');
    const { testGroups } = JSON.parse(text) as { testGroups: WycheproofGroup[] };
    const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
    let cases = 0;
    for (const { publicKey, tests } of testGroups) {
      const cose = `a5010203262001215820${publicKey.uncompressed.slice(2, 66)}225820${publicKey.uncompressed.slice(66)}`;
      assert.equal(passkeyAlgorithm(cose), 'ES256');
      for (const { tcId, comment, msg, sig, result } of tests) {
        cases += 1;
        const signature = bytes(sig);
        const credentialPublicKey = bytes(cose);
        const byLibrary = async () => verifySignature({ signature, data: bytes(msg), credentialPublicKey });
        const good = isDerSignature(base64urlEncode(signature)) && (await byLibrary().catch(() => false));
        assert.equal(good, result === 'valid', `${tcId}: ${comment}`);
      }
    }
    assert.ok(cases > 400);
  });
});

/** The signature of a vector by the platform, as the oracle of the library. */
async function signatureOf(vector: W3cVector['authentication'], cose: string): Promise<string> {
  const { createHash, createPublicKey, verify } = await import('node:crypto');
  const url = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');
  const jwk = cose.startsWith('a5')
    ? { kty: 'EC', crv: 'P-256', x: url(cose.slice(20, 84)), y: url(cose.slice(90)) }
    : { kty: 'OKP', crv: 'Ed25519', x: url(cose.slice(20)) };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const hashed = createHash('sha256').update(Buffer.from(vector.clientDataJSON, 'hex')).digest();
  const data = Buffer.concat([Buffer.from(vector.authenticatorData, 'hex'), hashed]);
  return verify(jwk.kty === 'EC' ? 'sha256' : null, data, key, Buffer.from(vector.signature, 'hex')) ? 'good' : 'bad';
}
