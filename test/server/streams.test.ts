/** Event streams end: with their token while nothing happens, and with a client that takes nothing any more. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startTimer } from '../../src/app/clock.js';
import type { CountersignGate } from '../../src/app/index.js';
import { Refusal } from '../../src/core/index.js';
import { eventStream } from '../../src/server/events.js';
import { homeWorld, sending } from '../support/gate-world.js';
import { serverWorld } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';
import { until } from '../support/worker-world.js';

test('a stream ends with its token while nothing happens, and nobody waits any more', async () => {
  verifies('server.streams.end');
  const world = await homeWorld();
  const gate = world.gate as CountersignGate;
  const services = { ...gate.services, timer: (ms: number) => startTimer(Math.min(ms, 20)) };
  const owner = Object.create(gate, { services: { value: services } }) as CountersignGate;
  let asked = 0;
  const stream = eventStream({
    owner,
    after: undefined,
    signal: new AbortController().signal,
    again: async () => {
      asked += 1;
      if (asked > 3) throw new Refusal('unauthenticated', 'the token is over');
      return gate;
    },
  });
  const told: string[] = [];
  await assert.rejects(
    async () => {
      for await (const text of stream) told.push(text);
    },
    { code: 'unauthenticated' },
  );
  assert.equal(told.at(-1), ': still here\n\n');
  assert.deepEqual(await gate.ledger.leases.held('waits/'), []);
  await world.close();
});

test('clients that take nothing and go leave nothing behind', async () => {
  verifies('server.streams.end');
  const world = await serverWorld();
  const { text } = await world.token();
  const client = world.client(text);
  const long = 'x'.repeat(100_000);
  for (let no = 0; no < 20; no += 1) {
    await client.call('propose', { body: sending({ args: { text: `${no} ${long}`, account: 'customers' } }) as never });
  }
  const { hostname, port, host } = new URL(world.serving.publicUrl);
  const sockets = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.pause();
      socket.write(`GET /v1/events?after=0 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${text}\r\n\r\n`);
      return socket;
    }),
  );
  const held = async () => (await world.gate.ledger.leases.held('waits/')).length;
  await until(async () => (await held()) === 10);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await held()) === 0);
  await world.close();
});

test('a store that fails while a client takes nothing ends no process', async () => {
  verifies('server.streams.end');
  const world = await homeWorld();
  const gate = world.gate as CountersignGate;
  await gate.propose(sending());
  const broken = new Error('the store is away');
  const thrown: unknown[] = [];
  const onThrown = (reason: unknown) => thrown.push(reason);
  process.on('unhandledRejection', onThrown);
  // The watch gives what there is, and fails behind it.
  async function* watch(after: number) {
    for (const entry of await gate.ledger.log(after)) yield entry;
    throw broken;
  }
  const ledger = Object.create(gate.ledger, { watch: { value: watch } }) as typeof gate.ledger;
  const owner = Object.create(gate, { ledger: { value: ledger } }) as CountersignGate;
  const { sequence } = await gate.ledger.head();
  const stream = eventStream({
    owner,
    after: sequence - 2,
    signal: new AbortController().signal,
    again: async () => gate,
  });
  await stream.next();
  assert.match(String((await stream.next()).value), /action-proposed/);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(thrown, [], 'what nobody waits for yet is nobody’s');
  await assert.rejects(stream.next(), broken);
  process.off('unhandledRejection', onThrown);
  await world.close();
});
