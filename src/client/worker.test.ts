/** A worker at a gate that the test plays: what it does with a claim, and what it tells of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { verifies } from '../../test/support/verifies.js';
import type { AnswerOf } from '../api/index.js';
import { LIMITS, Refusal, utf8Length } from '../core/index.js';
import type { Client } from './client.js';
import { pause } from './pause.js';
import { startWorker, type WorkerStarted } from './worker.js';

type Body = Readonly<Record<string, unknown>>;
type Claimed = AnswerOf<'workClaim'>;

const FENCE = 'f'.repeat(2_048);
const claimOf = (changes: object): Claimed => ({
  ...{ action_id: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W', attempt: 1, what: 'run', project: 'acme', operation: 'charge' },
  ...{ target: 'x', args: { text: 'x' }, args_text: '{"text":"x"}', amount: null, currency: null },
  ...{ deadline_in_ms: 60_000, idempotency_key: 'k', fence: FENCE, ...changes },
});

/** A gate that offers these calls, one after the other. */
class Played {
  readonly waitMs = 1_000;
  /** Who waited for work, with how much room. */
  readonly waits: (readonly [string, number])[] = [];
  readonly done: Body[] = [];
  readonly #offers: Claimed[];
  readonly #claim: (claim: Claimed, signal: AbortSignal | undefined) => Promise<Claimed>;

  constructor(offers: readonly object[], claim: (claim: Claimed, signal?: AbortSignal) => Promise<Claimed>) {
    this.#offers = offers.map(claimOf);
    this.#claim = claim;
  }

  async call(name: string, { body, signal }: { readonly body: Body; readonly signal?: AbortSignal }): Promise<unknown> {
    if (name === 'workDone') return { recorded: this.done.push(body) > 0 };
    if (name === 'workClaim') return this.#claim(claimOf({ ...this.#offers.shift() }), signal);
    this.waits.push([String(body['worker']), Number(body['at_once'])]);
    const [offer] = this.#offers;
    if (offer !== undefined && Number(body['at_once']) > 0) return { offer: { ...offer } };
    await pause(50, signal);
    if (signal?.aborted === true) throw new Refusal('aborted', 'the caller ended the call');
    return {};
  }
}

const given = async (claim: Claimed) => claim;

function play(offers: readonly object[], operation: object = {}, atOnce = 1, claim: typeof given = given) {
  const gate = new Played(offers, claim);
  const input = z.strictObject({ text: z.string() });
  const worker: WorkerStarted = startWorker(gate as unknown as Client, {
    ...{ atOnce, operations: { charge: { version: '1', input, run: async () => null, ...operation } } },
  });
  return { gate, worker };
}

/** What is told of calls, without their fence. */
async function toldOf(offers: readonly object[], operation: object): Promise<readonly object[]> {
  const { gate, worker } = play(offers, operation);
  while (gate.done.length < offers.length) await new Promise((resolve) => setTimeout(resolve, 5));
  await worker.stop();
  return gate.done.map(({ fence: _, ...told }) => told);
}

const throwing = () => {
  throw new Error('broken');
};
const text = (refined: z.ZodType) => z.strictObject({ text: refined });

describe('a worker that is asked what became of a call', () => {
  it('tells the word of its function alone; late, unfit, broken or without one it is unknown', async () => {
    verifies('client.worker.asked');
    const asked = { what: 'reconcile' };
    const tries: readonly (readonly [object, object, string])[] = [
      [asked, { reconcile: async () => 'confirmed' }, 'confirmed'],
      [asked, { reconcile: async () => 'failed' }, 'failed'],
      [asked, { reconcile: async () => undefined }, 'unknown'],
      [asked, { reconcile: async () => 'gone' }, 'unknown'],
      [asked, { reconcile: throwing }, 'unknown'],
      [asked, { reconcile: async () => throwing() }, 'unknown'],
      [asked, {}, 'unknown'],
      // Late.
      [{ ...asked, deadline_in_ms: 0 }, { reconcile: async () => 'confirmed' }, 'unknown'],
      // What it has now no longer fits.
      [{ ...asked, args_text: '{"text":7}' }, { reconcile: async () => 'failed' }, 'unknown'],
      [{ ...asked, args_text: '{' }, { reconcile: async () => 'failed' }, 'unknown'],
      [{ ...asked, operation: 'refund' }, { reconcile: async () => 'failed' }, 'unknown'],
      [asked, { input: text(z.string().refine(throwing)), reconcile: async () => 'failed' }, 'unknown'],
      [asked, { input: text(z.string().refine(async () => false)), reconcile: async () => 'failed' }, 'unknown'],
    ];
    for (const [at, [offer, operation, result]] of tries.entries()) {
      const [told] = (await toldOf([offer], operation)) as readonly { readonly result: string }[];
      assert.equal(told?.result, result, `try ${at}: ${JSON.stringify(told)}`);
    }
  });
});

