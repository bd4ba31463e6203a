/**
 * The server, measured over real connections: reads and proposals a second and how long the slowest hundredth takes, beside
 * a bare Hono route and a bare route of Node in the same process; the time from handing a receipt in until its action ran,
 * beside as many bare durable commits; the first page of an inbox behind which 100,000 approvals wait; and 1,000 event
 * streams at once: their memory, and the delay of one event at all of them, beside bare streams of Hono.
 *
 * Every figure is the median of the rounds. Exits with 1 when a goal is missed.
 * `npm run bench:server [-- --rounds 3] [--stored 100000] [--streams 1000]`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type Gate, signWith } from '../src/app/index.js';
import { requestToken } from '../src/app/internal.js';
import { bareSyncs } from './support/floors.js';
import { median, printTable } from './support/measure.js';
import { openBeside, type Prepared, prepareGate } from './support/world.js';

const IN_FLIGHT = 32;
const READS = 4_000;
const PROPOSALS = 1_500;
const APPROVALS = 200;
const PAGES = 300;
const STREAMS_EACH = 60;
const GOAL_INBOX_MS = 50;
const VERBS = ['read', 'propose', 'execute', 'cancel'] as const;
const SCOPE = { projects: ['*'], connectors: ['*'], verbs: [...VERBS], on_behalf: false };
/** What an inbox of so many holds is asked for by so many callers at once. */
const FILLERS = 128;

const words = process.argv.slice(2);
const rounds = numberAfter('--rounds', 3);
const stored = numberAfter('--stored', 100_000);
const streamCount = numberAfter('--streams', 1_000);

function numberAfter(flag: string, otherwise: number): number {
  const at = words.indexOf(flag);
  return at < 0 ? otherwise : Number(words[at + 1]);
}

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });

interface Sent {
  readonly method?: string;
  readonly token?: string;
  readonly body?: unknown;
}

/** One call; answers its body. Throws for anything but success. */
function send(url: string, { method = 'GET', token, body }: Sent = {}): Promise<string> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers }, (answer) => {
      let told = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        told += part;
      });
      answer.once('end', () =>
        answer.statusCode === 200 ? resolve(told) : reject(new Error(`${answer.statusCode}: ${told}`)),
      );
    });
    sent.once('error', reject);
    sent.end(text);
  });
}

interface Loaded {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** So many calls, so many at once; times in milliseconds. */
async function load(calls: number, inFlight: number, call: (at: number) => Promise<unknown>): Promise<Loaded> {
  const times: number[] = [];
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < calls) {
        next += 1;
        const at = performance.now();
        await call(next);
        times.push(performance.now() - at);
      }
    }),
  );
  const perSecond = (calls * 1_000) / (performance.now() - began);
  return { perSecond, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function middle(all: readonly Loaded[]): Loaded {
  const of = (name: keyof Loaded) => median(all.map((one) => one[name]));
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99') };
}

let serial = 0;
const proposal = () => {
  serial += 1;
  const to = `customer-${process.pid}-${serial}`;
  return {
    ...{ project: 'bench', connector: 'nothing', operation: 'send', target: to },
    args: { to, text: 'x'.repeat(400) },
  };
};

interface Told {
  readonly publicUrl: string;
  readonly honoUrl: string;
  readonly nodeUrl: string;
}

class Served {
  readonly urls: Told;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, urls: Told) {
    this.#child = child;
    this.urls = urls;
  }

  static async start(home: string): Promise<Served> {
    const file = fileURLToPath(new URL('./support/serve.ts', import.meta.url));
    const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', file, home], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const [urls] = (await once(child, 'message')) as [Told];
    return new Served(child, urls);
  }

  /** Bytes that the process holds, after what nobody needs was given back. */
  async memory(body?: string): Promise<number> {
    const told = once(this.#child, 'message');
    this.#child.send({ ...(body === undefined ? {} : { body }) });
    return ((await told)[0] as { held: number }).held;
  }

  async end(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}

/** Tokens that an operator signed for, as many as streams need. */
async function tokensOf({ gate, key }: Pick<Prepared, 'gate' | 'key'>, count: number): Promise<readonly string[]> {
  const tokens: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const made = await requestToken(gate as Gate, 'agent:bench', SCOPE);
    await gate.submit(signWith(key, made.issued.request));
    tokens.push(made.token);
  }
  return tokens;
}

/** Open approvals, each asked of somebody. */
async function fill({ gate }: Pick<Prepared, 'gate'>, count: number): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: FILLERS }, async () => {
      while (left-- > 0) {
        const { action_id } = await gate.propose(proposal() as never);
        await gate.request(action_id, { approver: 'human:alice' });
      }
    }),
  );
}

