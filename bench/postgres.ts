/**
 * The main job on PostgreSQL, measured: propose → request → signed receipt → approve → execute with a connector that does
 * nothing → confirmed, with one gate and with two, at 1, 64 and 256 in flight, on a server with full durability.
 *
 * Beside it, in the same run on the same server: its own rows written bare, pgbench's one-row inserts where it is
 * installed, DBOS with one step and with a wait for an approval, pg-boss, LangGraph on its PostgreSQL checkpointer; and how
 * long it takes from the decision on one gate to the launch on another. `--long` adds the cost with ten million events
 * stored, or as many as it is given, against ten thousand.
 * Figures are printed and never pinned. `npm run bench:postgres [-- --rounds 3] [--no-peers] [--long [EVENTS]]`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { signWith } from '../src/app/index.js';
import { freshDatabase, onDatabase, PostgresServer } from '../test/support/postgres-server.js';
import { median, printTable } from './support/measure.js';
import { bareRate } from './support/rewrite-postgres.js';
import { cycle, openBeside, type Prepared, prepareGate } from './support/world.js';

const IN_FLIGHT = [1, 64, 256] as const;
const CYCLES: Readonly<Record<number, number>> = { 1: 100, 64: 1_500, 256: 2_000 };
/** Rounds over a short and a long history. */
const HISTORY_ROUNDS = 5;
const HERE = dirname(fileURLToPath(import.meta.url));

const words = process.argv.slice(2);
const rounds = Number(words[words.indexOf('--rounds') + 1] ?? 3) || 3;

/** Cycles per second of one gate in this process. */
async function rate(prepared: Pick<Prepared, 'gate' | 'key'>, inFlight: number, cycles: number): Promise<number> {
  const startedAt = performance.now();
  let left = cycles;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await cycle(prepared);
    }),
  );
  return (cycles / (performance.now() - startedAt)) * 1_000;
}

/** A second gate, in a process of its own on the same database: it works whenever it is told how much. */
async function secondGate(home: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', join(HERE, 'support', 'second-gate.ts'), home], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  return {
    rate: async (inFlight: number, cycles: number): Promise<number> => {
      const answer = once(lines, 'line');
      child.stdin.write(`${inFlight} ${cycles}\n`);
      return Number((await answer)[0]);
    },
    end: () => child.stdin.end(),
  };
}

/** Milliseconds from the answer to a decision on one gate until another one has launched the action. */
async function decisionToLaunch(deciding: Prepared, launching: Prepared['gate'], count: number): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const to = `elsewhere-${process.pid}-${i}`;
    const call = { project: 'bench', connector: 'nothing', operation: 'send', target: to, args: { to, text: 'x' } };
    const { action_id } = await deciding.gate.propose(call);
    const { request } = await deciding.gate.request(action_id, { approver: 'human:alice' });
    const { sequence } = await launching.ledger.head();
    const stop = new AbortController();
    const launched = (async () => {
      for await (const { event } of launching.ledger.watch(sequence, stop.signal)) {
        if (event.record.id !== action_id || event.type !== 'action-approved') continue;
        await launching.execute(action_id);
        return performance.now();
      }
      return Number.NaN;
    })();
    await deciding.gate.approve(action_id, signWith(deciding.key, request));
    const decidedAt = performance.now();
    took.push((await launched) - decidedAt);
  }
  return took.sort((a, b) => a - b);
}

/** One-row inserts per second by pgbench; undefined where it is not installed. */
function pgbenchRate(folder: string, database: string, clients: number): number | undefined {
  const script = join(tmpdir(), `countersign-pgbench-${process.pid}.sql`);
  writeFileSync(script, "INSERT INTO bare (text) VALUES (repeat('x', 600));\n");
  const options = ['-h', folder, '-U', 'postgres', '-n', '-M', 'prepared', '-T', '3', '-c', String(clients)];
  const { status, stdout } = spawnSync('pgbench', [...options, '-f', script, database], { encoding: 'utf8' });
  rmSync(script);
  const found = status === 0 ? /tps = ([0-9.]+)/.exec(stdout)?.[1] : undefined;
  return found === undefined ? undefined : Number(found);
}

const PEERS = [
  { folder: 'dbos', env: {} },
  { folder: 'dbos', env: { PEER_WAITS: '1' } },
  { folder: 'pgboss', env: {} },
  { folder: 'langgraph-postgres', env: {} },
] as const;

/** Runs a peer in a process of its own on a fresh database; installs it the first time. */
async function runPeer(server: PostgresServer, peer: (typeof PEERS)[number]) {
  const cwd = join(HERE, 'peers', peer.folder);
  if (!existsSync(join(cwd, 'node_modules'))) {
    const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd, stdio: 'inherit' });
    if (status !== 0) return undefined;
  }
  const { url, drop } = await freshDatabase(server.url('postgres'));
  const env = { ...process.env, ...peer.env, PEER_DATABASE: url };
  const plan = '[[1,60],[64,300],[256,500]]';
  const { status, stdout } = spawnSync(process.execPath, ['cycle.mjs', plan], { cwd, env, encoding: 'utf8' });
  await drop();
  const line = stdout.trim().split('\n').at(-1) ?? '';
  return status === 0 ? (JSON.parse(line) as { name: string; rates: Record<string, number> }) : undefined;
}

