/**
 * What an action costs where a great many stand in the store already: the time and the processor of one cycle (propose,
 * request, receipt, execute, confirmed), the memory of the process and the time to open, at 1,000 stored actions and at a
 * million.
 *
 * The large store holds the rows of the small one again and again under other ids: as many pages, as deep indexes.
 * `npm run bench:scale [-- --stored 1000000] [--rounds 3]`. A million actions take about 10 GB on disk.
 */
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { open } from '../src/app/index.js';
import { growStore } from './support/grow.js';
import { median, printTable } from './support/measure.js';
import { cycle, nothing, type Prepared, prepareGate } from './support/world.js';

const SMALL = 1_000;
const CYCLES = 2_000;
const IN_FLIGHT = 64;

const words = process.argv.slice(2);
const stored = numberAfter('--stored', 1_000_000);
const rounds = numberAfter('--rounds', 3);

function numberAfter(flag: string, otherwise: number): number {
  const at = words.indexOf(flag);
  return at < 0 ? otherwise : Number(words[at + 1]);
}

interface Measured {
  readonly openMs: number;
  readonly micros: number;
  readonly cpuMicros: number;
  readonly residentMb: number;
}

async function cycles(world: Pick<Prepared, 'gate' | 'key'>, count: number): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) await cycle(world);
    }),
  );
}

/** Opens the home, runs cycles and closes it again. */
async function measure(home: string, key: Prepared['key']): Promise<Measured> {
  const before = performance.now();
  const gate = await open({ home, as: 'agent:bench', connectors: [nothing] });
  const openMs = performance.now() - before;
  await cycles({ gate, key }, CYCLES / 4);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await cycles({ gate, key }, CYCLES);
  const micros = ((performance.now() - startedAt) * 1_000) / CYCLES;
  const cpu = process.cpuUsage(cpuBefore);
  await gate.close();
  return {
    openMs,
    micros,
    cpuMicros: (cpu.user + cpu.system) / CYCLES,
    residentMb: process.memoryUsage.rss() / 2 ** 20,
  };
}

async function main(): Promise<void> {
  const small = await prepareGate();
  await cycles(small, SMALL);
  await small.gate.close();
  const large = join(small.folder, 'large');
  cpSync(small.home.folder, large, { recursive: true });
  copyFileSync(small.home.store, join(large, 'ledger.sqlite'));
  const grown = growStore(join(large, 'ledger.sqlite'), stored);
  const found: Readonly<Record<'small' | 'large', Measured[]>> = { small: [], large: [] };
  for (let round = 0; round < rounds; round += 1) {
    found.small.push(await measure(small.home.folder, small.key));
    found.large.push(await measure(large, small.key));
  }
  rmSync(small.folder, { recursive: true, force: true });
  const row = (what: string, pick: (one: Measured) => number, goal: string) => {
    const [a, b] = [median(found.small.map(pick)), median(found.large.map(pick))];
    return [what, a.toFixed(1), b.toFixed(1), (b / a).toFixed(2), goal];
  };
  printTable(
    ['one cycle, 64 in flight', `${SMALL} stored`, `${grown} stored`, 'ratio', 'goal'],
    [
      row('microseconds', (one) => one.micros, '<= 1.2'),
      row('microseconds of processor', (one) => one.cpuMicros, ''),
      row('opening the gate, ms', (one) => one.openMs, 'the same'),
      row('resident memory after it, MiB', (one) => one.residentMb, 'flat'),
    ],
  );
}

await main();
