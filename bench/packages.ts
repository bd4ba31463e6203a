/**
 * Packages, measured through the gate's door on SQLite with full durability: envelopes accepted a second at 1 and 256 in
 * flight, each of 1 KiB for a package of its own caller; an envelope for a package of 999 inputs, by a gate that knows it
 * and by one that has to read it; and the reading of an envelope of 1 KiB and of 1 MiB.
 *
 * Beside it, in the same run: bare one-row FULL commits, a step of LangGraph on its SQLite checkpointer, JSON.parse, and
 * JSON.parse with the same schema. Every figure is the median of the rounds. Exits with 1 when a goal is missed.
 * `npm run bench:packages [-- --rounds 5] [--no-peers]`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Gate } from '../src/app/index.js';
import { parseEnvelope } from '../src/packages/parse.js';
import { envelopeSchema } from '../src/packages/schema.js';
import { bareSyncs } from './support/floors.js';
import { interleaved, median, printTable, timeText } from './support/measure.js';
import { openBeside, prepareGate } from './support/world.js';

const IN_FLIGHT = [1, 256] as const;
const COUNTS: Readonly<Record<number, number>> = { 1: 500, 256: 12_000 };
const GOAL_PER_SECOND = 3_000;
const GOAL_OF_FLOOR = 4;
const GOAL_LARGE_MS = 5;

const words = process.argv.slice(2);
const rounds = Number(words[words.indexOf('--rounds') + 1] ?? 5) || 5;
const withPeers = !words.includes('--no-peers');

function inputEnvelope(package_id: string, expected_revision: number, bytes = 1_024): string {
  const write = (content: string) =>
    JSON.stringify({
      protocol_version: '0.1',
      action_id: `act_${expected_revision}`,
      package_id,
      expected_revision,
      action: 'record_input',
      basis: {},
      payload: {
        input_id: `i${expected_revision}`,
        kind: 'text',
        content,
        source: 'adapter',
        disposition: 'incorporated',
      },
    });
  return write('Some words of a source.\\n'.repeat(bytes).slice(0, bytes - write('').length));
}

let serial = 0;

/** Each caller fills packages of its own, ten envelopes each; answers envelopes a second. */
async function applied(gate: Gate, inFlight: number, count: number): Promise<number> {
  let left = count;
  let accepted = 0;
  const caller = async () => {
    for (;;) {
      serial += 1;
      const id = `pkg_bench_${serial}`;
      await gate.packages.create(id, 'measure');
      for (let revision = 0; revision < 10; revision += 1) {
        if (left <= 0) return;
        left -= 1;
        await gate.packages.apply(inputEnvelope(id, revision));
        accepted += 1;
      }
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: inFlight }, caller));
  if (accepted !== count) throw new Error('an envelope is missing');
  return count / ((performance.now() - startedAt) / 1_000);
}

/** Milliseconds of an envelope for a package that is nearly full: warm, and by a gate that just opened. */
async function large(gate: Gate, folder: string): Promise<{ warm: number; cold: number }> {
  serial += 1;
  const id = `pkg_large_${serial}`;
  await gate.packages.create(id, 'measure');
  let revision = 0;
  const apply = async (by: Gate) => {
    const text = inputEnvelope(id, revision);
    const startedAt = performance.now();
    await by.packages.apply(text);
    revision += 1;
    return performance.now() - startedAt;
  };
  while (revision < 970) await apply(gate);
  const warm: number[] = [];
  while (revision < 999) warm.push(await apply(gate));
  const fresh = await openBeside(folder);
  const cold = await apply(fresh);
  await fresh.close();
  return { warm: median(warm), cold };
}

/** A step of the peer in a process of its own; installs it the first time. */
function runPeer(): Readonly<Record<string, number>> | undefined {
  const folder = join(dirname(fileURLToPath(import.meta.url)), 'peers', 'langgraph');
  if (!existsSync(join(folder, 'node_modules'))) {
    const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd: folder, stdio: 'inherit' });
    if (status !== 0) return undefined;
  }
  const plan = JSON.stringify([
    [1, 200],
    [256, 500],
  ]);
  const { status, stdout } = spawnSync(process.execPath, ['step.mjs', plan], { cwd: folder, encoding: 'utf8' });
  return status === 0 ? JSON.parse(stdout.trim().split('\n').at(-1) ?? '').rates : undefined;
}

