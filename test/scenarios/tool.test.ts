/** `gate.tool`: a function of the application behind the gate. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { type CountersignGate, NoEffect, type ToolDefinition, type ToolResult } from '../../src/app/index.js';
import { type JsonObject, LIMITS } from '../../src/core/index.js';
import { approve, codeOf, deny, homeWorld, TRUST, type World } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const input = z.strictObject({
  to: z.string(),
  note: z.string().default('none'),
  list: z.array(z.string()).optional(),
});
type Mail = z.infer<typeof input>;
type Seen = { args: Mail; key: string };

function mail(changes: Partial<ToolDefinition<Mail>> = {}): { definition: ToolDefinition<Mail>; seen: Seen[] } {
  const seen: Seen[] = [];
  const definition: ToolDefinition<Mail> = {
    name: 'send-mail',
    version: '1',
    input,
    target: ({ to }) => to,
    summary: ({ to, note }) => ({ to, note }),
    execute: async (args, { idempotencyKey }) => {
      seen.push({ args, key: idempotencyKey });
      return { sent: true };
    },
    ...changes,
  };
  return { definition, seen };
}

async function inWorld(check: (world: World, gate: CountersignGate) => Promise<void>, trust = TRUST): Promise<void> {
  const world = await homeWorld({ trust });
  try {
    await check(world, world.gate as CountersignGate);
  } finally {
    await world.close();
  }
}

const args = { to: 'alice@example.org' } as Mail;
const idOf = (result: ToolResult) => result.action_id;

describe('a tool that policy allows', () => {
  it('is proposed, approved and launched in one commit, and its answer is passed on', () =>
    inWorld(async (world, gate) => {
      verifies('app.tool.one-commit');
      const { definition, seen } = mail({ risk: 'reversible' });
      let launchedWhen = '';
      const tool = gate.tool({
        ...definition,
        execute: async (given, context) => {
          launchedWhen = (await gate.show(context.idempotencyKey)).state;
          return definition.execute(given, context);
        },
      });
      const { sequence } = await gate.ledger.head();
      const result = await tool.call(args);
      assert.deepEqual(result, { status: 'done', action_id: idOf(result), result: { sent: true } });
      assert.equal(launchedWhen, 'launched', 'written before the call');
      const log = (await gate.ledger.log(sequence)).map(({ event }) => event);
      const types = log.filter(({ record }) => record.kind !== 'thread').map(({ type }) => type);
      const launch = ['action-proposed', 'action-approved', 'action-launched', 'effect-launched'];
      assert.deepEqual(types, [...launch, 'action-confirmed']);
      assert.equal(log[4]?.record.kind, 'thread', 'the thread follows the commit of the four');
      assert.equal(new Set(log.slice(0, 5).map(({ at }) => at)).size, 1);
      assert.deepEqual(seen[0]?.key, idOf(result));
      assert.equal((await world.gate.show(idOf(result))).authorization?.kind, 'policy');
    }));

  it('gets a frozen copy of exactly the bytes that were stored: the output of its schema', () =>
    inWorld(async (_world, gate) => {
      verifies('app.tool.frozen-args');
      const { definition, seen } = mail({ risk: 'reversible' });
      const tool = gate.tool(definition);
      const given = { to: 'a@example.org', list: ['x'] } as Mail;
      const result = await tool.call(given);
      given.list?.push('changed later');
      const [first] = seen;
      assert.deepEqual(first?.args, { to: 'a@example.org', note: 'none', list: ['x'] });
      assert.ok(Object.isFrozen(first?.args) && Object.isFrozen(first?.args.list));
      assert.equal(await gate.args(idOf(result)), '{"list":["x"],"note":"none","to":"a@example.org"}');
      assert.equal(await codeOf(tool.call({ to: 7 } as unknown as Mail)), 'invalid');
      assert.equal(await codeOf(tool.call({ ...args, approved: true } as Mail)), 'invalid');
      assert.equal(seen.length, 1);
    }));

  it('runs once under one idempotency key', () =>
    inWorld(async (_world, gate) => {
      verifies('app.tool.idempotency');
      const { definition, seen } = mail({ risk: 'reversible' });
      const tool = gate.tool(definition);
      const first = await tool.call(args, { idempotencyKey: 'k' });
      assert.deepEqual(await tool.call(args, { idempotencyKey: 'k' }), first);
      assert.equal(await codeOf(tool.call({ ...args, note: 'x' }, { idempotencyKey: 'k' })), 'idempotency_reuse');
      const second = await tool.call(args, { idempotencyKey: 'k2' });
      assert.notEqual(idOf(second), idOf(first));
      assert.equal(seen.length, 2);
    }));

  it('at the same time is one call: the second one hears that it runs', () =>
    inWorld(async (_world, gate) => {
      verifies('app.tool.idempotency');
      const { definition, seen } = mail({ risk: 'reversible' });
      const results = await Promise.all([1, 2, 3].map(() => gate.tool(definition).call(args)));
      assert.deepEqual(results.map(({ status }) => status).sort(), ['done', 'pending', 'pending']);
      assert.equal(seen.length, 1);
    }));
});

describe('a tool that needs a person', () => {
  it('is irreversible unless it says less: it is pending, and goes on once it is approved', () =>
    inWorld(async (world, gate) => {
      verifies('app.tool.pending');
      const { definition, seen } = mail();
      const tool = gate.tool(definition);
      const pending = await tool.call(args);
      assert.equal(pending.status, 'pending');
      assert.equal((await tool.resume(idOf(pending))).status, 'pending');
      assert.equal((await gate.show(idOf(pending))).content.class, 'irreversible');
      const { lines } = await gate.summary(idOf(pending));
      assert.ok(lines.includes('> to: alice@example.org') && lines.includes('> note: none'));
      const waiting = tool.resume(idOf(pending), { waitMs: 5_000 });
      await approve(world, idOf(pending));
      assert.deepEqual(await waiting, { status: 'done', action_id: idOf(pending), result: { sent: true } });
      assert.deepEqual(await tool.resume(idOf(pending)), await waiting, 'told again');
      assert.equal(seen.length, 1);
    }));

  it('is told when it is denied, taken back or too late', () =>
    inWorld(async (world, gate) => {
      verifies('app.tool.closed');
      const { definition, seen } = mail();
      const tool = gate.tool(definition);
      const denied = await tool.call(args);
      await deny(world, idOf(denied));
      assert.deepEqual(await tool.resume(idOf(denied)), { status: 'denied', action_id: idOf(denied), words: null });
      const withdrawn = await tool.call(args);
      await gate.cancel(idOf(withdrawn));
      assert.deepEqual(await tool.resume(idOf(withdrawn)), { status: 'cancelled', action_id: idOf(withdrawn) });
      const late = await tool.call(args);
      world.clock.advance(LIMITS.approveWithinMsDefault);
      assert.equal((await tool.resume(idOf(late))).status, 'expired');
      await gate.recover();
      assert.equal((await tool.resume(idOf(late))).status, 'expired');
      const unused = await tool.call(args);
      await approve(world, idOf(unused));
      world.clock.advance(LIMITS.launchWithinMsDefault);
      assert.equal((await tool.resume(idOf(unused))).status, 'expired');
      assert.equal(seen.length, 0);
    }));

  it('is held when its version changed meanwhile', () =>
    inWorld(async (world, gate) => {
      verifies('app.tool.version');
      const { definition, seen } = mail();
      const pending = await gate.tool(definition).call(args);
      await approve(world, idOf(pending));
      assert.throws(
        () => gate.tool({ ...definition, version: '2' }),
        { code: 'invalid' },
        'one version in one process',
      );
      const other = (await world.another()) as CountersignGate;
      const changed = other.tool({ ...definition, version: '2' });
      assert.equal(await codeOf(changed.resume(idOf(pending))), 'binding_changed');
      const schema = ((await world.another()) as CountersignGate).tool({
        ...definition,
        input: input.extend({ cc: z.string().optional() }),
      });
      assert.equal(await codeOf(schema.resume(idOf(pending))), 'binding_changed');
      const riskier = ((await world.another()) as CountersignGate).tool({ ...definition, risk: 'costly' });
      assert.equal(await codeOf(riskier.resume(idOf(pending))), 'binding_changed');
      const without = (await world.another()) as CountersignGate;
      assert.equal(await codeOf(without.execute(idOf(pending))), 'operation');
      assert.equal(seen.length, 0);
      assert.equal((await gate.tool(definition).resume(idOf(pending))).status, 'done');
    }));

  it('goes on with its own actions alone', () =>
    inWorld(async (world, gate) => {
      verifies('app.tool.own');
      const one = gate.tool(mail().definition);
      const { definition, seen } = mail({ name: 'other' });
      const pending = await gate.tool(definition).call(args);
      await approve(world, idOf(pending));
      assert.equal(await codeOf(one.resume(idOf(pending))), 'unknown_action');
      assert.equal(await codeOf(one.resume('act_nowhere')), 'unknown_action');
      assert.equal(seen.length, 0);
    }));
});

describe('what a tool throws', () => {
  const throwing = async (gate: CountersignGate, changes: Partial<ToolDefinition<Mail>>) => {
    const name = `tool-${Math.random()}`;
    return gate.tool(mail({ risk: 'reversible', name, ...changes }).definition).call(args);
  };
  const raise = (error: unknown) => async () => {
    throw error;
  };

  it('is an unknown outcome, but where it says that there was no effect', () =>
    inWorld(async (_world, gate) => {
      verifies('app.tool.no-effect');
      assert.equal((await throwing(gate, { execute: raise(new Error('cut')) })).status, 'unknown');
      const none = await throwing(gate, { execute: raise(new NoEffect('full')) });
      assert.deepEqual(none, { status: 'failed', action_id: idOf(none), code: 'no_effect' });
      const noEffectIf = (error: unknown) => error instanceof RangeError;
      assert.equal((await throwing(gate, { execute: raise(new RangeError('x')), noEffectIf })).status, 'failed');
      assert.equal((await throwing(gate, { execute: raise(new Error('x')), noEffectIf })).status, 'unknown');
      const truthy = (() => 'yes') as unknown as () => boolean;
      assert.equal((await throwing(gate, { execute: raise(new Error('x')), noEffectIf: truthy })).status, 'unknown');
    }));

  it('is never taken for no effect once the function has returned', () =>
    inWorld(async (_world, gate) => {
      verifies('app.tool.no-effect');
      const undo = () => {
        throw new NoEffect('no undo');
      };
      assert.equal((await throwing(gate, { undo, noEffectIf: () => true })).status, 'unknown');
      const odd = async () => new Map() as unknown as Record<string, never>;
      assert.equal((await throwing(gate, { execute: odd, noEffectIf: () => true })).status, 'unknown');
    }));

  it('and its time-out leave an outcome that it can establish later', () =>
    inWorld(async (world, gate) => {
      verifies('app.tool.reconcile');
      let known: 'confirmed' | 'failed' | undefined;
      const keys: string[] = [];
      const reconcile = async (_args: Mail, key: string) => {
        keys.push(key);
        return known;
      };
      const never = () => new Promise<never>(() => undefined);
      const result = await throwing(gate, { execute: never, timeoutMs: 20, reconcile });
      assert.equal(result.status, 'unknown');
      assert.equal(await codeOf(gate.reconcile(idOf(result))), 'decision_required');
      known = 'confirmed';
      assert.equal((await gate.reconcile(idOf(result))).state, 'confirmed');
      assert.deepEqual(keys, [idOf(result), idOf(result)]);
      const mute = await throwing(gate, { execute: raise(new Error('x')) });
      assert.equal(await codeOf(gate.reconcile(idOf(mute))), 'decision_required');
      assert.equal(world.connector.calls.length, 0);
    }));
});

describe('the definition of a tool', () => {
  it('is checked where it is made', () =>
    inWorld(async (_world, gate) => {
      verifies('app.tool.definition');
      const transform = z.strictObject({ to: z.string().transform((text) => text.length) });
      const bad: Partial<ToolDefinition<Mail>>[] = [
        ...[{ name: '' }, { name: 'a b' }, { version: '' }, { project: 'a b' }, { risk: 'harmless' as 'read' }],
        ...[0, -1, 0.5, Number.NaN, Infinity, LIMITS.callMsMax + 1].map((timeoutMs) => ({ timeoutMs })),
        { input: transform as unknown as typeof input },
      ];
      for (const changes of bad) {
        assert.throws(() => gate.tool(mail(changes).definition), { code: 'invalid' }, JSON.stringify(changes));
      }
      const money = mail({ name: 'pay', risk: 'reversible', amount: () => ({ amount: 0.5, currency: 'EUR' }) });
      assert.equal(await codeOf(gate.tool(money.definition).call(args)), 'invalid');
      const direct = {
        project: 'x',
        connector: 'tool',
        operation: 'pay',
        target: args.to,
        args: { ...args } as JsonObject,
      };
      assert.equal(await codeOf(gate.propose(direct)), 'invalid');
    }));

  it('says how to undo what it did; that is kept as evidence', () =>
    inWorld(async (_world, gate) => {
      verifies('app.tool.undo');
      const undo = ({ to }: Mail) => ({ tool: 'recall', args: { to } });
      const { definition } = mail({ risk: 'reversible', undo });
      const result = await gate.tool(definition).call(args);
      const ref = (await gate.show(idOf(result))).attempts[0]?.evidence_ref ?? '';
      const events = await gate.ledger.events({ kind: 'action', id: idOf(result) });
      const at = events.find(({ payloads }) => payloads.includes(ref));
      const bytes = await gate.ledger.payload({ kind: 'action', id: idOf(result) }, at?.revision ?? 0, ref);
      const expected = '{"result":{"sent":true},"undo":{"args":{"to":"alice@example.org"},"tool":"recall"}}';
      assert.equal(Buffer.from(bytes ?? []).toString(), expected);
    }));

  it('shows its own view to the person', () =>
    inWorld(async (_world, gate) => {
      verifies('app.tool.preview');
      const { definition } = mail({ preview: async ({ to }) => `Dear ${to}` });
      const pending = await gate.tool(definition).call(args);
      assert.deepEqual((await gate.summary(idOf(pending))).preview, {
        mediaType: 'text/plain',
        text: 'Dear alice@example.org',
      });
    }));
});
