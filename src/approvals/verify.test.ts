/** The checks of a receipt, one by one and in their order, and hostile receipts by the thousand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { authenticator, ORIGIN, passkeyReceipt, passkeyState, RP_ID } from '../../test/support/authenticator.js';
import { ALICE, BOB } from '../../test/support/gate-world.js';
import { verifies } from '../../test/support/verifies.js';
import { ownVector } from '../../vectors/read.js';
import { parseReceipt } from '../actions/index.js';
import { base64urlEncode, type Json, LIMITS, type Principal, parseJson, Refusal } from '../core/index.js';
import { type KeyState, keyId, type LedgerState, type PersonState } from '../identity/index.js';
import { ProofVerifier } from './proof.js';
import type { Receipt, RequestDocument, RequestState } from './schema.js';
import { challengeOf } from './schema.js';
import { signWith } from './sign.js';
import { checkReceipt, type Expected, type Known } from './verify.js';

const NOW = 1_790_000_000_000;
const HASH = (digit: string) => `sha256:${digit.repeat(64)}`;

type ActionRequest = Extract<RequestDocument, { kind: 'action' }>;

const REQUEST: ActionRequest = {
  v: 1,
  kind: 'action',
  aud: { ledger_id: '0123456789abcdef0123456789abcdef', epoch: 1 },
  request_id: 'req_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
  approver: 'human:alice',
  subject: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
  digest: HASH('d'),
  binding: HASH('b'),
  summary_digest: HASH('5'),
  decision: 'approve',
  requested_by: 'agent:local',
  nonce: base64urlEncode(new Uint8Array(32).fill(7)),
  iat: NOW - 1_000,
  exp: NOW + 60_000,
};
const LEDGER: LedgerState = {
  ...{ ledger_id: REQUEST.aud.ledger_id, name: 'test', epoch: 1, demo: false, created_at: 0 },
  ...{ bootstrapped: true, restored_at: [0], recovered: [] },
};
const PERSON: PersonState = {
  ...{ person: 'human:alice' as Principal, roles: ['approver'], state: 'active', added_at: 0, away: null },
};
const KEY: KeyState = {
  key_id: keyId(ALICE.key.publicKey),
  person: 'human:alice' as Principal,
  method: 'ed25519',
  public_key: ALICE.key.publicKey,
  software_key: true,
  state: 'active',
  added_at: 0,
  revoked_at: null,
};
const EXPECTED: Expected = {
  kind: 'action',
  subject: REQUEST.subject,
  digest: REQUEST.digest,
  binding: REQUEST.binding,
  summaryDigest: REQUEST.summary_digest,
  decision: 'approve',
  notBefore: NOW - 2_000,
  methods: ['ed25519', 'webauthn'],
  approvers: ['human:alice', 'human:bob'],
  excluded: [],
};

interface Case {
  receipt: Receipt;
  expected: Expected;
  known: Known;
}

const PASSKEY = authenticator('human:alice');
const WEBAUTHN = { rp_id: RP_ID, origins: [ORIGIN] };

function good(method: Receipt['method'] = 'ed25519', request: RequestDocument = REQUEST): Case {
  const stored: RequestState = { request, state: 'open', receipt: null, origin: null, signed_at: null, act: null };
  const isPasskey = method === 'webauthn';
  const key = isPasskey ? passkeyState(PASSKEY) : KEY;
  const receipt = isPasskey ? passkeyReceipt(PASSKEY, request) : signWith(ALICE.key, request);
  const facts = { ledger: LEDGER, request: stored, person: PERSON, key, webauthn: WEBAUTHN, now: NOW };
  return { receipt, expected: EXPECTED, known: facts };
}

function withRequest(change: Partial<ActionRequest>): (one: Case) => Case {
  return (one) => {
    const request = { ...(one.receipt.request as ActionRequest), ...change };
    const stored = { ...(one.known.request as RequestState), request };
    return { ...one, receipt: { ...one.receipt, request }, known: { ...one.known, request: stored } };
  };
}

const known = (change: Partial<Known>) => (one: Case) => ({ ...one, known: { ...one.known, ...change } });
const expected = (change: Partial<Expected>) => (one: Case) => ({ ...one, expected: { ...one.expected, ...change } });

/** Each defect with its code, in the order of the specification. */
const DEFECTS: readonly (readonly [string, (one: Case) => Case])[] = [
  ['method_refused', expected({ methods: [] })],
  ['audience', withRequest({ aud: { ...REQUEST.aud, ledger_id: 'f'.repeat(32) } })],
  ['kind', expected({ kind: 'config' })],
  ['unknown_request', known({ request: undefined })],
  ['subject_mismatch', expected({ subject: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3X' })],
  ['digest_mismatch', expected({ digest: HASH('e') })],
  ['binding_mismatch', expected({ binding: HASH('e') })],
  ['summary_mismatch', expected({ summaryDigest: HASH('e') })],
  ['decision', expected({ decision: 'deny' })],
  ['expired', withRequest({ exp: NOW })],
  ['iat_future', withRequest({ iat: NOW + LIMITS.iatFutureMsMax + 1, exp: NOW + 200_000 })],
  ['iat_past', expected({ notBefore: NOW + LIMITS.iatFutureMsMax + 10 })],
  ['ttl', withRequest({ exp: NOW + LIMITS.requestTtlMsMax + LIMITS.iatFutureMsMax + 2 })],
  ['unknown_approver', known({ person: undefined })],
  ['unknown_authenticator', (one) => known({ key: { ...(one.known.key as KeyState), key_id: HASH('9') } })(one)],
  ['revoked_authenticator', (one) => known({ key: { ...(one.known.key as KeyState), state: 'revoked' } })(one)],
  [
    'foreign_authenticator',
    (one) => known({ key: { ...(one.known.key as KeyState), person: 'human:bob' as Principal } })(one),
  ],
  ['approver_not_allowed', expected({ approvers: ['human:bob'] })],
  ['self_approval', expected({ excluded: ['human:alice'] })],
];

const METHODS = ['ed25519', 'webauthn'] as const;

function codeOf({ receipt, expected: wanted, known: facts }: Case): string | undefined {
  return checkReceipt(receipt, wanted, facts)?.code;
}

describe('the checks of a receipt', () => {
  it('pass for a good one', () => {
    verifies('authority.receipt.checks');
    for (const method of METHODS) assert.equal(codeOf(good(method)), undefined);
  });

  it('each have their code, whatever the method', () => {
    verifies('authority.receipt.checks');
    for (const method of METHODS) for (const [code, spoil] of DEFECTS) assert.equal(codeOf(spoil(good(method))), code);
  });

  it('stand in the order of the specification: of two defects the first is told', () => {
    verifies('authority.receipt.order');
    for (const method of METHODS) {
      for (const [at, [first, spoilFirst]] of DEFECTS.entries()) {
        for (const [second, spoilSecond] of DEFECTS.slice(at + 1)) {
          assert.equal(codeOf(spoilFirst(spoilSecond(good(method)))), first, `${method}: ${first} before ${second}`);
        }
      }
    }
  });

  it('refuse an earlier epoch, and a person who was removed or has no role', () => {
    verifies('authority.receipt.epoch');
    verifies('authority.receipt.role');
    assert.equal(codeOf(known({ ledger: { ...LEDGER, epoch: 2 } })(good())), 'audience');
    assert.equal(codeOf(known({ person: { ...PERSON, state: 'removed' } })(good())), 'unknown_approver');
    for (const roles of [[], ['viewer'], ['operator'], ['auditor']] as const) {
      assert.equal(codeOf(known({ person: { ...PERSON, roles } })(good())), 'approver_not_allowed');
    }
  });

  it('have their deadlines to the millisecond', () => {
    verifies('authority.receipt.deadlines');
    const { exp, iat } = REQUEST;
    const at = (now: number) => codeOf(known({ now })(good()));
    assert.deepEqual([exp - 1, exp, exp + 1].map(at), [undefined, 'expired', 'expired']);
    const early = iat - LIMITS.iatFutureMsMax;
    assert.deepEqual([early - 1, early, early + 1].map(at), ['iat_future', undefined, undefined]);
    const past = (notBefore: number) => codeOf(expected({ notBefore })(good()));
    assert.deepEqual([iat - 1, iat, iat + 1].map(past), [undefined, undefined, 'iat_past']);
    const ttl = (ms: number) => codeOf(withRequest({ exp: iat + ms })(good()));
    const day = LIMITS.requestTtlMsMax;
    assert.deepEqual([day - 1, day, day + 1].map(ttl), [undefined, undefined, 'ttl']);
  });

  it('refuse a passkey where the configuration names no page, and a key of the other method', () => {
    verifies('receipts.webauthn.configured');
    verifies('receipts.keys.one-method');
    assert.equal(codeOf(known({ webauthn: undefined })(good('webauthn'))), 'method_refused');
    assert.equal(codeOf(expected({ methods: ['ed25519'] })(good('webauthn'))), 'method_refused');
    assert.equal(codeOf(expected({ methods: ['webauthn'] })(good())), 'method_refused');
    assert.equal(codeOf(known({ webauthn: undefined })(good())), undefined);
    for (const [receipt, key] of [
      [{ ...good('webauthn').receipt, credential_id: KEY.key_id }, KEY],
      [{ ...good().receipt, credential_id: passkeyState(PASSKEY).key_id }, passkeyState(PASSKEY)],
    ] as const) {
      assert.equal(codeOf({ ...known({ key })(good()), receipt }), 'unknown_authenticator');
    }
  });

  it('refuse a request that ended with a failed try', () => {
    verifies('receipts.webauthn.one-try');
    const one = good('webauthn');
    const request = { ...(one.known.request as RequestState), state: 'withdrawn' as const };
    assert.equal(codeOf(known({ request })(one)), 'unknown_request');
  });

  it('let a receipt that came in time count later', () => {
    verifies('authority.receipt.in-time');
    const one = good();
    const stored = { ...(one.known.request as RequestState), state: 'signed', signed_at: NOW } as const;
    assert.equal(codeOf(known({ request: stored, now: REQUEST.exp + 1 })(one)), undefined);
  });
});

describe('the signature of a receipt', () => {
  const proofs = new ProofVerifier();

  it('is over exactly the request, under the domain of its kind', async () => {
    verifies('authority.receipt.signature');
    const receipt = signWith(ALICE.key, REQUEST);
    assert.equal(await proofs.verify(receipt, KEY), undefined);
    assert.equal(await proofs.verify(receipt, KEY), undefined);
    const changes: Partial<ActionRequest>[] = [
      ...[{ subject: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3X' }, { digest: HASH('e') }, { binding: HASH('e') }],
      ...[{ decision: 'deny' as const }, { exp: REQUEST.exp + 1 }, { nonce: base64urlEncode(new Uint8Array(16)) }],
      ...[{ aud: { ...REQUEST.aud, epoch: 2 } }, { summary_digest: HASH('e') }, { approver: 'human:bob' }],
    ];
    for (const change of changes) {
      const other = { ...receipt, request: { ...REQUEST, ...change } };
      assert.equal((await proofs.verify(other, KEY))?.code, 'bad_signature', Object.keys(change)[0]);
    }
    const { binding: _binding, decision: _decision, ...rest } = REQUEST;
    const act = { ...rest, kind: 'config' } as const;
    assert.notDeepEqual(challengeOf(act), challengeOf({ ...act, kind: 'registry' }));
    assert.equal((await proofs.verify({ ...receipt, request: act }, KEY))?.code, 'bad_signature');
  });

  it('is by the key itself', async () => {
    verifies('authority.receipt.signature');
    const receipt = signWith(BOB.key, REQUEST);
    assert.equal((await proofs.verify(receipt, KEY))?.code, 'bad_signature');
  });

  it('does not verify under a key that anybody can sign for', async () => {
    verifies('authority.keys.admitted');
    const { keys } = ownVector<{ keys: string[] }>('key-admission/small-order.json');
    assert.ok(keys.length > 0);
    const forged = base64urlEncode(Uint8Array.from({ length: 64 }, (_, at) => (at === 0 ? 1 : 0)));
    const receipt = { ...signWith(ALICE.key, REQUEST), proof: { signature: forged } };
    for (const key of keys) {
      const verdict = await new ProofVerifier().verify(receipt, { ...KEY, public_key: key });
      assert.equal(verdict?.code, 'unknown_authenticator', key);
    }
  });
});

const GOOD = JSON.parse(JSON.stringify(signWith(ALICE.key, REQUEST))) as Record<string, Json>;

/** The code with which something is refused as no receipt. */
function formatOf(value: unknown): string {
  try {
    parseReceipt(value);
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error.code;
  }
  return 'read';
}

describe('the form of a receipt', () => {
  it('is closed: nothing is missing, nothing is more, nothing is of another type', () => {
    verifies('authority.receipt.format');
    assert.equal(formatOf(GOOD), 'read');
    const request = GOOD.request as Record<string, Json>;
    for (const name of Object.keys(GOOD)) {
      const { [name]: _, ...rest } = GOOD;
      assert.equal(formatOf(rest), 'format', name);
      for (const value of [null, [], {}, '', 0, true])
        assert.equal(formatOf({ ...GOOD, [name]: value }), 'format', name);
    }
    for (const name of Object.keys(request)) {
      const { [name]: _, ...rest } = request;
      assert.equal(formatOf({ ...GOOD, request: rest }), 'format', name);
      for (const value of [null, [], {}, '', true]) {
        assert.equal(formatOf({ ...GOOD, request: { ...request, [name]: value } }), 'format', name);
      }
    }
    for (const more of [{ approved: true }, { state: 'approved' }, { receipt_verified: true }, { batch: [] }]) {
      assert.equal(formatOf({ ...GOOD, ...more }), 'format');
      assert.equal(formatOf({ ...GOOD, request: { ...request, ...more } }), 'format');
      assert.equal(formatOf({ ...GOOD, proof: { ...(GOOD.proof as object), ...more } }), 'format');
    }
    for (const kind of ['finding', 'standing', 'freeze', 'constructor']) {
      assert.equal(formatOf({ ...GOOD, request: { ...request, kind } }), 'format', kind);
    }
    assert.equal(formatOf({ ...GOOD, request: { ...request, kind: 'config' } }), 'format');
  });

  it('has one signature, of the one method: dropped, emptied, doubled or renamed it is none', () => {
    verifies('authority.receipt.stripping');
    const { signature } = GOOD.proof as { signature: string };
    const short = signature.slice(0, -2);
    for (const value of [
      undefined,
      null,
      '',
      [],
      [signature],
      {},
      0,
      false,
      short,
      `${signature}=`,
      `${signature}AA`,
    ]) {
      assert.equal(formatOf({ ...GOOD, proof: { signature: value } }), 'format', String(value));
    }
    for (const proof of [undefined, null, {}, [], '', signature]) assert.equal(formatOf({ ...GOOD, proof }), 'format');
    for (const method of ['none', 'webauthn', 'ED25519', 'hmac', '', null]) {
      assert.equal(formatOf({ ...GOOD, method }), 'format', String(method));
    }
    const text = JSON.stringify(GOOD);
    const twice = text.replace('"signature":', `"signature":"${signature}","signature":`);
    for (const doubled of [twice, text.replace('"method":', '"method":"none","\\u006dethod":')]) {
      assert.throws(
        () => parseJson(doubled, { code: 'format' }),
        (error) => error instanceof Refusal && error.code === 'format',
      );
    }
  });

  it('holds against 20,000 mutations: always a refusal, never an exception, never accepted', async () => {
    verifies('authority.receipt.hostile');
    const text = JSON.stringify(GOOD);
    let accepted = 0;
    const one = good();
    await fc.assert(
      fc.asyncProperty(mutationOf(text), async (mutated) => {
        let receipt: Receipt;
        try {
          receipt = parseReceipt(parseJson(mutated, { code: 'format' }));
        } catch (error) {
          assert.ok(error instanceof Refusal && error.code === 'format', String(error));
          return;
        }
        const verdict = codeOf({ ...one, receipt }) ?? (await new ProofVerifier().verify(receipt, KEY))?.code;
        if (verdict === undefined) {
          accepted += 1;
          assert.deepEqual(receipt, GOOD);
        }
      }),
      { numRuns: 20_000 },
    );
    assert.ok(accepted < 2_000);
  });
});

/** One to three places of a text replaced, removed or doubled. */
function mutationOf(text: string): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      'null',
      '0',
      '-',
      '\u0000',
      '\u202e',
      '\ud800',
      'human:bob',
    ),
    fc.string({ maxLength: 3 }),
  );
  const edit = fc.record({ at: fc.nat(text.length), cut: fc.nat(4), piece });
  return fc
    .array(edit, { minLength: 1, maxLength: 3 })
    .map((edits) =>
      edits.reduce((before, { at, cut, piece: more }) => before.slice(0, at) + more + before.slice(at + cut), text),
    );
}
