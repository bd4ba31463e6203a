/**
 * The main job, measured: propose → request → signed receipt → approve → execute with a connector that does nothing →
 * confirmed, through the library, on SQLite with full durability, at 1, 64 and 256 in flight.
 *
 * Beside it, in the same run: the disk (append and fdatasync), bare one-row FULL commits, the rows of the measured cycles
 * written again bare in the same transactions, the bare signatures and hashes, and two peers that approve and then execute: LangGraph on its SQLite checkpointer, mastra on libSQL.
 * Every figure is the median of the rounds. `npm run bench:gate [-- --rounds 5] [--no-peers]`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareCosts, bareSyncs } from './support/floors.js';
import { median, printTable } from './support/measure.js';
import { rewriteRows } from './support/rewrite.js';
import { cycle, type Prepared, prepareGate } from './support/world.js';

const IN_FLIGHT = [1, 64, 256] as const;
const CYCLES: Readonly<Record<number, number>> = { 1: 300, 64: 3_000, 256: 6_000 };

const words = process.argv.slice(2);
const rounds = Number(words[words.indexOf('--rounds') + 1] ?? 3) || 3;
const withPeers = !words.includes('--no-peers');

interface Measured {
  readonly perSecond: number;
  /** Microseconds of processor time of one cycle, all threads. */
  readonly cpuMicros: number;
  readonly commits: number;
  /** Events of one cycle, those of the thread among them. */
  readonly events: number;
  /** Microseconds of one cycle when its rows are written again bare: by the wall, and of processor time. */
  readonly bareRows: { readonly micros: number; readonly cpuMicros: number };
}

async function measure(prepared: Prepared, inFlight: number, cycles: number): Promise<Measured> {
  const { gate, home, folder } = prepared;
  const { sequence } = await gate.ledger.head();
  const commits = prepared.commits();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  let left = cycles;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await cycle(prepared);
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  const head = await gate.ledger.head();
  const bare = rewriteRows(home.store, sequence, folder);
  return {
    perSecond: cycles / seconds,
    cpuMicros: (cpu.user + cpu.system) / cycles,
    commits: (prepared.commits() - commits) / cycles,
    events: (head.sequence - sequence) / cycles,
    bareRows: { micros: bare.micros / cycles, cpuMicros: bare.cpuMicros / cycles },
  };
}

/** Runs a peer in a process of its own; installs it the first time. */
function runPeer(name: string): { name: string; rates: Readonly<Record<string, number>> } | undefined {
  const folder = join(dirname(fileURLToPath(import.meta.url)), 'peers', name);
  if (!existsSync(join(folder, 'node_modules'))) {
    const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd: folder, stdio: 'inherit' });
    if (status !== 0) return undefined;
  }
  const plan = JSON.stringify([
    [1, 100],
    [64, 300],
    [256, 500],
  ]);
  const { status, stdout } = spawnSync(process.execPath, ['cycle.mjs', plan], { cwd: folder, encoding: 'utf8' });
  return status === 0 ? JSON.parse(stdout.trim().split('\n').at(-1) ?? '') : undefined;
}

const PEERS = ['mastra', 'langgraph'];

async function main(): Promise<void> {
  const prepared = await prepareGate();
  await measure(prepared, 64, 1_000);
  const found = new Map<number, Measured[]>(IN_FLIGHT.map((inFlight) => [inFlight, []]));
  const costs: ReturnType<typeof bareCosts>[] = [];
  const syncs: ReturnType<typeof bareSyncs>[] = [];
  const peers = new Map<string, Readonly<Record<string, number>>[]>();
  for (let round = 0; round < rounds; round += 1) {
    syncs.push(bareSyncs(prepared.folder));
    costs.push(bareCosts());
    for (const inFlight of IN_FLIGHT) {
      found.get(inFlight)?.push(await measure(prepared, inFlight, CYCLES[inFlight] ?? 1_000));
    }
    for (const peer of withPeers ? PEERS : []) {
      const ran = runPeer(peer);
      if (ran !== undefined) peers.set(ran.name, [...(peers.get(ran.name) ?? []), ran.rates]);
    }
  }
  await prepared.gate.close();
  rmSync(prepared.folder, { recursive: true, force: true });
  report(found, costs, syncs, peers);
}

