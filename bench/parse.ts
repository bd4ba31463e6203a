/**
 * Strict JSON, canonical JSON and digests beside the platform's own and a public library.
 * Run with `npx tsx bench/parse.ts`; exits with 1 when a goal is missed. Goals are ratios of speed: reading at least
 * 0.20 of `JSON.parse`, canonical text at least 0.9 of `JSON.stringify`, both on an envelope of 1 KiB.
 */
import canonicalizeOfLibrary from 'canonicalize';
import { canonicalize, digest, type Json, parseJson, readJson, redact } from '../src/core/index.js';
import { interleaved, printTable, timeText } from './support/measure.js';

const PARSE_GOAL = 0.2;
const CANONICAL_GOAL = 0.9;
const MEBIBYTE = 1 << 20;

/** An action envelope whose text has about `size` bytes; half of it is a body of prose. */
function envelope(size: number): string {
  const rows: object[] = [];
  const build = (body: string) =>
    JSON.stringify({
      envelope: 'countersign/1',
      kind: 'action',
      project: 'web/shop',
      connector: 'mail',
      operation: 'send',
      target: 'customers@example.org',
      class: 'external',
      amount: 1250,
      currency: 'EUR',
      on_behalf_of: ['human:anna', 'human:bert'],
      args: {
        to: ['a@example.org', 'b@example.org'],
        subject: 'Your order – shipped',
        rows,
        body,
        retries: 3,
        urgent: true,
      },
      preconditions: { ratio: 0.25, seen: `sha256:${'0123456789abcdef'.repeat(4)}`, at: 1_790_000_000_000 },
    });
  while (build('').length < size / 2)
    rows.push({ id: rows.length, name: `item ${rows.length}`, price: 19.99, tags: ['new', 'sale'] });
  const line = 'Hello Anna, your order has been shipped today.\n';
  return build(line.repeat(Math.max(0, Math.floor((size - build('').length) / (line.length + 1)))));
}

function measureSize(name: string, size: number): { rows: string[][]; parseRatio: number; canonicalRatio: number } {
  const text = envelope(size);
  const bytes = new TextEncoder().encode(text);
  const value = parseJson(text);
  const canonical = canonicalize(value);
  // The same value with its keys in order: what comes back from a store.
  const ordered = JSON.parse(canonical) as Json;
  const times = interleaved({
    'JSON.parse': () => JSON.parse(text),
    'strict read, string': () => readJson(text),
    'strict read, bytes': () => readJson(bytes),
    'JSON.stringify': () => JSON.stringify(value),
    canonicalize: () => canonicalize(value),
    'canonicalize, keys in order': () => canonicalize(ordered),
    'canonicalize of the library': () => canonicalizeOfLibrary(value),
    digest: () => digest('ameesh-action/1', value),
    redact: () => redact(value),
  });
  const peerOf = (work: string) =>
    work.includes('JSON.parse') || work.includes('read') ? 'JSON.parse' : 'JSON.stringify';
  const rows = Object.entries(times).map(([work, time]) => {
    const peer = peerOf(work);
    return [`${name} ${work}`, timeText(time), `${(times[peer] / time).toFixed(2)} × ${peer}`];
  });
  const parseRatio = times['JSON.parse'] / times['strict read, string'];
  return { rows, parseRatio, canonicalRatio: times['JSON.stringify'] / times.canonicalize };
}

function measureHostile(): string[][] {
  const keys = Array.from({ length: 80_000 }, (_, index) => `"k${index}":1`).join(',');
  const texts: Readonly<Record<string, string>> = {
    '[': '['.repeat(MEBIBYTE),
    '{"a":': '{"a":'.repeat(MEBIBYTE / 5),
    '"': '"'.repeat(MEBIBYTE),
    '\\': '\\'.repeat(MEBIBYTE),
    'a string of \\\\': `"${'\\\\'.repeat(MEBIBYTE / 2 - 1)}"`,
    'a string of \\u0041': `"${'\\u0041'.repeat(MEBIBYTE / 6 - 1)}"`,
    digits: '1'.repeat(MEBIBYTE),
    '80,000 keys, the last one twice': `{${keys},"k0":1}`,
  };
  return Object.entries(texts).map(([name, text]) => {
    const [time] = Object.values(interleaved({ read: () => readJson(text) }, { rounds: 5, warmups: 1, roundMs: 5 }));
    const result = readJson(text);
    return [`1 MiB of ${name}`, timeText(time as number), result.ok ? 'read' : result.problem.reason];
  });
}

const small = measureSize('1 KiB', 1024);
const large = measureSize('1 MiB', MEBIBYTE);
printTable(['work', 'median', 'speed'], [...small.rows, ...large.rows]);
process.stdout.write('\n');
printTable(['hostile input', 'median', 'outcome'], measureHostile());
process.stdout.write('\n');
const goals: readonly (readonly [string, number, number])[] = [
  ['strict read of 1 KiB / JSON.parse', small.parseRatio, PARSE_GOAL],
  ['canonicalize of 1 KiB / JSON.stringify', small.canonicalRatio, CANONICAL_GOAL],
];
printTable(
  ['goal', 'measured', 'at least', ''],
  goals.map(([name, measured, least]) => [
    name,
    measured.toFixed(2),
    least.toFixed(2),
    measured >= least ? 'met' : 'MISSED',
  ]),
);
if (goals.some(([, measured, least]) => measured < least)) process.exitCode = 1;
