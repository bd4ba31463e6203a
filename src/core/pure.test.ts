/** The core calls for no clock, chance, process or network: it works with all of them gone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../test/support/verifies.js';
import * as core from './index.js';

const FORBIDDEN = [
  'Date',
  'performance',
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'crypto',
  'Buffer',
  'console',
];

test('core works while the globals for time, chance and the world are gone', () => {
  verifies('core.pure');
  const secret = core.importPrivateKey(new Uint8Array(32).fill(7));
  assert.ok(secret !== undefined);
  const key = core.publicKeyBytes(secret);
  const saved = FORBIDDEN.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  const random = Math.random;
  let results: unknown[] = [];
  let failure: unknown;
  try {
    for (const name of FORBIDDEN) delete (globalThis as Record<string, unknown>)[name];
    Math.random = () => {
      throw new Error('chance was called for');
    };
    const value = core.parseJson(new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d]));
    const minter = new core.IdMinter(
      { now: () => 1_000, monotonic: () => 0 },
      { bytes: (count) => new Uint8Array(count).fill(9) },
    );
    results = [
      core.canonicalize(value),
      core.digest('ameesh-action/1', value).length,
      core.readJson('{').ok,
      core.displayText('a\n'),
      core.textFlags('\u0430b').length,
      core.redact({ token: 'x' }),
      core.isActionId(minter.mint('act')),
      core.isoTime(0),
    ];
  } catch (error) {
    failure = error;
  } finally {
    for (const [name, descriptor] of saved)
      if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
    Math.random = random;
  }
  assert.equal(failure, undefined);
  assert.deepEqual(results, [
    '{"a":1}',
    71,
    false,
    'a\\u{a}',
    2,
    { token: core.MASK },
    true,
    '1970-01-01T00:00:00.000Z',
  ]);
  assert.ok(core.admitKey(key) !== undefined);
});
