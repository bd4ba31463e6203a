/**
 * The ledger by itself on SQLite with full durability: commits at 1, 64 and 256 in flight, of one event and of two with a
 * claim, each event with 1 KiB of data; beside the disk (append and fdatasync) and bare one-row FULL commits of the same run.
 *
 * `tsx bench/ledger.ts [--rounds 5] [--stored 1000000]`. With `--stored` it also fills a store with that many events and
 * compares the cost of a commit, and of opening, with a store of 1,000. Every figure is the median of the rounds; exits with
 * 1 when a commit in the large store costs more than 1.2 times as much as in the small one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digest, type Json } from '../src/core/index.js';
import { type Kind, LocalLedger, type RecordRef, registerKinds, SqliteStore, type Work } from '../src/ledger/index.js';
import { bareSyncs } from './support/floors.js';
import { median, printTable, timeText } from './support/measure.js';

const IN_FLIGHT = [1, 64, 256] as const;
const COMMITS: Readonly<Record<number, number>> = { 1: 1_000, 64: 8_000, 256: 16_000 };
const COST_RATIO_MAX = 1.2;
const BODY = 'x'.repeat(1_000);

const words = process.argv.slice(2);
const rounds = numberAfter('--rounds', 5);
const stored = numberAfter('--stored', 0);

function numberAfter(flag: string, otherwise: number): number {
  const at = words.indexOf(flag);
  return at < 0 ? otherwise : Number(words[at + 1]);
}

type Note = { readonly count: number; readonly last: Json };

const roomKind: Kind<Note> = {
  name: 'room',
  version: 1,
  evolve: (state, event) => ({ count: (state?.count ?? 0) + 1, last: event.data }),
  columns: () => ({ project: 'acme', status: 'open' }),
};

let serial = 0;

/** A new record with one event; or two records with an event each, under an idempotency key and a nonce. */
function workOf(events: 1 | 2): Work<Json> {
  serial += 1;
  const key = String(serial).padStart(10, '0');
  const writes: RecordRef[] = Array.from({ length: events }, (_, i) => ({ kind: 'room', id: `r${key}-${i}` }));
  const command = digest('countersign-command/1', key);
  const claim = { scope: 'bench', principal: 'agent:bot', key, command };
  return {
    actor: 'agent:bot',
    writes,
    ...(events === 1 ? {} : { claim, once: [{ scope: 'nonce', key }] }),
    decide: (view) => ({
      events: writes.map((record) => ({
        record,
        type: 'noted',
        data: { body: BODY, before: view.get(roomKind, record.id)?.revision ?? null },
      })),
      outcome: null,
    }),
  };
}

function openAt(path: string, newLedgerId?: string): LocalLedger {
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const random = { bytes: (count: number) => new Uint8Array(count).fill(7) };
  return new LocalLedger({
    store: new SqliteStore(path, newLedgerId),
    kinds: registerKinds([roomKind]),
    clock,
    random,
  });
}

interface Measured {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly tailMs: number;
}

/** Keeps `inFlight` commits waiting until `count` are done. */
async function run(ledger: LocalLedger, inFlight: number, count: number, events: 1 | 2): Promise<Measured> {
  const times: number[] = [];
  let started = 0;
  const caller = async () => {
    while (started < count) {
      started += 1;
      const since = performance.now();
      await ledger.commit(workOf(events));
      times.push(performance.now() - since);
    }
  };
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: inFlight }, caller));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: count / seconds, cpuMicros: (user + system) / count, tailMs: tailOf(times) };
}

/** The value below which 99 in 100 lie. */
function tailOf(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.ceil(0.99 * times.length) - 1] ?? 0;
}

function middle(all: readonly Measured[]): Measured {
  const of = (pick: (one: Measured) => number) => median(all.map(pick));
  return { perSecond: of((m) => m.perSecond), cpuMicros: of((m) => m.cpuMicros), tailMs: of((m) => m.tailMs) };
}

