/** A gate whose thread key is gone: it is read, it writes nothing that a thread records, and no other key takes its place. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { auditLedger, type CountersignGate, examine, homeAt, initialize, readThread } from '../../src/app/index.js';
import { formatThreadKey } from '../../src/messages/index.js';
import { BOB } from '../support/gate-people.js';
import { addKeyAct, approved, carriedOut, codeOf, homeWorld, proposed, sending, TRUST } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const OTHER_KEY = formatThreadKey(new Uint8Array(32).fill(5));

/** Ways in which the file is no key of this ledger any more. */
const LOST: Readonly<Record<string, (path: string) => void>> = {
  'is gone': (path) => rmSync(path),
  'is empty': (path) => writeFileSync(path, ''),
  'is another text': (path) => writeFileSync(path, 'no key at all\n'),
  'has halves that do not belong together': (path) => {
    writeFileSync(path, OTHER_KEY.slice(0, 64) + readFileSync(path, 'utf8').slice(64));
  },
};

describe('a gate whose thread key', () => {
  for (const [what, lose] of Object.entries(LOST)) {
    it(`${what} can be read, and writes nothing that a thread records`, async () => {
      verifies('app.thread-key.missing');
      const world = await homeWorld();
      const actionId = await approved(world);
      const { threadKey } = homeAt(world.folder, {});
      const key = readFileSync(threadKey, 'utf8');
      lose(threadKey);
      await world.reopen();
      const before = await world.gate.ledger.head();
      assert.equal((await world.gate.show(actionId)).state, 'approved');
      assert.equal((await world.gate.list()).rows.length, 1);
      assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
      let entries = 0;
      for await (const _ of readThread(world.gate.ledger, 'acme')) entries += 1;
      assert.ok(entries > 0);
      assert.equal(await codeOf(world.gate.propose(sending({ args: { text: 'new' } }))), 'thread_key');
      assert.equal(await codeOf(world.gate.execute(actionId)), 'thread_key');
      assert.equal(await codeOf(world.gate.cancel(actionId)), 'thread_key');
      assert.equal(world.connector.calls.length, 0, 'nothing was launched');
      assert.deepEqual(await world.gate.ledger.head(), before);
      assert.throws(() => (world.gate as CountersignGate).threadPublicKey(), { code: 'thread_key' });
      writeFileSync(threadKey, key);
      await world.reopen();
      assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
      await world.close();
    });
  }

  it('is gone still lets people change what no thread records', async () => {
    verifies('app.thread-key.missing');
    const world = await homeWorld();
    rmSync(homeAt(world.folder, {}).threadKey);
    await world.reopen();
    await carriedOut(world, addKeyAct(BOB));
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    await world.close();
  });

  it('is gone gets no new one, also not by a new ledger in the same home', async () => {
    verifies('app.thread-key.never-new');
    const world = await homeWorld();
    await proposed(world);
    const home = homeAt(world.folder, {});
    rmSync(home.threadKey);
    await world.reopen();
    assert.equal(existsSync(home.threadKey), false);
    await world.gate.close();
    assert.equal(await codeOf(initialize(home, { trust: TRUST })), 'already_initialized');
    renameSync(home.store, `${home.store}.kept`);
    assert.equal(await codeOf(initialize(home, { trust: TRUST })), 'already_initialized');
    rmSync(home.seenFile);
    assert.equal(await codeOf(initialize(home, { trust: TRUST })), 'already_initialized', 'its configuration is there');
    assert.equal(existsSync(home.threadKey), false);
    await world.close();
  });

  it('is another one is found by doctor, and named', async () => {
    verifies('cli.doctor.thread-key');
    const world = await homeWorld();
    const { threadKey } = homeAt(world.folder, {});
    const found = async () => {
      const findings = await examine({ home: world.folder, clock: world.clock, connectors: [world.connector] });
      return findings.find(({ name }) => name === 'thread key');
    };
    assert.equal((await found())?.level, 'ok', 'before the first entry');
    await proposed(world);
    const good = await found();
    assert.equal(good?.level, 'ok');
    assert.ok(good?.found.includes('keep a copy'), 'where it is, and that no backup holds it');
    const key = readFileSync(threadKey, 'utf8');
    writeFileSync(threadKey, OTHER_KEY);
    assert.equal((await found())?.level, 'problem');
    assert.match((await found())?.found ?? '', /another key than the one that signed/);
    await world.reopen();
    await proposed(world, { args: { text: 'by the wrong key' } });
    assert.equal((await found())?.level, 'problem', 'also once it has signed');
    writeFileSync(threadKey, key);
    assert.equal((await found())?.level, 'problem', 'an entry by another key stays one');
    rmSync(threadKey);
    const missing = await found();
    assert.match(missing?.found ?? '', /is missing/);
    assert.ok(missing?.found.includes(threadKey));
    assert.match(missing?.next ?? '', /put your copy of the file back.*countersign init --home/s);
    await world.close();
  });
});
