/**
 * Random lives of a gate: proposals, approvals, launches that end in every way, crashes between any two steps, time, other
 * configurations. Whatever the sequence, the invariants of the gate hold after every step.
 *
 * I1 an effect happens once; I2 after its launch was written; I3 and I4 on a receipt whose nonce was used once for it, or a
 * part of a standing approval, of which I5 no more is taken than it holds; I6 states change along the table; I7 the log is whole; I8 nothing leaves unknown but by evidence; I9 the bytes of the effect
 * are those that were signed.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ActionState } from '../../src/actions/index.js';
import { auditLedger } from '../../src/app/index.js';
import { isOurs } from '../../src/core/index.js';
import {
  approve,
  carriedOut,
  configAct,
  deny,
  homeWorld,
  memoryWorld,
  sending,
  signed,
  TRUST,
  type World,
  type WorldOptions,
} from './gate-world.js';

const CRASHES = [
  ...['ledger.before-commit', 'ledger.after-commit', 'launch.before-commit', 'launch.after-commit'],
  ...['launch.before-call', 'launch.after-call', 'launch.before-settle', 'launch.after-settle'],
] as const;
const ENDS = ['confirm', 'fail', 'unknown', 'throw', 'lose-after-effect'] as const;

const which = fc.nat(7);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('propose' as const),
      operation: fc.constantFrom('send', 'note', 'read', 'pay'),
      text: fc.nat(2),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('approve' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deny' as const), which }) },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('execute' as const), which, end: fc.constantFrom(...ENDS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), which, point: fc.constantFrom(...CRASHES) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('tick' as const),
      ms: fc.constantFrom(1, 5_000, 61_000, 80_000, 3_600_000, 86_400_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('reconcile' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('recover' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('config' as const), name: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('find' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replace' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('retry' as const), which, end: fc.constantFrom(...ENDS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('freeze' as const), op: fc.constantFrom('set', 'lift') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('grant' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('ungrant' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** From → to, for one step of the test, which may be several of the machine. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  proposed: ['approved', 'cancelled'],
  approved: ['launched', 'confirmed', 'failed', 'unknown', 'cancelled'],
  launched: ['confirmed', 'failed', 'unknown'],
  unknown: ['confirmed', 'failed', 'launched'],
  failed: ['approved', 'cancelled'],
  confirmed: [],
  cancelled: [],
};

class Life {
  readonly #world: World;
  readonly #crash: { point: string | undefined };
  readonly #ids: string[] = [];
  readonly #states = new Map<string, ActionState>();
  executed = 0;

  constructor(world: World, crash: { point: string | undefined }) {
    this.#world = world;
    this.#crash = crash;
  }

  async take(one: Step): Promise<void> {
    try {
      await this.#act(one);
    } catch (error) {
      assert.ok(isOurs(error), `a foreign error: ${String(error)}`);
    }
    await this.#look();
  }

  async #act(one: Step): Promise<void> {
    const { gate, clock } = this.#world;
    const id = 'which' in one ? this.#ids[one.which % Math.max(1, this.#ids.length)] : undefined;
    if ('which' in one && id === undefined) return;
    switch (one.do) {
      case 'propose': {
        const { operation, text } = one;
        const { action_id } = await gate.propose(sending({ operation, args: { text: `text ${text}` } }));
        if (!this.#ids.includes(action_id)) this.#ids.push(action_id);
        return;
      }
      case 'approve':
        return approve(this.#world, id as string);
      case 'deny':
        return deny(this.#world, id as string);
      case 'execute':
        this.#behave(one.end);
        await gate.execute(id as string);
        return;
      case 'crash':
        this.#behave('confirm');
        this.#crash.point = one.point;
        try {
          await gate.execute(id as string);
        } finally {
          this.#crash.point = undefined;
          await this.#world.reopen();
        }
        return;
      case 'tick':
        clock.advance(one.ms);
        return;
      case 'reconcile':
        await gate.reconcile(id as string);
        return;
      case 'cancel':
        return gate.cancel(id as string);
      case 'recover':
        await gate.recover();
        return;
      case 'config':
        return carriedOut(
          this.#world,
          await configAct(this.#world, TRUST.replace('name: test', `name: test ${one.name}`)),
        );
      case 'reopen':
        return this.#world.reopen();
      default:
        return this.#decide(one, id ?? '');
    }
  }

  /** What people do besides approving: it is true what they find. */
  async #decide(one: Step, id: string): Promise<void> {
    const { gate, connector, clock } = this.#world;
    switch (one.do) {
      case 'find': {
        const outcome = connector.effectsOf(id) > 0 ? 'confirmed' : 'failed';
        const asked = { kind: 'finding', action_id: id, outcome, evidence: 'looked' } as const;
        await gate.submit(signed((await gate.requestResolution(asked)).request));
        return;
      }
      case 'replace': {
        const { request } = await gate.requestResolution({ kind: 'assume_duplicate', action_id: id });
        const { action_id } = await gate.submit(signed(request));
        this.#ids.push(action_id ?? '');
        return;
      }
      case 'retry':
        this.#behave(one.end);
        if ((await gate.show(id)).state === 'unknown') await approve(this.#world, id);
        await gate.retry(id);
        return;
      case 'freeze':
        return carriedOut(this.#world, { kind: 'freeze', op: one.op as 'set', scope: { scope: 'all', name: null } });
      case 'grant': {
        const { digest } = await gate.operation('counting', 'send');
        const grant = {
          project: 'acme',
          agents: ['agent:local'],
          connector: 'counting',
          operations: { send: digest },
          target: 'customers',
          class: 'irreversible',
          args: {},
          count: one.count,
          until: clock.now() + 86_400_000,
        };
        await gate.submit(signed((await gate.requestStanding(grant)).issued.request));
        return;
      }
      case 'ungrant': {
        const grant_id = (await gate.grants()).find(({ state }) => state === 'active')?.grant_id;
        if (grant_id === undefined) return;
        return carriedOut(this.#world, { kind: 'standing', change: { op: 'revoke', grant_id } });
      }
      default:
    }
  }

  /** Every call looks whether its launch was written before (I2), and with which bytes (I9). */
  #behave(end: (typeof ENDS)[number]): void {
    this.#world.connector.behave = async (call, effect) => {
      this.executed += 1;
      const { state, content, attempts } = await this.#world.gate.show(call.actionId);
      assert.deepEqual([state, attempts.at(-1)?.no], ['launched', call.attempt]);
      assert.equal(call.argsText, await this.#world.gate.args(call.actionId));
      assert.deepEqual([call.target, call.idempotencyKey], [content.target, content.action_id]);
      // The other side knows a repeated call by its key.
      const again = this.#world.connector.effectsOf(call.actionId) > 0;
      if (end === 'fail') return again ? { result: 'confirmed' } : { result: 'failed', code: 'told' };
      if (end === 'unknown') return { result: 'unknown' };
      if (end === 'throw') throw new Error('cut before');
      const outcome = again ? ({ result: 'confirmed' } as const) : effect();
      if (end === 'lose-after-effect') throw new Error('cut after');
      return outcome;
    };
  }

  async #look(): Promise<void> {
    const { gate, connector } = this.#world;
    for (const { used, holds, grant } of await gate.grants()) assert.ok(used + holds.length <= grant.count, 'I5');
    for (const id of this.#ids) {
      const now = await gate.show(id);
      const before = this.#states.get(id);
      if (before !== undefined && before.state !== now.state) this.#demandLegal(before, now);
      this.#states.set(id, now);
      const effects = connector.effectsOf(id);
      assert.ok(effects <= 1, 'I1: one effect');
      assert.ok(now.attempts.length >= connector.calls.filter(({ actionId }) => actionId === id).length, 'I2');
      if (now.state === 'confirmed') assert.equal(effects, 1, 'what is confirmed happened');
      if (now.state === 'failed' || now.state === 'cancelled') assert.equal(effects, 0, 'what failed did not happen');
    }
  }

  #demandLegal(before: ActionState, now: ActionState): void {
    const steps = `${before.state} → ${now.state}`;
    assert.ok(NEXT[before.state]?.includes(now.state), `I6: ${steps}`);
    const last = now.attempts.at(-1);
    if (before.state === 'unknown') {
      const again = now.attempts.length > before.attempts.length && last?.authorization.kind === 'receipts';
      const settled = now.attempts.filter(
        ({ outcome }, at) => before.attempts[at]?.outcome === 'unknown' && outcome !== 'unknown',
      );
      const isWord = (by: string | null) => ['reconcile', 'connector-late', 'human'].includes(by ?? '');
      const told = settled.length > 0 && settled.every(({ settled_by }) => isWord(settled_by));
      assert.ok(again || told || before.interrupted, `I8: ${steps}`);
    }
  }

  /** I3, I4, I6 and I7 over the whole log. */
  async finish(): Promise<void> {
    const { gate } = this.#world;
    const report = await auditLedger(gate.ledger, await gate.ledger.head());
    assert.deepEqual(report.defects, []);
  }
}

async function live(make: (options: WorldOptions) => Promise<World>, steps: readonly Step[]): Promise<number> {
  const crash: { point: string | undefined } = { point: undefined };
  const failpoint = (name: string) => {
    if (name === crash.point) throw new Error(`crashed at ${name}`);
  };
  const world = await make({ failpoint });
  world.connector.dedupe = { windowMs: 90_000, comparesBody: true, cachesErrors: false };
  const life = new Life(world, crash);
  try {
    for (const one of steps) await life.take(one);
    await life.finish();
  } finally {
    await world.close();
  }
  return life.executed;
}

export const WORLDS = [
  ['in memory', memoryWorld],
  ['on SQLite', homeWorld],
] as const;

/** Lives so many random lives, and looks at every invariant after each step of each. */
export async function liveRandomly(make: (options: WorldOptions) => Promise<World>, lives: number): Promise<void> {
  let executed = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
    executed += await live(make, steps);
  });
  await fc.assert(property, { numRuns: lives });
  // Between a third and a half of the lives launch something.
  assert.ok(executed > lives / 6, `only ${executed} launches`);
}