type Rates = Map<string, Map<number, number[]>>;

function note(rates: Rates, name: string, inFlight: number, value: number): void {
  const row = rates.get(name) ?? new Map<number, number[]>();
  row.set(inFlight, [...(row.get(inFlight) ?? []), value]);
  rates.set(name, row);
}

async function round(server: PostgresServer, prepared: Prepared, database: string, rates: Rates): Promise<void> {
  const second = await secondGate(prepared.home.folder);
  for (const inFlight of IN_FLIGHT) {
    const cycles = CYCLES[inFlight] ?? 1_000;
    const inserts = pgbenchRate(server.folder, database, Math.min(inFlight, 64));
    if (inserts !== undefined) note(rates, 'pgbench, one-row inserts (at most 64 clients)', inFlight, inserts);
    note(rates, 'countersign, one gate', inFlight, await rate(prepared, inFlight, cycles));
    const bare = await bareRate(server.url('postgres'), server.url(database), inFlight, Math.min(cycles, 1_000));
    note(rates, 'its rows alone, written bare', inFlight, bare);
    const half = Math.max(1, Math.floor(inFlight / 2));
    const both = await Promise.all([rate(prepared, half, cycles / 2), second.rate(half, cycles / 2)]);
    if (inFlight > 1) note(rates, 'countersign, two gates', inFlight, both[0] + both[1]);
  }
  second.end();
  if (words.includes('--no-peers')) return;
  for (const peer of PEERS) {
    const ran = await runPeer(server, peer);
    for (const [inFlight, value] of Object.entries(ran?.rates ?? {}))
      note(rates, ran?.name ?? '', Number(inFlight), value);
  }
}

/** Fills the tables with closed records of one event each, as a gate of many years has them. */
async function grow(url: string, events: number): Promise<void> {
  const rows = `generate_series(1, ${events}) AS n`;
  const hash = "'sha256:' || encode(sha256(n::text::bytea), 'hex')";
  await onDatabase(
    url,
    `INSERT INTO countersign.events SELECT 'room', 'old-' || n, 0, 'room-added', 0, 'agent:bench',
       '{"text":"' || repeat('x', 400) || '"}', '[]', NULL, ${hash} FROM ${rows}`,
  );
  await onDatabase(
    url,
    `INSERT INTO countersign.records SELECT 'room', 'old-' || n, 0, ${hash}, 0, 1, NULL, 'bench', 'closed', 'agent:bench',
       NULL, NULL FROM ${rows}`,
  );
}

/** Gates with a short and a long history, measured in turn, so that a slow moment of the machine hits each alike. */
async function costOfHistory(server: PostgresServer, longest: number): Promise<void> {
  const gates: { events: number; prepared: Prepared; rates: number[] }[] = [];
  for (const events of [10_000, longest]) {
    const { url } = await freshDatabase(server.url('postgres'));
    const prepared = await prepareGate(url);
    await grow(url, events);
    await rate(prepared, 64, 500);
    gates.push({ events, prepared, rates: [] });
  }
  for (let i = 0; i < HISTORY_ROUNDS; i += 1) {
    for (const { prepared, rates } of gates) rates.push(await rate(prepared, 64, 1_000));
  }
  process.stdout.write('\n');
  printTable(
    ['cost of a long history, 64 in flight', 'cycles per second'],
    gates.map(({ events, rates }) => [`${events.toLocaleString('en')} events stored`, `${median(rates).toFixed(0)}/s`]),
  );
  for (const { prepared } of gates) await prepared.gate.close();
}

async function main(): Promise<void> {
  const server = new PostgresServer(['shared_buffers=512MB', 'max_wal_size=4GB']);
  await server.start();
  const { url } = await freshDatabase(server.url('postgres'));
  const database = new URL(url).pathname.slice(1);
  await onDatabase(url, 'CREATE TABLE public.bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text)');
  const prepared = await prepareGate(url);
  const other = await openBeside(prepared.home.folder);
  await rate(prepared, 64, 1_000);
  const rates: Rates = new Map();
  for (let i = 0; i < rounds; i += 1) await round(server, prepared, database, rates);
  const took = await decisionToLaunch(prepared, other, 100);
  printTable(
    ['cycles per second, median of the rounds', ...IN_FLIGHT.map((inFlight) => `${inFlight} in flight`)],
    [...rates].map(([name, row]) => [
      name,
      ...IN_FLIGHT.map((inFlight) => (row.has(inFlight) ? `${median(row.get(inFlight) ?? []).toFixed(0)}/s` : '-')),
    ]),
  );
  const at = (share: number) => `${(took[Math.floor((took.length - 1) * share)] ?? Number.NaN).toFixed(1)} ms`;
  process.stdout.write(`\ndecision on one gate to the launch's outcome on another: p50 ${at(0.5)}, p99 ${at(0.99)}\n`);
  await other.close();
  await prepared.gate.close();
  const long = words.indexOf('--long');
  if (long >= 0) await costOfHistory(server, Number(words[long + 1]) || 10_000_000);
  await server.remove();
}

await main();
