/**
 * A gate that is killed between any two steps: at each failpoint, at many of its calls, and at any moment. Afterwards another
 * process finds one of two things: no launch and the nonce intact, or a launch whose outcome it establishes. Never a second
 * call, never a lost record.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { auditLedger, type CountersignGate, open } from '../../src/app/index.js';
import { FAILPOINTS } from '../../src/core/index.js';
import { loggedNoop } from '../support/gate-child.js';
import { bundleGateChild, type Children, childHome, type Line } from '../support/gate-processes.js';
import { verifies } from '../support/verifies.js';

/** Every failpoint of a gate, as the gate test looks for them. */
const POINTS = [
  'ledger.before-commit',
  'ledger.after-commit',
  'launch.before-commit',
  'launch.after-commit',
  'launch.before-call',
  'launch.after-call',
  'launch.before-settle',
  'launch.after-settle',
] as const;

const KILLS_PER_POINT = 16;
const RANDOM_KILLS = 80;
/** Past every deadline and grace of what the killed process left. */
const LATER_MS = 100_000;

interface Kill {
  readonly point: string;
  readonly hit: number;
}

const KILLS: readonly Kill[] = [
  ...POINTS.flatMap((point) =>
    Array.from({ length: KILLS_PER_POINT }, (_, at) => ({
      point,
      hit: point.startsWith('ledger') ? at * 2 + 1 : 1 + (at % 4),
    })),
  ),
  ...Array.from({ length: RANDOM_KILLS }, (_, at) => ({ point: 'any moment', hit: at })),
];

/** One home that is killed again and again, and looked after in between. */
class KilledHome {
  readonly #folder: string;
  readonly #children: Children;
  readonly remove: () => void;
  kills = 0;
  launchedWhenKilled = 0;
  #ahead = 0;
  readonly #known = new Map<string, string>();

  static async make(children: Children): Promise<KilledHome> {
    const { folder, remove } = await childHome();
    return new KilledHome(children, folder, remove);
  }

  private constructor(children: Children, folder: string, remove: () => void) {
    this.#children = children;
    this.#folder = folder;
    this.remove = remove;
  }

  async kill({ point, hit }: Kill): Promise<void> {
    const child = this.#children.start(this.#folder, 'cycles', `kill ${this.kills}`, point, String(hit));
    if (point === 'any moment') {
      await child.line('ready');
      setTimeout(() => child.process.kill('SIGKILL'), 1 + ((hit * 37) % 60));
    }
    assert.equal(await child.ended, 'SIGKILL', JSON.stringify(child.lines.at(-1)));
    this.kills += 1;
    await this.#lookAfter(child.lines);
  }

