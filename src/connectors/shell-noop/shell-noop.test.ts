/** Tests of `shell-noop`: the contract of all connectors, and what is its own. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ACTION_ID, type ConnectorCase, callOf, connectorContract } from '../../../test/contracts/connector.js';
import { verifies } from '../../../test/support/verifies.js';
import { Fault, type Json } from '../../core/index.js';
import type { Operation } from '../index.js';
import { shellNoop } from './index.js';

const MONEY = { amount: 1_250, currency: 'EUR' };
const REFUSED: Json[] = [
  { text: 7 },
  { simulate: 'explode' },
  { ...MONEY, amount: 1.5 },
  { ...MONEY, currency: 'eur' },
];

async function makeWorld() {
  const dir = await mkdtemp(join(tmpdir(), 'shell-noop-'));
  const connector = shellNoop({ dir });
  const cases = connector.operations.map((operation): ConnectorCase => {
    const refused = operation === 'refund' ? [...REFUSED, {}, { amount: 1 }] : [...REFUSED, { amount: 1 }];
    return {
      operation,
      target: 'cus_9',
      args: { text: 'hello', account: 'cus_9', ...MONEY },
      refused,
      effects: async () => (await readdir(dir)).filter((name) => name === `${ACTION_ID}.json`).length,
    };
  });
  const close = () => rm(dir, { recursive: true, force: true });
  return { dir, connector, changed: shellNoop({ dir, codeVersion: '2' }), cases, close };
}

connectorContract('shell-noop', makeWorld);

/** The `refund` operation in a fresh folder. */
async function withRefund(
  check: (operation: Operation, subject: ConnectorCase, dir: string) => Promise<void>,
): Promise<void> {
  const world = await makeWorld();
  const operation = await world.connector.operation('refund');
  const subject = world.cases.find((found) => found.operation === 'refund');
  assert.ok(operation !== undefined && subject !== undefined);
  try {
    await check(operation, subject, world.dir);
  } finally {
    await world.close();
  }
}

describe('shell-noop', () => {
  it('gives each operation its class, whatever the arguments say', async () => {
    verifies('connectors.noop.classes');
    const { connector, close } = await makeWorld();
    const expected = {
      read: 'read',
      note: 'reversible',
      send: 'irreversible',
      merge: 'irreversible',
      refund: 'costly',
      label: 'costly',
    };
    for (const [name, floor] of Object.entries(expected)) {
      const operation = await connector.operation(name);
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => operation?.classify(args as never) === floor),
      );
    }
    await close();
  });

  it('derives target and amount from the arguments', () =>
    withRefund(async (operation) => {
      verifies('connectors.noop.facts');
      assert.deepEqual(operation.facts?.({ ...MONEY, account: 'cus_9' }), { target: 'cus_9', amount: MONEY });
      assert.deepEqual(operation.facts?.({ ...MONEY }), { amount: MONEY });
    }));

  it('simulates a failure without an effect', () =>
    withRefund(async (operation, subject) => {
      verifies('connectors.noop.simulate');
      const call = callOf(subject, { args: { ...subject.args, simulate: 'fail' } });
      assert.equal((await operation.execute(call)).result, 'failed');
      assert.equal(await subject.effects(ACTION_ID), 0);
      assert.equal((await operation.reconcile?.(call))?.result, 'failed');
    }));

  it('simulates a lost answer after the effect', () =>
    withRefund(async (operation, subject) => {
      verifies('connectors.noop.simulate');
      const call = callOf(subject, { args: { ...subject.args, simulate: 'lose-response' } });
      await assert.rejects(operation.execute(call), Fault);
      await assert.rejects(operation.execute({ ...call, attempt: 2 }), Fault);
      assert.equal(await subject.effects(ACTION_ID), 1);
      assert.equal((await operation.reconcile?.(call))?.result, 'confirmed');
    }));

  it('simulates a call that hangs until it is called off', () =>
    withRefund(async (operation, subject) => {
      verifies('connectors.noop.simulate');
      const controller = new AbortController();
      const call = callOf(subject, { args: { ...subject.args, simulate: 'hang' }, signal: controller.signal });
      const hanging = operation.execute(call);
      setTimeout(() => controller.abort(), 20);
      assert.equal((await hanging).result, 'unknown');
      assert.equal(
        (await operation.execute({ ...call, signal: AbortSignal.timeout(60_000), deadline: Date.now() + 20 })).result,
        'unknown',
      );
      assert.equal(await subject.effects(ACTION_ID), 0);
    }));

  it('does not link its file when the deadline passes while it is written', async () => {
    verifies('connectors.noop.certain');
    const world = await makeWorld();
    const times = [0, 100];
    const connector = shellNoop({ dir: world.dir, now: () => times.shift() ?? 100 });
    const subject = world.cases[0] as ConnectorCase;
    const operation = await connector.operation(subject.operation);
    const outcome = await operation?.execute(callOf(subject, { deadline: 50 }));
    assert.deepEqual(outcome, { result: 'failed', code: 'too_late' });
    assert.deepEqual(await readdir(world.dir), []);
    await world.close();
  });

  it('leaves one whole file after many calls at once, with what was signed', () =>
    withRefund(async (operation, subject, dir) => {
      verifies('connectors.noop.once');
      const outcomes = await Promise.all(Array.from({ length: 32 }, () => operation.execute(callOf(subject))));
      assert.ok(outcomes.every((outcome) => outcome.result === 'confirmed'));
      assert.deepEqual(await readdir(dir), [`${ACTION_ID}.json`]);
      const body = JSON.parse(await readFile(join(dir, `${ACTION_ID}.json`), 'utf8')) as { args: unknown };
      assert.deepEqual(body.args, subject.args);
    }));

  it('takes another body under its key neither for its own effect nor for none', () =>
    withRefund(async (operation, subject, dir) => {
      verifies('connectors.noop.once');
      await writeFile(join(dir, `${ACTION_ID}.json`), 'something else');
      assert.deepEqual(await operation.execute(callOf(subject)), { result: 'failed', code: 'body_differs' });
      assert.equal(await operation.reconcile?.(callOf(subject)), undefined);
    }));

  it('tells nothing when its folder can not be read', () =>
    withRefund(async (operation, subject, dir) => {
      verifies('connectors.noop.certain');
      await rm(dir, { recursive: true });
      assert.equal(await operation.reconcile?.(callOf(subject)), undefined);
      assert.deepEqual(await operation.execute(callOf(subject)), { result: 'failed', code: 'unwritable' });
      await writeFile(dir, 'a file');
      assert.equal(await operation.reconcile?.(callOf(subject)), undefined);
      await rm(dir);
      await mkdir(join(dir, `${ACTION_ID}.json`), { recursive: true });
      assert.equal(await operation.reconcile?.(callOf(subject)), undefined);
      await chmod(dir, 0o700);
    }));

  it('names no file by a key that is no action id', () =>
    withRefund(async (operation, subject) => {
      verifies('connectors.noop.key');
      for (const idempotencyKey of ['../../escape', '', 'act_1', `${ACTION_ID}\n`]) {
        assert.deepEqual(await operation.execute(callOf(subject, { idempotencyKey })), {
          result: 'failed',
          code: 'invalid',
        });
        assert.equal(await operation.reconcile?.(callOf(subject, { idempotencyKey })), undefined);
      }
    }));
});