/** From handing the receipt in until the action has run and that is written down. */
async function approved(url: string, token: string, key: Prepared['key']): Promise<Loaded> {
  const waiting: { id: string; receipt: unknown }[] = [];
  for (let at = 0; at < APPROVALS; at += 1) {
    const { action_id: id } = JSON.parse(
      await send(`${url}/v1/actions`, { method: 'POST', token, body: proposal() }),
    ) as { action_id: string };
    const asked = await send(`${url}/v1/actions/${id}/requests`, { method: 'POST', token, body: {} });
    waiting.push({ id, receipt: signWith(key, (JSON.parse(asked) as { request: never }).request) });
  }
  return load(APPROVALS, 1, async (at) => {
    const { id, receipt } = waiting[at - 1] as { id: string; receipt: unknown };
    await send(`${url}/v1/actions/${id}/approve`, { method: 'POST', token, body: { receipt } });
    const { state } = JSON.parse(await send(`${url}/v1/actions/${id}/execute`, { method: 'POST', token })) as {
      state: string;
    };
    if (state !== 'confirmed') throw new Error(`it is ${state}`);
  });
}

interface Streamed {
  readonly bytesEach: number;
  readonly p50: number;
  readonly last: number;
}

/** Opens event streams, lets one thing happen, and tells when each of them heard of it. */
async function streamed(
  served: Served,
  open: (at: number) => { readonly url: string; readonly token?: string },
  happen: () => Promise<unknown>,
): Promise<Streamed> {
  const before = await served.memory();
  const heard: number[] = [];
  let onHeard: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (onHeard = resolve));
  let began = 0;
  const streams = await Promise.all(
    Array.from({ length: streamCount }, (_, at) => {
      const { url, token } = open(at);
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return new Promise<ReturnType<typeof request>>((resolve, reject) => {
        const sent = request(url, { headers, agent: false }, (answer) => {
          if (answer.statusCode !== 200) return reject(new Error(`a stream was refused: ${answer.statusCode}`));
          let isHeard = false;
          answer.on('data', (part: Buffer) => {
            if (isHeard || began === 0 || !part.includes('data:')) return;
            isHeard = true;
            heard.push(performance.now() - began);
            if (heard.length === streamCount) onHeard();
          });
          answer.on('error', () => undefined);
          resolve(sent);
        });
        sent.on('error', reject);
        sent.end();
      });
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const after = await served.memory();
  began = performance.now();
  await happen();
  await all;
  for (const stream of streams) stream.destroy();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return { bytesEach: (after - before) / streamCount, p50: quantile(heard, 0.5), last: Math.max(...heard) };
}

const ms = (value: number) => `${value.toFixed(2)} ms`;
const count = (value: number) => value.toFixed(0);

async function rates(served: Served, token: string): Promise<void> {
  const { publicUrl, honoUrl, nodeUrl } = served.urls;
  const { action_id } = JSON.parse(
    await send(`${publicUrl}/v1/actions`, { method: 'POST', token, body: proposal() }),
  ) as { action_id: string };
  const path = `${publicUrl}/v1/actions/${action_id}`;
  await served.memory(await send(path, { token }));
  const contestants = {
    'GET an action': () => load(READS, IN_FLIGHT, () => send(path, { token })),
    'GET, bare Hono': () => load(READS, IN_FLIGHT, () => send(`${honoUrl}/route`)),
    'GET, bare Node': () => load(READS, IN_FLIGHT, () => send(`${nodeUrl}/route`)),
    'POST a proposal, durable': () =>
      load(PROPOSALS, IN_FLIGHT, () => send(`${publicUrl}/v1/actions`, { method: 'POST', token, body: proposal() })),
    'POST, bare Hono, nothing kept': () =>
      load(PROPOSALS, IN_FLIGHT, () => send(`${honoUrl}/route`, { method: 'POST', body: proposal() })),
  };
  const measured = new Map<string, Loaded[]>();
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants)) {
      const one = await run();
      if (round >= 0) measured.set(name, [...(measured.get(name) ?? []), one]);
    }
  }
  const rows = [...measured].map(([name, all]) => {
    const { perSecond, p50, p99 } = middle(all);
    return [name, count(perSecond), ms(p50), ms(p99)];
  });
  printTable([`${IN_FLIGHT} in flight`, 'a second', 'p50', 'p99'], rows);
}