describe('a worker that is given a call', () => {
  it('is not ended by a schema that throws or asks others, and calls nothing that does not fit', async () => {
    verifies('client.worker.throws');
    const none = { result: 'failed', code: 'invalid' };
    const tries: readonly (readonly [z.ZodType, object])[] = [
      [z.string().refine(throwing), none],
      [z.string().refine(async () => throwing()), none],
      [z.string().refine(async () => false), none],
      [z.string().refine(async () => true), { result: 'confirmed', evidence: { result: null } }],
    ];
    for (const [refined, expected] of tries) {
      assert.deepEqual(await toldOf([{}, {}], { input: text(refined) }), [expected, expected]);
    }
    const ran: string[] = [];
    const run = async () => void ran.push('ran');
    assert.deepEqual(await toldOf([{ args_text: '{' }, { operation: 'refund' }], { run }), [none, none]);
    assert.deepEqual(ran, []);
  });

  it('does not run it behind a schema that took longer than a call may wait', async () => {
    verifies('client.worker.late');
    const run = async () => assert.fail('it ran');
    const input = text(z.string().refine(() => new Promise<boolean>(() => undefined)));
    assert.deepEqual(await toldOf([{}], { input, run }), [{ result: 'failed', code: 'never_called' }]);
  });

  it('runs it also where it is stopped between the claim and its answer', async () => {
    verifies('client.worker.stop');
    let claiming: () => void = () => undefined;
    const isClaiming = new Promise<void>((resolve) => (claiming = resolve));
    const { gate, worker } = play([{}], {}, 1, async (claim, signal?: AbortSignal) => {
      claiming();
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (signal?.aborted === true) throw new Refusal('aborted', 'the caller ended the call');
      return claim;
    });
    await isClaiming;
    await worker.stop();
    assert.deepEqual(
      gate.done.map(({ result }) => result),
      ['confirmed'],
    );
  });

  it('runs no more at once than was said, and asks for the next as soon as one is over', async () => {
    verifies('client.worker.at-once');
    const ends: (() => void)[] = [];
    const run = () => new Promise<undefined>((resolve) => ends.push(() => resolve(undefined)));
    // A gate that was begun again offers more than there is room for.
    const { gate, worker } = play([{}, {}, {}], { run }, 2);
    const count = async (told: number, began: number) => {
      while (gate.done.length < told || ends.length < began) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await count(0, 2);
    await new Promise((resolve) => setTimeout(resolve, 120));
    assert.equal(ends.length, 2);
    assert.equal(gate.waits.at(-1)?.[1], 0);
    ends[0]?.();
    await count(1, 3);
    for (const end of ends) end();
    await count(3, 3);
    await worker.stop();
  });

  it('goes on under another name where a claim had no answer, and is heard for what it runs', async () => {
    verifies('client.worker.lost');
    const isLost = { unanswered: true, aborted: true, broken: true, busy: false, state: false } as const;
    for (const lost of Object.keys(isLost) as (keyof typeof isLost)[]) {
      let claims = 0;
      const claim = async (one: Claimed): Promise<Claimed> => {
        claims += 1;
        if (claims !== 2) return one;
        if (lost === 'broken') throw new Error('broken');
        const answered = !isLost[lost];
        throw new Refusal(lost === 'unanswered' ? 'busy' : lost, 'no', answered ? {} : { details: { answered } });
      };
      const run = () => new Promise<undefined>((resolve) => setTimeout(resolve, 300, undefined));
      const { gate, worker } = play([{}, {}, {}], { run }, 2, claim);
      while (gate.done.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      const again = gate.waits.length;
      while (gate.waits.length < again + 2) await new Promise((resolve) => setTimeout(resolve, 5));
      await worker.stop();
      const [first] = gate.waits[0] ?? [''];
      const [last] = gate.waits.at(-1) ?? [''];
      if (!isLost[lost]) {
        assert.ok(gate.waits.every(([name]) => name === first));
        continue;
      }
      assert.notEqual(first, last, lost);
      // The old name takes nothing new, and is heard no longer than what it runs.
      const old = gate.waits.filter(([name]) => name === first).map(([, atOnce]) => atOnce);
      assert.ok(old.length > 3 && old.slice(0, 2).every((count) => count === 2), `${lost}: ${old}`);
      assert.ok(
        old.slice(2).every((count) => count === 0),
        `${lost}: ${old}`,
      );
      assert.ok(
        gate.waits.slice(-2).every(([name, atOnce]) => name === last && atOnce === 2),
        lost,
      );
      // What still runs under the old name takes a place of the new one.
      assert.equal(gate.waits.find(([name]) => name === last)?.[1], 1);
    }
  });

  it('tells what was done also where what it answered is too long to be told', async () => {
    verifies('client.worker.evidence');
    const answer = async (result: unknown) => (await toldOf([{}], { run: async () => result }))[0];
    const overhead = '{"result":""}'.length;
    const most = 'x'.repeat(LIMITS.workerEvidenceBytesMax - overhead);
    const told = await answer(most);
    assert.deepEqual(told, { result: 'confirmed', evidence: { result: most } });
    assert.ok(utf8Length(JSON.stringify({ fence: FENCE, ...told })) <= LIMITS.jsonBytesMax);
    const tooLong = { result: 'confirmed', code: 'evidence_too_long' };
    for (const result of [`${most}x`, 'é'.repeat(most.length / 2 + 1), '\n'.repeat(most.length / 2 + 1)]) {
      assert.deepEqual(await answer(result), tooLong);
    }
    assert.deepEqual(await answer('x'.repeat(3_000_000)), tooLong);
    assert.deepEqual(await answer(Array.from({ length: 50 }, () => most)), tooLong);
    // What has no form as JSON is no answer.
    for (const result of [new Date(0), 1n, Number.NaN, new Uint8Array(1), 2 ** 60, nested(LIMITS.depthMax)]) {
      assert.deepEqual(await answer(result), { result: 'unknown', code: 'malformed_answer' });
    }
    assert.deepEqual(await answer({ a: undefined, b: 1.5 }), { result: 'confirmed', evidence: { result: { b: 1.5 } } });
  });
});

function nested(levels: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}
