/** What nothing follows from any more: asked in vain, of an earlier epoch, or begun and never finished. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  auditLedger,
  backupTo,
  type CountersignGate,
  type Home,
  homeAt,
  initialize,
  listTokens,
  open,
  placeBackup,
} from '../../src/app/index.js';
import { bootstrapApprover, requestToken, rotateToken } from '../../src/app/internal.js';
import { homeConfigPath } from '../../src/app/store-config.js';
import type { Act } from '../../src/approvals/index.js';
import { confirmationCode } from '../../src/identity/index.js';
import {
  ALICE,
  addKeyAct,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  homeWorld,
  keyFileFor,
  memoryWorld,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { opened } from '../support/grants.js';
import { testDatabase } from '../support/postgres.js';
import { verifies } from '../support/verifies.js';

const waits = async (world: World) => (await world.gate.decisions()).map(({ operation, id }) => `${operation} ${id}`);

/** A store that an operator accepts as it stands. */
async function restored(gate: CountersignGate): Promise<readonly string[]> {
  const { sequence, logHash: log_hash } = await gate.ledger.head();
  const { epoch = 0, sequence: seen = sequence, log_hash: hash = log_hash } = gate.seen() ?? {};
  const remembered = { epoch, sequence: seen, log_hash: hash };
  const issued = await gate.requestAct({ kind: 'restore', sequence, log_hash, remembered });
  await gate.submit(signed(issued.request));
  return issued.summary;
}

describe('an epoch', () => {
  it('never comes again, whichever backup is put back', async () => {
    verifies('app.restore.epoch');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    const copy = join(world.folder, '..', `old-${process.pid}.sqlite`);
    await backupTo(world.gate as CountersignGate, copy);
    await restored(world.gate as CountersignGate);
    const late = await restored(world.gate as CountersignGate);
    assert.ok(late.includes('epoch: 1 -> 2'));
    const { sequence } = await world.gate.ledger.head();
    await world.gate.close();
    await placeBackup(home, copy, 1);
    const gate = (await world.another()) as CountersignGate;
    assert.equal(gate.services.launchBarrier()?.code, 'ledger_rolled_back');
    // What the gate remembers is what it remembered, for whoever signs.
    assert.deepEqual([gate.seen()?.epoch, gate.seen()?.sequence, gate.seen()?.placed], [2, sequence, true]);
    const lines = await restored(gate);
    assert.ok(lines.includes('epoch: 0 -> 3'), lines.join('\n'));
    assert.ok(
      lines.some((line) => line.startsWith(`this gate remembers: ${sequence} sha256:`) && line.endsWith(', epoch 2')),
    );
    assert.deepEqual([(await gate.identity()).epoch, gate.seen()?.epoch, gate.seen()?.placed], [3, 3, undefined]);
    assert.equal(gate.services.launchBarrier(), undefined);
    assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
    await gate.close();
    rmSync(copy, { force: true });
    await world.close();
  });

  it('is known from the store that is replaced, where the memory knows less or is damaged', async () => {
    verifies('app.restore.epoch');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    const copy = join(world.folder, '..', `first-${process.pid}.sqlite`);
    await backupTo(world.gate as CountersignGate, copy);
    await world.gate.close();
    const early = readFileSync(home.seenFile);
    const gate = (await world.another()) as CountersignGate;
    await restored(gate);
    await gate.close();
    for (const memory of [early, 'damaged']) {
      writeFileSync(home.seenFile, memory);
      const later = readFileSync(home.store);
      await placeBackup(home, copy, memory === 'damaged' ? 2 : 1);
      const put = (await world.another()) as CountersignGate;
      assert.equal(put.seen()?.epoch, 1);
      await put.close();
      writeFileSync(home.store, later);
    }
    rmSync(copy, { force: true });
    await world.close();
  });

  it('that is over takes tokens, standing approvals and requests along, and they say so', async () => {
    verifies('app.epoch.shown');
    verifies('app.inbox.moot');
    const world = await homeWorld();
    const gate = world.gate as CountersignGate;
    const { token_id, issued } = await requestToken(gate, 'agent:worker');
    await gate.submit(signed(issued.request));
    await opened(world);
    const waiting = await gate.requestAct(addKeyAct(BOB));
    assert.deepEqual(await waits(world), [`registry add-key ${waiting.request.request_id}`]);
    const states = async () => [(await listTokens(gate.ledger))[0]?.state, (await gate.grants())[0]?.state];
    assert.deepEqual(await states(), ['active', 'active']);
    const lines = await restored(gate);
    assert.ok(lines.some((line) => line.endsWith('and every token of an agent')));
    assert.deepEqual(await states(), ['void', 'void']);
    assert.deepEqual(await waits(world), []);
    assert.equal(await codeOf(rotateToken(gate, token_id)), 'state');
    assert.deepEqual(await waits(world), [], 'nobody was asked for it');
    await world.close();
  });
});