async function approvals(served: Served, token: string, prepared: Prepared): Promise<void> {
  const all: Loaded[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await approved(served.urls.publicUrl, token, prepared.key));
  const { p50, p99 } = middle(all);
  const floor = 1_000 / median(Array.from({ length: rounds }, () => bareSyncs(prepared.folder).commitsPerSecond));
  printTable(
    ['receipt handed in → run, and written down', 'p50', 'p99'],
    [
      ['two calls, three durable commits', ms(p50), ms(p99)],
      ['three bare durable commits', ms(3 * floor), ''],
    ],
  );
}

async function inbox(served: Served, token: string): Promise<boolean> {
  const url = `${served.urls.publicUrl}/v1/decisions?for=human:alice`;
  const first: number[] = [];
  const all: Loaded[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const { rows, more } = JSON.parse(await send(url, { token })) as { rows: unknown[]; more: boolean };
    first.push(performance.now() - began);
    if (rows.length !== 100 || !more) throw new Error(`a first page of ${rows.length}`);
    all.push(await load(PAGES, 1, () => send(url, { token })));
  }
  const { p50, p99 } = middle(all);
  printTable(
    [`first page of an inbox of ${stored}`, 'p50', 'p99', 'the very first'],
    [[`goal: p99 below ${GOAL_INBOX_MS} ms`, ms(p50), ms(p99), ms(first[0] ?? 0)]],
  );
  return p99 < GOAL_INBOX_MS;
}

async function streams(served: Served, tokens: readonly string[]): Promise<void> {
  const { publicUrl, honoUrl } = served.urls;
  const ours: Streamed[] = [];
  const bare: Streamed[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(
      await streamed(
        served,
        (at) => ({ url: `${publicUrl}/v1/events`, token: tokens[Math.floor(at / STREAMS_EACH)] as string }),
        () => send(`${publicUrl}/v1/actions`, { method: 'POST', token: tokens[0] as string, body: proposal() }),
      ),
    );
    bare.push(
      await streamed(
        served,
        () => ({ url: `${honoUrl}/events` }),
        () => send(`${honoUrl}/push`, { method: 'POST', body: {} }),
      ),
    );
  }
  const of = (name: string, all: readonly Streamed[]) => [
    name,
    `${(median(all.map(({ bytesEach }) => bytesEach)) / 1_024).toFixed(0)} KiB`,
    ms(median(all.map(({ p50 }) => p50))),
    ms(median(all.map(({ last }) => last))),
  ];
  printTable(
    [`${streamCount} event streams`, 'memory each', 'p50 delay', 'the last one'],
    [of('a proposal, told to all', ours), of('bare Hono streams', bare)],
  );
}

const prepared = await prepareGate();
const tokens = await tokensOf(prepared, Math.max(1, Math.ceil(streamCount / STREAMS_EACH)));
const token = tokens[0] as string;
await prepared.gate.close();
let isGood = true;
let served = await Served.start(prepared.home.folder);
await rates(served, token);
await approvals(served, token, prepared);
await streams(served, tokens);
await served.end();
const filling = await openBeside(prepared.home.folder);
const began = performance.now();
await fill({ gate: filling }, stored);
process.stdout.write(`${stored} approvals were asked for in ${((performance.now() - began) / 1_000).toFixed(0)} s\n`);
await filling.close();
served = await Served.start(prepared.home.folder);
isGood = await inbox(served, token);
await served.end();
rmSync(prepared.folder, { recursive: true, force: true });
if (!isGood) process.exitCode = 1;