function measureParse(): string[][] {
  const schema = envelopeSchema('record_input');
  return [1_024, 1 << 20].flatMap((bytes) => {
    const text = inputEnvelope('pkg_bench', 7, bytes);
    const reply = `I record this:\n${text}\nThat is all.`;
    const times = interleaved({
      'JSON.parse': () => JSON.parse(text),
      'JSON.parse and the schema': () => schema.safeParse(JSON.parse(text)),
      'an envelope': () => parseEnvelope(text),
      'an envelope in prose': () => parseEnvelope(reply),
    });
    const size = bytes === 1_024 ? '1 KiB' : '1 MiB';
    return Object.entries(times).map(([name, time]) => [
      `${size}: ${name}`,
      timeText(time),
      `${(time / times['JSON.parse']).toFixed(2)} × JSON.parse`,
    ]);
  });
}

async function main(): Promise<void> {
  const { gate, folder, home } = await prepareGate();
  const found = new Map<number, number[]>(IN_FLIGHT.map((inFlight) => [inFlight, []]));
  const floors: number[] = [];
  const peers: Readonly<Record<string, number>>[] = [];
  const larges: Awaited<ReturnType<typeof large>>[] = [];
  await applied(gate, 256, 4_000);
  for (let round = 0; round < rounds; round += 1) {
    floors.push(bareSyncs(folder).commitsPerSecond);
    for (const inFlight of IN_FLIGHT) found.get(inFlight)?.push(await applied(gate, inFlight, COUNTS[inFlight] ?? 0));
    larges.push(await large(gate, home.folder));
    const peer = withPeers ? runPeer() : undefined;
    if (peer !== undefined) peers.push(peer);
  }
  await gate.close();
  rmSync(folder, { recursive: true, force: true });
  const floor = median(floors);
  const rate = (inFlight: number) => median(found.get(inFlight) ?? []);
  const peerRate = (inFlight: number) =>
    peers.length === 0 ? 'did not run' : `${median(peers.map((one) => one[String(inFlight)] ?? 0)).toFixed(0)}/s`;
  printTable(
    ['an envelope accepted, or a step', ...IN_FLIGHT.map((inFlight) => `${inFlight} in flight`)],
    [
      ['countersign', ...IN_FLIGHT.map((inFlight) => `${rate(inFlight).toFixed(0)}/s`)],
      ['floor: bare one-row FULL commits, one by one', ...IN_FLIGHT.map(() => `${floor.toFixed(0)}/s`)],
      ['peer: LangGraph 1.7.3, SQLite checkpointer', ...IN_FLIGHT.map((inFlight) => peerRate(inFlight))],
    ],
  );
  process.stdout.write('\n');
  printTable(['reading an envelope', 'median', 'of the floor'], measureParse());
  const warm = median(larges.map((one) => one.warm));
  const cold = median(larges.map((one) => one.cold));
  const least = Math.min(GOAL_PER_SECOND, GOAL_OF_FLOOR * floor);
  const goals: [string, string, string, boolean][] = [
    ['envelopes a second at 256 in flight', rate(256).toFixed(0), `>= ${least.toFixed(0)}`, rate(256) >= least],
    [
      'an envelope for a package of 998 inputs, known to the gate',
      `${warm.toFixed(2)} ms`,
      `< ${GOAL_LARGE_MS} ms`,
      warm < GOAL_LARGE_MS,
    ],
    ['the same, by a gate that has to read it first', `${cold.toFixed(2)} ms`, '', true],
  ];
  process.stdout.write('\n');
  printTable(
    ['goal', 'measured', 'goal', ''],
    goals.map(([what, measured, goal, met]) => [what, measured, goal, goal === '' ? '' : met ? 'met' : 'MISSED']),
  );
  if (goals.some(([, , , met]) => !met)) process.exitCode = 1;
}

await main();