describe('a request that could not be carried out any more', () => {
  it('is listed no longer', async () => {
    verifies('app.inbox.moot');
    const world = await memoryWorld();
    const ask = async (act: Act) => (await world.gate.requestAct(act)).request;
    const freeze = { kind: 'freeze', op: 'set', scope: { scope: 'project', name: 'web' } } as const satisfies Act;
    const renamed = (name: string) => configAct(world, TRUST.replace('name: test', `name: ${name}`));
    const twice: readonly (() => Promise<Act>)[] = [
      async () => freeze,
      () => renamed('one'),
      async () => addKeyAct(BOB),
    ];
    for (const make of twice) {
      const act = await make();
      const [first, second] = [await ask(act), await ask(act)];
      assert.equal((await waits(world)).length, 2, act.kind);
      await world.gate.submit(signed(second));
      assert.deepEqual(await waits(world), [], act.kind);
      assert.notEqual(await codeOf(world.gate.submit(signed(first))), '', act.kind);
    }
  });

  it('is not asked for', async () => {
    verifies('authority.acts.feasible');
    const world = await memoryWorld();
    const lift = (name: string) => ({ kind: 'freeze', op: 'lift', scope: { scope: 'project', name } }) as const;
    const all = { kind: 'freeze', op: 'lift', scope: { scope: 'all', name: null } } as const;
    await carriedOut(world, { kind: 'freeze', op: 'set', scope: { scope: 'project', name: 'web' } });
    const { rows } = await world.gate.ledger.list({ kind: 'key', statuses: ['active'] });
    const revoke = { kind: 'registry', change: { change: 'revoke-key', key_id: String(rows[0]?.id) } } as const;
    const added = addKeyAct(ALICE);
    for (const act of [lift('nonsense'), all, revoke, added]) {
      assert.notEqual(await codeOf(world.gate.requestAct(act as Act)), '', JSON.stringify(act));
    }
    assert.deepEqual(await waits(world), []);
    await carriedOut(world, lift('web'));
    await world.gate.propose(sending());
  });
});

