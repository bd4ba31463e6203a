/**
 * Every public method of the gate, as its prototype lists them, is called with what no honest program hands over. Nothing but
 * a refusal leaves, and it repeats nothing of what it was given.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import {
  backupTo,
  type CountersignGate,
  checkReceiptOffline,
  checkReceiptOnline,
  explainDecision,
  open,
} from '../../src/app/index.js';
import { Refusal } from '../../src/core/index.js';
import { addKeyAct, BOB, homeWorld, proposed, sending, signed } from '../support/gate-world.js';
import { HOSTILE, MARK } from '../support/hostile-values.js';
import { verifies } from '../support/verifies.js';

type Method = (...given: unknown[]) => unknown;

/** Every method of an object and of what it inherits, but the constructors and those of every object. */
function methodsOf(value: object): readonly string[] {
  const names = new Set<string>();
  for (let at = Object.getPrototypeOf(value); at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value: method }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof method === 'function' && name !== 'constructor') names.add(name);
    }
  }
  return [...names].sort();
}

/** Calls it, and fails on anything that is no answer and no refusal in words of our own. */
async function demandRefusal(label: string, call: () => unknown): Promise<void> {
  let error: unknown;
  try {
    await call();
    return;
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error instanceof Refusal, `${label}: ${describeSafely(error)}`);
  const { message, path, details, next } = error;
  assert.ok(!JSON.stringify([message, path, details, next]).includes(MARK), `${label}: the message repeats a value`);
}

function describeSafely(error: unknown): string {
  try {
    return `${String((error as Error).stack)} ${String((error as { cause?: Error }).cause?.stack ?? '')}`;
  } catch {
    return 'what was thrown can not even be looked at';
  }
}

async function inGate(check: (gate: CountersignGate, actionId: string) => Promise<void>): Promise<void> {
  const world = await homeWorld();
  try {
    await check(world.gate as CountersignGate, await proposed(world));
  } finally {
    await world.close();
  }
}

const HANGS_MS = 240_000;

