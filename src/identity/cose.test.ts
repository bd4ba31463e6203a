/** The public key of a passkey: one spelling, two algorithms, sound points; the platform and a second library agree. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { p256 } from '@noble/curves/nist.js';
import fc from 'fast-check';
import { authenticator } from '../../test/support/authenticator.js';
import { verifies } from '../../test/support/verifies.js';
import { ownVector } from '../../vectors/read.js';
import { isP256Point } from '../core/index.js';
import { passkeyAlgorithm } from './cose.js';

const es256 = (x: string, y: string) => `a5010203262001215820${x}225820${y}`;
const eddsa = (x: string) => `a4010103272006215820${x}`;
const GOOD = authenticator('human:alice').publicKey;
const [X, Y] = [GOOD.slice(20, 84), GOOD.slice(90)];
const PRIME = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff';

describe('the public key of a passkey', () => {
  it('is P-256 with ES256 or Ed25519 with EdDSA', () => {
    verifies('receipts.webauthn.keys');
    assert.equal(passkeyAlgorithm(GOOD), 'ES256');
    assert.equal(passkeyAlgorithm(es256(X, Y)), 'ES256');
    assert.equal(passkeyAlgorithm(authenticator('human:alice', 'EdDSA').publicKey), 'EdDSA');
  });

  it('has one spelling: another order, length, algorithm or curve is refused', () => {
    verifies('receipts.webauthn.keys');
    const refused = [
      ...['', GOOD.toUpperCase(), `${GOOD}00`, `${GOOD}\n`, GOOD.slice(0, -2), ` ${GOOD}`],
      GOOD.replace(/^a501020326/, 'a503260102'),
      GOOD.replace(/^a501020326/, 'bf01020326').concat('ff'),
      // ES384, ES256K, RS256 and EdDSA by their names over this curve; P-384 with this algorithm.
      ...['0338222001', '03382e2001', '0339010020', '03272001', '03262002'].map((words) =>
        GOOD.replace('03262001', words),
      ),
      `a50102032620012158200${X}225820${Y}`,
      eddsa(X).replace('2006', '2007'),
      eddsa(X).replace('0327', '0326'),
    ];
    for (const text of refused) assert.equal(passkeyAlgorithm(text), undefined, text);
  });

  it('is a sound point', () => {
    verifies('receipts.webauthn.keys');
    const flipped = (hex: string) => hex.replace(/.$/, (digit) => (Number.parseInt(digit, 16) ^ 1).toString(16));
    const zero = '0'.repeat(64);
    for (const [x, y] of [
      [X, flipped(Y)],
      [flipped(X), Y],
      [zero, zero],
      [PRIME, Y],
      [X, 'f'.repeat(64)],
      [Y, X],
    ]) {
      assert.equal(passkeyAlgorithm(es256(x as string, y as string)), undefined);
    }
    const { keys } = ownVector<{ keys: string[] }>('key-admission/small-order.json');
    for (const key of keys) assert.equal(passkeyAlgorithm(eddsa(key)), undefined, key);
  });

  it('is a point of P-256 exactly where a second library says so', () => {
    verifies('receipts.webauthn.keys');
    const coordinate = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const scalar = fc.bigInt({ min: 1n, max: p256.Point.Fn.ORDER - 1n });
    fc.assert(
      fc.property(scalar, coordinate, fc.nat(300), (secret, noise, at) => {
        const bytes = p256.Point.BASE.multiply(secret).toBytes(false);
        assert.ok(isP256Point(bytes.slice(1, 33), bytes.slice(33)));
        const broken = bytes.map((byte, place) => (place === 1 + (at % 64) ? byte ^ ((at % 255) + 1) : byte));
        for (const [x, y] of [
          [broken.slice(1, 33), broken.slice(33)],
          [noise, bytes.slice(33)],
        ] as const) {
          assert.equal(isP256Point(x, y), isPointByNoble(x, y));
        }
      }),
      { numRuns: 200 },
    );
    for (const length of [0, 31, 33]) assert.equal(isP256Point(new Uint8Array(length), new Uint8Array(32)), false);
  });
});

function isPointByNoble(x: Uint8Array, y: Uint8Array): boolean {
  try {
    p256.Point.fromBytes(Uint8Array.from([4, ...x, ...y])).assertValidity();
    return true;
  } catch {
    return false;
  }
}
