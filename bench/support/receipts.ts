/**
 * Receipts verified per second, by the method of the key: proofs that nobody has seen before, one after the other and 64 at
 * a time, beside the bare signature of the same algorithm on one thread, and beside a proof that is remembered.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { challengeOf, ProofVerifier, type Receipt, type RequestDocument, signWith } from '../../src/approvals/index.js';
import { base64urlEncode, type Principal } from '../../src/core/index.js';
import { type KeyState, keyId } from '../../src/identity/index.js';
import { authenticator, ORIGIN, passkeyReceipt, passkeyState, RP_ID } from '../../test/support/authenticator.js';
import { ALICE } from '../../test/support/gate-people.js';
import { median, timeText } from './measure.js';

const COUNT = 256;
const ROUNDS = 9;
const AT_ONCE = 64;
const WEBAUTHN = { rp_id: RP_ID, origins: [ORIGIN] };
const HASH = (digit: string) => `sha256:${digit.repeat(64)}`;

function requestOf(at: number): RequestDocument {
  return {
    ...({ v: 1, kind: 'action', decision: 'approve', approver: 'human:alice', requested_by: 'agent:local' } as const),
    aud: { ledger_id: '0123456789abcdef0123456789abcdef', epoch: 0 },
    request_id: 'req_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
    subject: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
    ...{ digest: HASH('d'), binding: HASH('b'), summary_digest: HASH('5') },
    nonce: base64urlEncode(createHash('sha256').update(String(at)).digest()),
    ...{ iat: 1_790_000_000_000, exp: 1_790_000_060_000 },
  };
}

interface Method {
  readonly name: string;
  readonly key: KeyState;
  readonly receipts: readonly Receipt[];
  /** The signature alone, by the platform. */
  bare(receipt: Receipt): boolean;
}

function methods(): readonly Method[] {
  const requests = Array.from({ length: COUNT }, (_, at) => requestOf(at));
  const { publicKey } = ALICE.key;
  const software: KeyState = {
    ...{ key_id: keyId(publicKey), person: 'human:alice' as Principal, public_key: publicKey, method: 'ed25519' },
    ...{ software_key: true, state: 'active', added_at: 0, revoked_at: null },
  } as const;
  const raw = Buffer.from(publicKey, 'hex').toString('base64url');
  const bareKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw }, format: 'jwk' });
  const passkeys = (['ES256', 'EdDSA'] as const).map((algorithm): Method => {
    const by = authenticator('human:alice', algorithm);
    const key = createPublicKey(by.privateKey);
    const bare = (receipt: Receipt) => receipt.method === 'webauthn' && bareGesture(receipt, algorithm, key);
    const receipts = requests.map((request) => passkeyReceipt(by, request));
    return { name: `passkey, ${algorithm}`, key: passkeyState(by), receipts, bare };
  });
  const bare = ({ request, proof }: Receipt) =>
    verify(null, challengeOf(request), bareKey, Buffer.from(proof.signature, 'base64url'));
  const receipts = requests.map((request) => signWith(ALICE.key, request));
  return [{ name: 'software key, Ed25519', key: software, receipts, bare }, ...passkeys];
}

function bareGesture({ proof }: Extract<Receipt, { method: 'webauthn' }>, algorithm: string, key: KeyObject): boolean {
  const [data, client, signature] = [proof.authenticator_data, proof.client_data, proof.signature].map((text) =>
    Buffer.from(text, 'base64url'),
  ) as [Buffer, Buffer, Buffer];
  const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
  return verify(algorithm === 'ES256' ? 'sha256' : null, signed, key, signature);
}

/** Nanoseconds of one, when all are done, `width` at a time. */
async function timeOf(
  receipts: readonly Receipt[],
  width: number,
  one: (receipt: Receipt) => unknown,
): Promise<number> {
  const startedAt = process.hrtime.bigint();
  for (let at = 0; at < receipts.length; at += width) {
    await Promise.all(receipts.slice(at, at + width).map(one));
  }
  return Number(process.hrtime.bigint() - startedAt) / receipts.length;
}

/** Rows of a table: what, time, rate, times the bare signature. */
export async function receiptRows(): Promise<readonly (readonly string[])[]> {
  const all = methods();
  const times = new Map<string, number[]>();
  const note = (name: string, time: number) => times.set(name, [...(times.get(name) ?? []), time]);
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const { name, key, receipts, bare } of all) {
      for (const width of [1, AT_ONCE]) {
        const proofs = new ProofVerifier();
        const good = async (receipt: Receipt) => {
          if ((await proofs.verify(receipt, key, WEBAUTHN)) !== undefined) throw new Error(`${name} does not verify`);
        };
        const first = await timeOf(receipts, width, good);
        const again = await timeOf(receipts, width, good);
        if (round >= 0) note(`${name}: ${width} at a time`, first);
        if (round >= 0 && width === 1) note(`${name}: remembered`, again);
      }
      const floor = await timeOf(receipts, 1, bare);
      if (round >= 0) note(`${name}: bare`, floor);
    }
  }
  return [...times].map(([name, found]) => {
    const time = median(found);
    const floor = median(times.get(`${name.slice(0, name.lastIndexOf(':'))}: bare`) as number[]);
    return [name, timeText(time), `${(1e9 / time).toFixed(0)}/s`, (time / floor).toFixed(2)];
  });
}

/** For a start that needs no passkey: the library loads with the first receipt of one. */
export async function libraryLoadMs(): Promise<number> {
  const startedAt = performance.now();
  await import('@simplewebauthn/server');
  return performance.now() - startedAt;
}
