/**
 * Envelopes mutated by chance from a seed, and what an independent reading says of them. A run tells its seed when it fails.
 */
import assert from 'node:assert/strict';
import { Refusal } from '../../src/core/index.js';
import { parseEnvelope } from '../../src/packages/index.js';
import { type Envelope, FIELDS } from '../../src/packages/schema.js';
import { envelope, PAYLOADS, packageWorld } from './package-world.js';

/** Numbers below 2^32, from a seed (mulberry32). */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

const TOKENS = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '\\u0000', '\\ud800', '\n', '\u2028', '\ufeff', '\u0000', '\ud800'],
  ...['null', 'true', '1.0', '-0', '1e9', '99999999999999999999', '{}', '[]', '""', '0'],
  ...['"__proto__":{},', '"basis":{},', '"approved":true,', '"action":"cancel",', '"reason":null,', ',"extra":1'],
  ...['pkg_', 'act_', 'cancel', 'confirm_summary', '..', '/', '.git', 'Sure: ', '```json\n', '```'],
];

const SEEDS = Object.keys(FIELDS).map((action) => JSON.stringify(envelope(action as keyof typeof FIELDS, 0)));
SEEDS.push(
  `Here it is:\n${SEEDS[0]}\nDone.`,
  JSON.stringify(envelope('set_objective', 0, { payload: { statement: 'é — 🎉' } })),
);

function mutated(next: () => number): string {
  let text = SEEDS[next() % SEEDS.length] as string;
  for (let count = next() % 4; count >= 0; count -= 1) {
    const at = next() % (text.length + 1);
    const to = at + (next() % 12);
    switch (next() % 6) {
      case 0:
        text = text.slice(0, at) + text.slice(to);
        break;
      case 1:
        text = text.slice(0, at) + TOKENS[next() % TOKENS.length] + text.slice(at);
        break;
      case 2:
        text = text.slice(0, at) + TOKENS[next() % TOKENS.length] + text.slice(to);
        break;
      case 3:
        text = text.slice(0, at) + text.slice(at, to) + text.slice(at);
        break;
      case 4:
        text = text.slice(0, at) + String.fromCharCode(next() % 0x10000) + text.slice(at + 1);
        break;
      default: {
        const other = SEEDS[next() % SEEDS.length] as string;
        text = text.slice(0, at) + other.slice(next() % other.length);
      }
    }
  }
  return text;
}

/** What the platform's own reader and a plain look at the fields say of a text that was accepted. */
function demandPlain(text: string, accepted: Envelope): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  }
  assert.deepEqual(value, accepted);
  const read = value as Envelope;
  const names = ['action', 'action_id', 'basis', 'expected_revision', 'package_id', 'payload', 'protocol_version'];
  assert.deepEqual(Object.keys(read).sort(), names);
  assert.ok(
    read.protocol_version === '0.1' && Number.isSafeInteger(read.expected_revision) && read.expected_revision >= 0,
  );
  assert.ok(
    /^pkg_[A-Za-z0-9_-]{1,63}$/.test(read.package_id) && [...read.action_id].length <= 64 && read.action_id !== '',
  );
  assert.ok(Object.hasOwn(PAYLOADS, read.action));
  for (const part of ['basis', 'payload'] as const) {
    for (const name of Object.keys(read[part])) assert.ok(Object.hasOwn(FIELDS[read.action][part], name));
  }
}

const CODES = new Set([
  'PACKAGE_NOT_FOUND',
  'ACTION_ID_REUSE',
  'STALE_ACTION',
  'ILLEGAL_TRANSITION',
  'GATE_UNSATISFIED',
  'INVALID_PAYLOAD',
]);

/** Reads `count` mutated envelopes, and applies those that are ones. Answers how many were. */
export async function fuzzEnvelopes(count: number, seed: number): Promise<number> {
  const next = chance(seed);
  let world = await packageWorld();
  let accepted = 0;
  for (let at = 0; at < count; at += 1) {
    const text = mutated(next);
    let read: Envelope | undefined;
    const startedAt = performance.now();
    try {
      read = parseEnvelope(text);
    } catch (error) {
      assert.ok(
        error instanceof Refusal && error.code === 'INVALID_ENVELOPE',
        `seed ${seed}, text ${at}: ${String(error)}`,
      );
    }
    assert.ok(performance.now() - startedAt < 5_000, `seed ${seed}, text ${at} hangs`);
    if (read === undefined) continue;
    demandPlain(text, read);
    accepted += 1;
    // Packages grow and end: a fresh one now and then.
    if (accepted % 100 === 0) world = await packageWorld();
    await world.apply(text).catch((error: unknown) => {
      assert.ok(error instanceof Refusal && CODES.has(error.code), `seed ${seed}, text ${at}: ${String(error)}`);
    });
  }
  return accepted;
}