describe('what no honest program hands over', { timeout: HANGS_MS }, () => {
  it('leaves every method of the gate with an answer or a refusal', () =>
    inGate(async (gate, actionId) => {
      verifies('app.border.refusals');
      const methods = methodsOf(gate);
      // The list is taken from the prototypes: these show that it is the right one.
      for (const name of ['propose', 'submit', 'wait', 'list', 'requestAct', 'tool', 'close']) {
        assert.ok(methods.includes(name), name);
      }
      const held = gate as unknown as Readonly<Record<string, Method>>;
      for (const name of methods.filter((one) => one !== 'close')) {
        const call = (label: string, given: readonly unknown[]) =>
          demandRefusal(`${name}(${label})`, () => held[name]?.apply(gate, [...given]));
        for (const [what, value] of HOSTILE) {
          await call(what, [value]);
          await call(`id, ${what}`, [actionId, value]);
          await call(`id, id, ${what}`, [actionId, actionId, value]);
          await call(`id, function, ${what}`, [actionId, () => true, value]);
          await call(`{}, ${what}`, [{}, value]);
        }
      }
      for (const [what, value] of HOSTILE) {
        await demandRefusal(`close(${what})`, () => held['close']?.apply(gate, [value]));
      }
    }));

  it('leaves each field of what the methods take', () =>
    inGate(async (gate, actionId) => {
      verifies('app.border.refusals');
      const held = gate as unknown as Readonly<Record<string, Method>>;
      const { request } = await gate.request(actionId);
      const receipt = signed(request);
      const act = { kind: 'freeze', op: 'set', scope: { scope: 'all', name: null } };
      const config = { kind: 'config', config: {}, base: 'sha256:', before: {} };
      const proposal = { ...sending(), content: [new Uint8Array(1)] };
      const finding = { kind: 'finding', action_id: actionId, outcome: 'failed', evidence: 'x' };
      const extras = { words: 'no', sendBack: true };
      const shapes: readonly (readonly [string, readonly object[], (given: object) => readonly unknown[]])[] = [
        ['propose', [proposal, { ...proposal, args: {} }], (given) => [given]],
        ['proposeAndLaunch', [proposal], (given) => [given]],
        ['explain', [proposal], (given) => [given]],
        ['submit', [receipt], (given) => [given]],
        ['approve', [receipt], (given) => [actionId, given]],
        ['approve', [extras], (given) => [actionId, receipt, given]],
        ['request', [{ approver: 'human:alice', decision: 'deny', ttlMs: 1 }], (given) => [actionId, given]],
        ['requestAct', [act, config, addKeyAct(BOB)], (given) => [given]],
        ['requestStanding', [{ project: 'acme', operations: {}, args: {} }], (given) => [given]],
        ['requestResolution', [finding], (given) => [given]],
        ['list', [{ project: 'p', states: ['proposed'], limit: 1, after: actionId }], (given) => [given]],
        ['narrowestGrant', [{ count: 1, until: 1 }], (given) => [actionId, given]],
      ];
      for (const [name, values, wrapped] of shapes) {
        for (const value of values) {
          for (const field of Object.keys(value)) {
            for (const [what, hostile] of HOSTILE) {
              const label = `${name}({ ${field}: ${what} })`;
              await demandRefusal(label, () => held[name]?.apply(gate, [...wrapped({ ...value, [field]: hostile })]));
              const deeper = { ...value, [field]: { deeper: [hostile] } };
              await demandRefusal(`${label} deeper`, () => held[name]?.apply(gate, [...wrapped(deeper)]));
            }
          }
        }
      }
      for (const [what, hostile] of HOSTILE) {
        const args = { text: 'x', data: hostile };
        await demandRefusal(`args.data: ${what}`, () => gate.propose(sending({ args: args as never })));
      }
    }));

  it('leaves the definition of a tool, its functions and its calls', () =>
    inGate(async (gate) => {
      verifies('app.border.refusals');
      let count = 0;
      const definition = () => {
        count += 1;
        const execute = async () => ({ ok: true });
        return { name: `tool-${count}`, version: '1', input: z.strictObject({ a: z.any() }), execute };
      };
      const fields = ['project', 'risk', 'target', 'amount', 'summary', 'preview', 'noEffectIf', 'reconcile', 'undo'];
      for (const [what, value] of HOSTILE) {
        for (const field of [...Object.keys(definition()), ...fields, 'timeoutMs']) {
          await demandRefusal(`tool({ ${field}: ${what} })`, () =>
            gate.tool({ ...definition(), [field]: value } as never),
          );
        }
        for (const field of ['target', 'amount']) {
          const answers = gate.tool({ ...definition(), [field]: () => value } as never);
          await demandRefusal(`${field} answers ${what}`, () => answers.call({ a: 1 } as never));
        }
        const tool = gate.tool(definition() as never);
        await demandRefusal(`call(${what})`, () => tool.call(value as never));
        await demandRefusal(`call({ a: ${what} })`, () => tool.call({ a: value } as never));
        await demandRefusal(`call(_, ${what})`, () => tool.call({ a: 1 } as never, value as never));
        await demandRefusal(`resume(${what})`, () => tool.resume(value as never));
        const { action_id } = await tool.call({ a: what } as never);
        await demandRefusal(`resume(_, ${what})`, () => tool.resume(action_id, value as never));
        const idempotencyKey = value as never;
        await demandRefusal(`call(_, { idempotencyKey: ${what} })`, () =>
          tool.call({ a: 1 } as never, { idempotencyKey }),
        );
      }
    }));

  it('is an unknown outcome where a tool throws it or answers it, and no launch is left open', () =>
    inGate(async (gate) => {
      verifies('app.border.answers');
      for (const [at, [what, value]] of HOSTILE.entries()) {
        const answers = { execute: async () => value as never };
        const throws = {
          execute: async () => {
            throw value;
          },
        };
        const undoes = { execute: async () => 1, undo: () => value as never };
        for (const [name, functions] of Object.entries({ answers, throws, undoes })) {
          const input = z.strictObject({});
          const tool = gate.tool({ name: `${name}-${at}`, version: '1', risk: 'reversible', input, ...functions });
          const result = await tool.call({});
          const isKept = name === 'throws' ? ['unknown'] : ['done', 'unknown'];
          assert.ok(isKept.includes(result.status), `${name} ${what}: ${result.status}`);
          assert.notEqual((await gate.show(result.action_id)).state, 'launched', `${name} ${what}`);
        }
      }
    }));

  it('leaves what else of the library takes a value, an id or a path', () =>
    inGate(async (gate) => {
      verifies('app.border.library');
      const { home } = gate;
      for (const [what, value] of HOSTILE) {
        const hostile = value as never;
        await demandRefusal(`offline(${what})`, () => checkReceiptOffline(hostile, '00'.repeat(32)));
        await demandRefusal(`offline(_, ${what})`, () => checkReceiptOffline({}, hostile));
        await demandRefusal(`online(${what})`, () => checkReceiptOnline(gate, hostile));
        await demandRefusal(`explain(${what})`, () => explainDecision(gate, hostile));
        await demandRefusal(`open({ as: ${what} })`, async () =>
          (await open({ home: home.folder, as: hostile })).close(),
        );
        if (typeof value !== 'object' && value !== undefined) {
          await demandRefusal(`open(${what})`, () => open(hostile));
        }
        if (typeof value !== 'string' && value !== undefined) {
          await demandRefusal(`open({ home: ${what} })`, () => open({ home: hostile }));
          await demandRefusal(`backupTo(${what})`, () => backupTo(gate, hostile));
        }
      }
    }));

  it('is read once: a value that answers otherwise the second time is what it was', () =>
    inGate(async (gate) => {
      verifies('app.border.once');
      let reads = 0;
      const flips = {
        ...sending(),
        get target() {
          reads += 1;
          return reads === 1 ? 'customers' : 'somebody else';
        },
      };
      const { action_id } = await gate.propose(flips);
      assert.equal((await gate.show(action_id)).content.target, 'customers');
      assert.equal(reads, 1);
    }));

  it('is copied: what the caller changes afterwards changes nothing', () =>
    inGate(async (gate) => {
      verifies('app.border.once');
      const args = { text: 'as it was asked' };
      const asked = gate.propose(sending({ args }));
      args.text = 'changed meanwhile';
      const { action_id } = await asked;
      assert.equal(await gate.args(action_id), '{"text":"as it was asked"}');
    }));

  it('reaches a wait whose question throws', () =>
    inGate(async (gate, actionId) => {
      verifies('app.border.refusals');
      const throws = () => {
        throw new TypeError(MARK);
      };
      await demandRefusal('wait(id, throws)', () => gate.wait(actionId, throws, 10));
      await assert.rejects(gate.wait(actionId, throws, 10), { name: 'Refusal', code: 'invalid' });
    }));
});