function report(
  found: ReadonlyMap<number, readonly Measured[]>,
  costs: readonly ReturnType<typeof bareCosts>[],
  syncs: readonly ReturnType<typeof bareSyncs>[],
  peers: ReadonlyMap<string, readonly Readonly<Record<string, number>>[]>,
): void {
  const of = (inFlight: number, pick: (measured: Measured) => number) => median((found.get(inFlight) ?? []).map(pick));
  const cost = (pick: (one: ReturnType<typeof bareCosts>) => number) => median(costs.map(pick));
  const perSecond = (value: number) => `${value.toFixed(0)}/s`;
  const rate = (inFlight: number) => of(inFlight, (m) => m.perSecond);
  const peerRates = [...peers].map(([name, rates]) => ({
    name,
    at: (inFlight: number) => median(rates.map((one) => one[String(inFlight)] ?? 0)),
  }));
  printTable(
    ['approve, then execute once', ...IN_FLIGHT.map((inFlight) => `${inFlight} in flight`)],
    [
      ['countersign', ...IN_FLIGHT.map((inFlight) => perSecond(rate(inFlight)))],
      ...peerRates.map(({ name, at }) => [name, ...IN_FLIGHT.map((inFlight) => perSecond(at(inFlight)))]),
    ],
  );
  const commitMicros = 1e6 / median(syncs.map((one) => one.commitsPerSecond));
  process.stdout.write('\nfloors of the same run\n');
  printTable(
    ['what', 'measured'],
    [
      ['append 4 KiB and fdatasync', perSecond(median(syncs.map((one) => one.syncsPerSecond)))],
      ['bare one-row commit, WAL and FULL', perSecond(1e6 / commitMicros)],
      [
        'Ed25519 sign / verify',
        `${cost((c) => c.signMicros).toFixed(1)} / ${cost((c) => c.verifyMicros).toFixed(1)} µs`,
      ],
      ['SHA-256 of 1 KiB', `${cost((c) => c.hashMicros).toFixed(2)} µs`],
      ...IN_FLIGHT.map((inFlight) => {
        const bare = (pick: (m: Measured['bareRows']) => number) => of(inFlight, (m) => pick(m.bareRows)).toFixed(0);
        return [
          `the rows of a cycle, bare, in the transactions of ${inFlight} in flight`,
          `${bare((m) => m.micros)} µs, ${bare((m) => m.cpuMicros)} µs of processor`,
        ];
      }),
    ],
  );
  // Of each event its own hash and the log's; five messages; digests of arguments, action, effect, binding, facts,
  // summary and challenge where they are first made and where they are first checked.
  const hashes = (inFlight: number) => 2 * of(inFlight, (m) => m.events) + 17;
  const crypto = (inFlight: number, threadSigns: number) =>
    cost((c) => c.verifyMicros) +
    (1 + threadSigns) * cost((c) => c.signMicros) +
    hashes(inFlight) * cost((c) => c.hashMicros);
  const commitsOf = (inFlight: number) => of(inFlight, (m) => m.commits);
  const alone = commitsOf(1) * commitMicros + crypto(1, commitsOf(1));
  const aloneRows = of(1, (m) => m.bareRows.micros) + crypto(1, commitsOf(1));
  const busyCpu = of(256, (m) => m.bareRows.cpuMicros) + crypto(256, commitsOf(256));
  const best = Math.max(0, ...peerRates.map(({ at }) => at(256)));
  process.stdout.write('\ngoals\n');
  printTable(
    ['what', 'measured', 'goal'],
    [
      [
        `1 in flight: a cycle over ${commitsOf(1).toFixed(1)} one-row commits and its cryptography, bare`,
        (1e6 / rate(1) / alone).toFixed(2),
        '<= 1.5',
      ],
      [
        '1 in flight: a cycle over the commits of its own rows and its cryptography, bare',
        (1e6 / rate(1) / aloneRows).toFixed(2),
        '<= 1.5',
      ],
      [
        '256 in flight: over the best peer',
        best === 0 ? 'no peer ran' : (rate(256) / best).toFixed(1),
        '>= 5, better 10',
      ],
      [
        `256 in flight: ${of(256, (m) => m.cpuMicros).toFixed(0)} µs of processor over its signatures, hashes and rows, bare`,
        (of(256, (m) => m.cpuMicros) / busyCpu).toFixed(2),
        '<= 2',
      ],
    ],
  );
}

await main();