async function measureCommits(folder: string): Promise<void> {
  const ledger = openAt(join(folder, 'ledger.db'), '0'.repeat(32));
  const cases = IN_FLIGHT.flatMap((inFlight) => ([1, 2] as const).map((events) => ({ inFlight, events })));
  const results = new Map(cases.map((one) => [one, [] as Measured[]]));
  const syncs: number[] = [];
  const bare: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const floor = bareSyncs(folder);
    if (round >= 0) syncs.push(floor.syncsPerSecond);
    if (round >= 0) bare.push(floor.commitsPerSecond);
    for (const one of cases) {
      const measured = await run(ledger, one.inFlight, COMMITS[one.inFlight] ?? 0, one.events);
      if (round >= 0) results.get(one)?.push(measured);
    }
  }
  await ledger.close();
  const floor = median(bare);
  printTable(
    ['work', 'a second', 'of bare commits', 'processor', 'p99'],
    [
      ['append 4 KiB, fdatasync', median(syncs).toFixed(0), (median(syncs) / floor).toFixed(2), '', ''],
      ['bare one-row FULL commit', floor.toFixed(0), '1.00', '', ''],
      ...cases.map((one) => {
        const { perSecond, cpuMicros, tailMs } = middle(results.get(one) ?? []);
        const name = `commit of ${one.events === 1 ? '1 event' : '2 events, 2 claims'}, ${one.inFlight} in flight`;
        return [
          name,
          perSecond.toFixed(0),
          (perSecond / floor).toFixed(2),
          timeText(cpuMicros * 1e3),
          `${tailMs.toFixed(2)} ms`,
        ];
      }),
    ],
  );
}

/** Fills a store up to `events`, and answers how long opening it and reading its head takes, in milliseconds. */
async function filled(path: string, events: number): Promise<{ ledger: LocalLedger; openMs: number }> {
  const filling = openAt(path, '0'.repeat(32));
  await run(filling, Math.min(512, events), events, 1);
  await filling.close();
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const since = performance.now();
    const ledger = openAt(path);
    await ledger.head();
    times.push(performance.now() - since);
    await ledger.close();
  }
  return { ledger: openAt(path), openMs: median(times) };
}

async function measureGrowth(folder: string, large: number): Promise<boolean> {
  const sizes = [1_000, large];
  const stores: Awaited<ReturnType<typeof filled>>[] = [];
  for (const size of sizes) stores.push(await filled(join(folder, `stored-${size}.db`), size));
  const results = stores.map(() => ({ one: [] as Measured[], many: [] as Measured[] }));
  for (let round = -1; round < rounds; round += 1) {
    for (const [i, { ledger }] of stores.entries()) {
      const one = await run(ledger, 1, 500, 1);
      const many = await run(ledger, 256, 4_000, 1);
      if (round >= 0) results[i]?.one.push(one);
      if (round >= 0) results[i]?.many.push(many);
    }
  }
  for (const { ledger } of stores) await ledger.close();
  const rows = results.map(({ one, many }) => ({ one: middle(one), many: middle(many) }));
  printTable(
    ['stored events', 'opening', 'commits a second, 1 in flight', '256 in flight', 'processor at 1', 'at 256'],
    rows.map(({ one, many }, i) => [
      String(sizes[i]),
      `${stores[i]?.openMs.toFixed(2)} ms`,
      one.perSecond.toFixed(0),
      many.perSecond.toFixed(0),
      timeText(one.cpuMicros * 1e3),
      timeText(many.cpuMicros * 1e3),
    ]),
  );
  const ratios = (['one', 'many'] as const).map(
    (which) => (rows[0]?.[which].perSecond ?? 0) / (rows[1]?.[which].perSecond ?? 1),
  );
  process.stdout.write(
    `\ncost of a commit, large to small: ${ratios.map((ratio) => ratio.toFixed(2)).join(' and ')}\n`,
  );
  return ratios.every((ratio) => ratio <= COST_RATIO_MAX);
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  try {
    await measureCommits(folder);
    process.stdout.write('\n');
    if (stored > 0 && !(await measureGrowth(folder, stored))) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