describe('an init that was stopped in the middle', () => {
  /** A whole home, as `init` makes it, and a place for parts of it. */
  async function homes(check: (whole: Home, part: (name: string) => Home) => Promise<void>): Promise<void> {
    const root = mkdtempSync(join(tmpdir(), 'countersign-stopped-'));
    const whole = homeAt(join(root, 'whole'), {});
    await initialize(whole, { trust: TRUST });
    assert.ok(!existsSync(whole.unfinishedFile));
    await check(whole, (name) => homeAt(join(root, name), {}));
    rmSync(root, { recursive: true, force: true });
  }

  /** What had been made of a home when it was stopped, with the mark of a process that is gone. */
  function leave(whole: Home, home: Home, files: readonly (keyof Home)[], pid = 0): void {
    mkdirSync(home.keysFolder, { recursive: true, mode: 0o700 });
    const paths = [home.trustFile, home.threadKey, home.store];
    writeFileSync(home.unfinishedFile, JSON.stringify({ pid, ledgers: [], paths }), { mode: 0o600 });
    for (const file of files) copyFileSync(whole[file], home[file]);
  }

  it('is begun again by the next one, wherever it was stopped', async () => {
    verifies('app.init.interrupted');
    await homes(async (whole, part) => {
      const files = ['trustFile', 'threadKey', 'store'] as const;
      for (let count = 0; count <= files.length; count += 1) {
        const home = part(`at${count}`);
        leave(whole, home, files.slice(0, count));
        const { ledgerId } = await initialize(home, { trust: TRUST });
        const gate = await open({ home: home.folder });
        assert.equal((await gate.identity()).ledger_id, ledgerId);
        assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
        await gate.close();
        assert.ok(!existsSync(home.unfinishedFile));
      }
      const blank = part('blank');
      leave(whole, blank, ['trustFile', 'threadKey']);
      writeFileSync(blank.store, '', { mode: 0o600 });
      await initialize(blank, { trust: TRUST });
    });
  });

  it('is done where only the mark is left; what was used since is never taken away', async () => {
    verifies('app.init.interrupted');
    await homes(async (whole, part) => {
      const done = part('done');
      leave(whole, done, ['trustFile', 'threadKey', 'store', 'seenFile']);
      assert.equal(await codeOf(initialize(done, { trust: TRUST })), 'already_initialized');
      assert.ok(!existsSync(done.unfinishedFile) && existsSync(done.store));
      leave(whole, whole, []);
      await (await open({ home: whole.folder })).close();
      assert.ok(!existsSync(whole.unfinishedFile), 'a gate that was opened leaves no mark for later');
      const used = part('used');
      const { ledgerId } = await initialize(used, { trust: TRUST, demo: true });
      const gate = await open({ home: used.folder });
      const { publicKey } = ALICE.key;
      const code = confirmationCode(ledgerId, publicKey);
      await bootstrapApprover(gate.ledger, ledgerId, keyFileFor('human:alice', publicKey), code, 'demo');
      await gate.close();
      rmSync(used.seenFile);
      leave(used, used, []);
      assert.equal(await codeOf(initialize(used, { trust: TRUST })), 'already_initialized');
      assert.ok(existsSync(used.store) && existsSync(used.threadKey));
    });
  });

  it('is not taken for one that still runs, and two at once make one ledger', async () => {
    verifies('app.init.interrupted');
    await homes(async (whole, part) => {
      const running = part('running');
      leave(whole, running, ['trustFile'], process.pid);
      assert.equal(await codeOf(initialize(running, { trust: TRUST })), 'busy');
      assert.ok(existsSync(running.trustFile));
      const both = part('both');
      const made = await Promise.allSettled([1, 2].map(() => initialize(both, { trust: TRUST })));
      const ids = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.ledgerId] : []));
      assert.equal(ids.length, 1);
      const gate = await open({ home: both.folder });
      assert.equal((await gate.identity()).ledger_id, ids[0]);
      await gate.close();
    });
  });

  it('leaves another one alone that began in the meantime', async () => {
    verifies('app.init.interrupted');
    await homes(async (whole, part) => {
      const home = part('meanwhile');
      const bytes = (count: number) => {
        if (!existsSync(home.unfinishedFile)) leave(whole, home, ['trustFile', 'threadKey'], process.pid);
        return new Uint8Array(count);
      };
      assert.equal(await codeOf(initialize(home, { trust: TRUST, random: { bytes } })), 'busy');
      assert.ok(existsSync(home.unfinishedFile) && existsSync(home.trustFile) && existsSync(home.threadKey));
    });
  });

  it('is begun again in its database as well, from its own home, while nothing happened in it', async () => {
    verifies('app.init.interrupted');
    const { url, drop } = await testDatabase();
    await homes(async (_, part) => {
      const home = part('server');
      const stopped = async (ledgerId: string) => {
        rmSync(home.seenFile);
        const paths = [home.trustFile, home.threadKey, homeConfigPath(home)];
        writeFileSync(home.unfinishedFile, JSON.stringify({ pid: 0, ledgers: [ledgerId], paths }), { mode: 0o600 });
      };
      const first = await initialize(home, { trust: TRUST, store: url });
      await stopped(first.ledgerId);
      assert.equal(await codeOf(open({ home: home.folder })), 'not_initialized');
      assert.equal(await codeOf(initialize(part('another'), { trust: TRUST, store: url })), 'already_initialized');
      // A try that is refused, or fails, forgets nothing.
      assert.equal(await codeOf(initialize(home, { trust: 'no: trust', store: url })), 'config_invalid');
      const bytes = (count: number) => {
        rmSync(home.threadKey, { force: true });
        mkdirSync(home.threadKey, { recursive: true });
        return new Uint8Array(count);
      };
      assert.equal(await codeOf(initialize(home, { trust: TRUST, store: url, random: { bytes } })), 'store');
      rmSync(home.threadKey, { recursive: true });
      const { ledgerId } = await initialize(home, { trust: TRUST, store: url });
      assert.notEqual(ledgerId, first.ledgerId);
      const gate = await open({ home: home.folder });
      assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
      const { publicKey } = ALICE.key;
      const code = confirmationCode(ledgerId, publicKey);
      await bootstrapApprover(gate.ledger, ledgerId, keyFileFor('human:alice', publicKey), code, 'terminal');
      await gate.close();
      await stopped(ledgerId);
      assert.equal(await codeOf(initialize(home, { trust: TRUST, store: url })), 'already_initialized');
    });
    await drop();
  });

  it('touches nothing that it did not make itself', async () => {
    verifies('app.init.interrupted');
    await homes(async (whole, part) => {
      const home = part('mine');
      leave(whole, home, ['trustFile']);
      const mark = { pid: 0, paths: [home.store, whole.store] };
      writeFileSync(home.unfinishedFile, JSON.stringify(mark), { mode: 0o600 });
      assert.equal(await codeOf(initialize(home, { trust: TRUST })), 'already_initialized');
      assert.ok(existsSync(home.trustFile) && existsSync(whole.store));
    });
  });
});

describe('a store that lost its content', () => {
  it('is said to be gone, and a backup goes in its place as the message says', async () => {
    verifies('app.restore.empty');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    const copy = join(world.folder, '..', `whole-${process.pid}.sqlite`);
    await backupTo(world.gate as CountersignGate, copy);
    await world.gate.close();
    truncateSync(home.store, 0);
    for (const suffix of ['-wal', '-shm']) rmSync(`${home.store}${suffix}`, { force: true });
    assert.equal(await codeOf(open({ home: home.folder })), 'ledger_rolled_back');
    await assert.rejects(placeBackup(home, copy, 1), (error: { code?: string; next?: string }) => {
      return error.code === 'corrupt' && error.next?.includes(`move \`${home.store}\` away`) === true;
    });
    rmSync(home.store);
    await placeBackup(home, copy, 2);
    const gate = (await world.another()) as CountersignGate;
    await restored(gate);
    assert.equal(gate.services.launchBarrier(), undefined);
    await gate.close();
    rmSync(copy, { force: true });
    await world.close();
  });
});
