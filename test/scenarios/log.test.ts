/** What no caller is told reaches the log: causes of faults, lost results, exceptions of tools and connectors. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import type { CountersignGate } from '../../src/app/index.js';
import { type Connector, type Log, type Outcome, openConnectors } from '../../src/connectors/index.js';
import { LIMITS, Refusal } from '../../src/core/index.js';
import { FailingStore } from '../support/failing-store.js';
import { approved, codeOf, homeWorld, memoryWorld, proposed, sending } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

interface Told {
  readonly level: string;
  readonly what: string;
  readonly cause: unknown;
}

function listening(services: object): Told[] {
  const told: Told[] = [];
  const log: Log = { write: (level, what, cause) => void told.push({ level, what, cause }) };
  Object.assign(services, { log });
  return told;
}

const messageOf = (cause: unknown): unknown => (cause as { cause?: unknown } | undefined)?.cause ?? cause;

describe('the log of a gate', () => {
  it('is told the cause of a fault, which the caller is not', async () => {
    verifies('app.log.gate');
    const store = new FailingStore();
    const world = await memoryWorld({ store });
    const told = listening(world.gate.services);
    store.failAt(1);
    assert.equal(await codeOf(proposed(world)), 'store');
    assert.deepEqual(
      told.map(({ level, what }) => [level, what]),
      [['error', 'the gate failed']],
    );
    assert.match(String(messageOf(told[0]?.cause)), /disk I\/O error/);
  });

  it('is told of a refusal only as what helps to search', async () => {
    verifies('app.log.gate');
    const world = await memoryWorld();
    const told = listening(world.gate.services);
    assert.equal(await codeOf(world.gate.execute(await proposed(world))), 'receipt_required');
    assert.deepEqual(
      told.map(({ level, what }) => [level, what]),
      [['debug', 'execute was refused']],
    );
  });

  it('is told of an outcome that could not be written down, also of a late one', async () => {
    verifies('app.log.outcomes');
    const store = new FailingStore();
    const world = await memoryWorld({ store });
    const told = listening(world.gate.services);
    world.connector.behave = async (_call, effect) => {
      store.failAt(1);
      return effect();
    };
    assert.equal(await codeOf(world.gate.execute(await approved(world))), 'unrecorded');
    assert.match(told[0]?.what ?? '', /an outcome could not be written down/);
    assert.match(String(messageOf(told[0]?.cause)), /disk I\/O error/);
    told.length = 0;
    world.connector.timeoutMs = 20;
    let answer: (outcome: Outcome) => void = () => undefined;
    world.connector.behave = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const late = await approved(world, { args: { text: 'late' } });
    assert.equal((await world.gate.execute(late)).state, 'unknown');
    store.failAt(1);
    answer({ result: 'confirmed' });
    for (let turn = 0; turn < 200 && told.length < 2; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(
      told.filter(({ level }) => level !== 'debug').map(({ what }) => what),
      ['an outcome could not be written down', 'a late result could not be written down'],
    );
  });

  it('is told what a tool threw', async () => {
    verifies('app.log.outcomes');
    const world = await homeWorld();
    const told = listening(world.gate.services);
    const tool = (world.gate as CountersignGate).tool({
      name: 'fails',
      version: '1',
      risk: 'reversible',
      input: z.strictObject({}),
      execute: async () => {
        throw new Error('no route to host');
      },
    });
    assert.equal((await tool.call({})).status, 'unknown');
    assert.deepEqual(
      told.map(({ level, cause }) => [level, String(cause)]),
      [['warn', 'Error: no route to host']],
    );
    await world.close();
  });

  it('is told what a connector of the configuration threw, and changes nothing of it', async () => {
    verifies('app.log.outcomes');
    const told: Told[] = [];
    const log: Log = { write: (level, what, cause) => void told.push({ level, what, cause }) };
    const host = { stateDir: '/nonexistent', now: () => 0 };
    const config = { 'shell-noop': { dir: '/nonexistent' } };
    const plain = openConnectors(config, host).get('shell-noop') as Connector;
    const telling = openConnectors(config, { ...host, log }).get('shell-noop') as Connector;
    assert.deepEqual([telling.name, telling.operations], [plain.name, plain.operations]);
    const [one, other] = [await plain.operation('send'), await telling.operation('send')];
    assert.equal(other?.digest, one?.digest);
    assert.equal(await telling.operation('nothing'), undefined);
    const broken = new Refusal('invalid', 'x');
    const call = new Proxy({} as never, {
      get: () => {
        throw broken;
      },
    });
    await assert.rejects(async () => other?.execute(call), broken);
    await assert.rejects(async () => other?.reconcile?.(call), broken);
    assert.deepEqual(
      told.map(({ what }) => what),
      ['shell-noop did not answer a call', 'shell-noop could not be asked'],
    );
  });

  it('is silent where nobody gave one', async () => {
    verifies('app.log.silent');
    const world = await memoryWorld();
    assert.equal(world.gate.services.log, undefined);
    assert.equal(
      await codeOf(world.gate.propose(sending({ target: 'x'.repeat(LIMITS.targetCharsMax + 1) }))),
      'invalid',
    );
  });
});