  async #open(): Promise<CountersignGate> {
    // Time only goes on: whoever works here after this does so behind it.
    this.#ahead += LATER_MS;
    writeFileSync(join(this.#folder, 'ahead'), String(this.#ahead));
    const clock = { now: () => Date.now() + this.#ahead, monotonic: () => performance.now() };
    return open({ home: join(this.#folder, 'home'), clock, connectors: [loggedNoop(this.#folder, () => clock.now())] });
  }

  async #lookAfter(lines: readonly Line[]): Promise<void> {
    const gate = await this.#open();
    await this.#demandKept(gate, lines);
    const launched = await idsIn(gate, 'launched');
    assert.ok(launched.length <= 1, 'one process runs one action at a time');
    this.launchedWhenKilled += launched.length;
    const { unknown } = await gate.recover();
    assert.deepEqual([...unknown].sort(), launched);
    for (const id of launched) await this.#establish(gate, id);
    for (const id of await idsIn(gate, 'approved')) {
      assert.equal(this.#callsOf(id), 0, 'what was not launched was not called');
      assert.equal((await gate.execute(id)).state, 'confirmed', 'its receipt is intact');
      this.#known.set(id, 'confirmed');
    }
    for (const id of await idsIn(gate, 'proposed')) await gate.cancel(id);
    this.#demandOneCall();
    await gate.close();
  }

  /** Everything that the process said is there. */
  async #demandKept(gate: CountersignGate, lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      assert.equal(line.error, undefined);
      const id = (line.proposed ?? line.stored ?? line.approved ?? line.settled) as string | undefined;
      if (id === undefined) continue;
      const { state } = await gate.show(id);
      if (line.approved !== undefined)
        assert.ok(!['proposed', 'cancelled'].includes(state), `${id} was approved: ${state}`);
      if (line.stored !== undefined) {
        const rows = await gate.ledger.lookup('request', id);
        assert.ok(rows.some(({ status }) => status === 'signed') || state !== 'proposed', `${id} was signed`);
      }
      if (line.settled !== undefined) {
        assert.equal(state, line.state);
        this.#known.set(id, state);
      }
    }
  }

  /** The connector knows what became of it, because it looks at its file. */
  async #establish(gate: CountersignGate, id: string): Promise<void> {
    assert.equal((await gate.show(id)).state, 'unknown');
    const done = existsSync(join(this.#folder, 'effects', `${id}.json`));
    const { state } = await gate.reconcile(id);
    assert.equal(state, done ? 'confirmed' : 'failed');
    assert.ok(this.#callsOf(id) === 1 || !done, 'an effect without a call');
    this.#known.set(id, state);
  }

  #calls(): readonly string[] {
    const path = join(this.#folder, 'calls.log');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  }

  #callsOf(id: string): number {
    return this.#calls().filter((call) => call.startsWith(id)).length;
  }

  #demandOneCall(): void {
    const calls = this.#calls();
    assert.equal(new Set(calls.map((call) => call.split(' ')[0])).size, calls.length, 'no action was called twice');
  }

  /** At the end the whole store is looked at: nothing lost, nothing doubled, every nonce where a launch used it. */
  async finish(): Promise<void> {
    const gate = await this.#open();
    const { defects, launches } = await auditLedger(gate.ledger, logHeadOf(gate));
    assert.deepEqual(defects, []);
    for (const [id, state] of this.#known) assert.equal((await gate.show(id)).state, state);
    let byReceipt = 0;
    for (const id of await idsIn(gate, 'confirmed', 'failed')) {
      const { attempts } = await gate.show(id);
      assert.equal(attempts.length, 1);
      byReceipt += attempts[0]?.authorization.kind === 'receipts' ? 1 : 0;
    }
    assert.equal(this.#nonces(), byReceipt, 'a nonce is used up exactly where something was launched');
    assert.ok(launches >= this.#calls().length, 'every call was launched before');
    for (const file of readdirSync(join(this.#folder, 'effects'))) {
      if (file.startsWith('act_')) assert.equal((await gate.show(file.slice(0, 30))).state, 'confirmed');
    }
    await gate.close();
  }

  #nonces(): number {
    const database = new Database(join(this.#folder, 'home', 'ledger.sqlite'), { readonly: true });
    const count = database.prepare(`SELECT count(*) FROM claims WHERE scope = 'nonce'`).pluck().get() as number;
    database.close();
    return count;
  }
}

function logHeadOf(gate: CountersignGate) {
  const seen = gate.seen();
  return seen === undefined ? undefined : { sequence: seen.sequence, logHash: seen.log_hash };
}

async function idsIn(gate: CountersignGate, ...states: string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await gate.list({ states, ...(after === undefined ? {} : { after }) });
    ids.push(...page.rows.map(({ id }) => id));
    if (page.next === undefined) return ids.sort();
    after = page.next;
  }
}

describe('a gate that is killed', () => {
  let children: Children;
  before(async () => {
    children = await bundleGateChild();
  });
  after(() => children.remove());

  it('knows each of its failpoints', () => {
    verifies('actions.launch.killed');
    assert.deepEqual(
      [...POINTS],
      FAILPOINTS.filter((name) => !name.startsWith('migrate.')),
    );
    assert.ok(KILLS.length >= 200);
  });

  it(`never calls twice and loses nothing, over ${KILLS.length} kills`, { timeout: 240_000 }, async () => {
    verifies('actions.launch.killed');
    verifies('actions.launch.one-commit');
    const homes = await Promise.all([KilledHome.make(children), KilledHome.make(children)]);
    const waiting = [...KILLS];
    await Promise.all(
      homes.map(async (home) => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await home.kill(next);
      }),
    );
    assert.equal(
      homes.reduce((sum, { kills }) => sum + kills, 0),
      KILLS.length,
    );
    const running = homes.reduce((sum, { launchedWhenKilled }) => sum + launchedWhenKilled, 0);
    assert.ok(running >= 40, `only ${running} launches were cut`);
    for (const home of homes) {
      await home.finish();
      home.remove();
    }
  });
});
