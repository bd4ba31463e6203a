/** Where a gate lives, what it remembers outside its store, and the way back after a store was put back. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  auditLedger,
  backupTo,
  type CountersignGate,
  checkHome,
  homeAt,
  initialize,
  open,
  placeBackup,
} from '../../src/app/index.js';
import {
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  codeOf,
  homeWorld,
  proposed,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

function inFolder(check: (root: string) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'countersign-place-'));
  return check(root).finally(() => rmSync(root, { recursive: true, force: true }));
}

describe('the home of a gate', () => {
  it('lies in no repository, whatever links lead there and whether it exists yet', () =>
    inFolder(async (root) => {
      verifies('app.home.location');
      mkdirSync(join(root, 'repo', '.git'), { recursive: true });
      mkdirSync(join(root, 'repo', 'deep'));
      mkdirSync(join(root, 'bare', 'objects'), { recursive: true });
      mkdirSync(join(root, 'bare', 'refs'));
      writeFileSync(join(root, 'bare', 'HEAD'), 'ref: refs/heads/main\n');
      symlinkSync(join(root, 'repo', 'deep'), join(root, 'link'));
      writeFileSync(join(root, 'worktree'), '');
      for (const place of [
        'repo',
        'repo/home',
        'repo/deep/home',
        'link',
        'link/home',
        'link/a/b',
        'bare',
        'bare/home',
      ]) {
        const home = homeAt(join(root, place), {});
        assert.throws(() => checkHome(home), { code: 'config_location' }, place);
        assert.equal(await codeOf(initialize(home, { trust: TRUST })), 'config_location', place);
        assert.ok(!existsSync(home.store));
      }
      checkHome(homeAt(join(root, 'elsewhere'), {}));
    }));

  it('is its owner’s alone', async () => {
    verifies('app.home.location');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    for (const path of [home.folder, home.trustFile, home.keysFolder, home.threadKey, home.seenFile, home.workFolder]) {
      if (!existsSync(path)) continue;
      for (const mode of [0o620, 0o602, 0o770, 0o777]) {
        chmodSync(path, mode | 0o700);
        assert.equal(await codeOf(world.another()), 'config_location', `${path} ${mode.toString(8)}`);
      }
      chmodSync(path, 0o700);
    }
    await world.close();
  });

  it('is where it is told, else where the environment says, else below the user’s configuration', () => {
    verifies('app.home.order');
    const both = { COUNTERSIGN_HOME: '/env', XDG_CONFIG_HOME: '/xdg' };
    assert.equal(homeAt('/told', both).folder, '/told');
    assert.equal(homeAt(undefined, both).folder, '/env');
    assert.equal(homeAt(undefined, { XDG_CONFIG_HOME: '/xdg' }).folder, '/xdg/countersign');
  });

  it('holds one ledger, made once, of a configuration that can be opened', () =>
    inFolder(async (root) => {
      verifies('app.init.once');
      const home = homeAt(join(root, 'home'), {});
      assert.equal(await codeOf(open({ home: home.folder })), 'not_initialized');
      assert.equal(await codeOf(initialize(home, { trust: 'mode: off' })), 'config_invalid');
      const noDoor = `${TRUST}connectors: { shell-noop: { dir: relative } }\n`;
      assert.equal(await codeOf(initialize(home, { trust: noDoor })), 'config_invalid');
      assert.ok(!existsSync(home.folder));
      await initialize(home, { trust: TRUST });
      assert.equal(await codeOf(initialize(home, { trust: TRUST })), 'already_initialized');
      assert.equal(await codeOf(initialize(homeAt(root, {}), { trust: TRUST, demo: true })), 'already_initialized');
    }));
});

/** A world with an action of each kind, and a copy of its store from before the last ones. */
async function withOlderCopy(): Promise<{ world: World; copy: string; waiting: string; lost: string }> {
  const world = await homeWorld();
  const waiting = await approved(world, { args: { text: 'waiting' } });
  const copy = `${world.folder}/older.sqlite`;
  await backupTo(world.gate as CountersignGate, copy);
  const lost = await approved(world, { args: { text: 'lost' } });
  await world.gate.execute(lost);
  await world.gate.close();
  return { world, copy, waiting, lost };
}

function putBack(world: World, copy: string): void {
  const home = homeAt(world.folder, {});
  for (const suffix of ['', '-wal', '-shm']) rmSync(home.store + suffix, { force: true });
  copyFileSync(copy, home.store);
  chmodSync(home.store, 0o600);
}

async function restoreAct(gate: CountersignGate) {
  const head = await gate.ledger.head();
  const here = { sequence: head.sequence, log_hash: head.logHash };
  const seen = gate.seen();
  const { epoch, sequence, log_hash } = seen ?? { epoch: 0, ...here };
  const remembered = { epoch, sequence, log_hash };
  return gate.requestAct({ kind: 'restore', ...here, remembered });
}

describe('a store that misses what the gate has seen', () => {
  it('launches nothing until a person accepts it; then every open action is unknown and every receipt void', async () => {
    verifies('app.seen.barrier');
    verifies('app.restore.voids');
    const { world, copy, waiting, lost } = await withOlderCopy();
    putBack(world, copy);
    const gate = (await world.another()) as CountersignGate;
    assert.equal(await codeOf(gate.execute(waiting)), 'ledger_rolled_back');
    assert.equal(await codeOf(gate.proposeAndLaunch(sending({ operation: 'note' }))), 'ledger_rolled_back');
    assert.equal(await codeOf(gate.execute(lost)), 'ledger_rolled_back');
    assert.equal(world.connector.calls.length, 1, 'that of the lost action');
    const stale = await gate.request(waiting);
    const seen = gate.seen();
    const issued = await restoreAct(gate);
    assert.ok(issued.summary.includes(`this gate remembers: ${seen?.sequence} ${seen?.log_hash}, epoch 0`));
    assert.ok(issued.summary.includes('epoch: 0 -> 1'));
    await gate.submit(signed(issued.request));
    const { state, interrupted } = await gate.show(waiting);
    assert.deepEqual([state, interrupted], ['unknown', true]);
    assert.equal(await codeOf(gate.execute(waiting)), 'decision_required');
    assert.equal(await codeOf(gate.approve(waiting, signed(stale.request))), 'decision_required');
    const fresh = await gate.propose(sending({ args: { text: 'fresh' } }));
    const { request } = await gate.request(fresh.action_id);
    assert.equal(request.aud.epoch, 1);
    await gate.approve(fresh.action_id, signed(request));
    assert.equal((await gate.execute(fresh.action_id)).state, 'confirmed');
    assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
    await gate.close();
    const again = (await world.another()) as CountersignGate;
    assert.equal(again.services.launchBarrier(), undefined);
    await world.close();
  });

  it('is noticed also where the gate remembers nothing: a backup in a home made anew launches nothing', async () => {
    verifies('app.seen.missing');
    const { world, copy, waiting } = await withOlderCopy();
    const home = homeAt(world.folder, {});
    rmSync(home.seenFile);
    putBack(world, copy);
    const gate = (await world.another()) as CountersignGate;
    const calls = world.connector.calls.length;
    assert.equal(await codeOf(gate.execute(waiting)), 'ledger_rolled_back');
    assert.equal(world.connector.calls.length, calls);
    assert.ok(!existsSync(home.seenFile), 'the gate does not make up a memory by itself');
    await gate.submit(signed((await restoreAct(gate)).request));
    assert.equal((await gate.show(waiting)).state, 'unknown');
    await world.close();
  });

  it('leaves no way to call an action failed because of an older attempt', async () => {
    verifies('actions.machine.interrupted');
    const world = await homeWorld();
    world.connector.behave = async () => ({ result: 'unknown' });
    const actionId = await approved(world, { args: { text: 'lost' } });
    await world.gate.execute(actionId);
    await world.gate.submit(signed((await restoreAct(world.gate as CountersignGate)).request));
    assert.deepEqual(
      [(await world.gate.show(actionId)).state, (await world.gate.show(actionId)).interrupted],
      ['unknown', true],
    );
    world.clock.advance(3_600_000);
    // The connector finds nothing of the attempt that the store knows: another one may have run since the backup.
    assert.equal(await codeOf(world.gate.reconcile(actionId)), 'decision_required');
    const again = await world.gate.proposeLike(actionId);
    assert.ok((await world.gate.show(again.action_id)).content.flags.includes('possible_duplicate'));
    await world.close();
  });

  it('is noticed also where the memory itself is damaged, and restored all the same', async () => {
    verifies('app.seen.damaged');
    const world = await homeWorld();
    const actionId = await approved(world);
    await world.gate.close();
    const { seenFile } = homeAt(world.folder, {});
    const good = readFileSync(seenFile, 'utf8');
    const sequence = Number((JSON.parse(good) as { sequence: number }).sequence);
    const damaged = [
      ...['', '{', 'null', '[]', '7', '{}', good.slice(0, -10), good.replace('"epoch":0', '"epoch":"0"')],
      ...[
        good.replace('"log_hash":"sha256:', '"log_hash":"sha256:g'),
        good.replace(`"sequence":${sequence}`, `"sequence":${sequence + 1}`),
      ],
      ...[good.replace(`"sequence":${sequence}`, '"sequence":-1'), good.replace('"epoch":0', '"epoch":1')],
      good.replace(/"ledger_id":"./, (text) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`),
    ];
    for (const text of damaged) {
      writeFileSync(seenFile, text);
      const gate = await world.another();
      assert.equal(await codeOf(gate.execute(actionId)), 'ledger_rolled_back', text);
      await gate.close();
      assert.equal(readFileSync(seenFile, 'utf8'), text, 'the gate does not mend it by itself');
    }
    writeFileSync(seenFile, 'null');
    const gate = (await world.another()) as CountersignGate;
    const issued = await restoreAct(gate);
    await gate.submit(signed(issued.request));
    assert.equal(gate.services.launchBarrier(), undefined);
    assert.equal((await gate.show(actionId)).state, 'unknown');
    assert.equal(world.connector.calls.length, 0);
    await world.close();
  });

  it('is accepted as what it is: not by what whoever asks says of it', async () => {
    verifies('app.restore.shown');
    const { world, copy } = await withOlderCopy();
    putBack(world, copy);
    const gate = (await world.another()) as CountersignGate;
    const head = await gate.ledger.head();
    const here = { sequence: head.sequence, log_hash: head.logHash };
    const lie = { kind: 'restore', ...here, remembered: { epoch: 0, ...here } } as const;
    const { summary } = await gate.requestAct(lie);
    assert.ok(!summary.includes(`this gate remembers: ${here.sequence} ${here.log_hash}`));
    const far = { ...lie, sequence: head.sequence + 100 };
    assert.equal(await codeOf(gate.requestAct(far)), 'ledger_rolled_back');
    assert.equal(await codeOf(gate.requestAct({ ...lie, log_hash: `sha256:${'0'.repeat(64)}` })), 'ledger_rolled_back');
    await world.close();
  });

  it('voids the requests that were open before, by their epoch', async () => {
    verifies('authority.receipt.epoch');
    const world = await homeWorld();
    const actionId = await proposed(world);
    const before = await world.gate.request(actionId);
    const act = await world.gate.requestAct(addKeyAct(BOB));
    const issued = await restoreAct(world.gate as CountersignGate);
    await world.gate.submit(signed(issued.request));
    assert.equal(await codeOf(world.gate.submit(signed(act.request))), 'audience');
    assert.equal(await codeOf(world.gate.approve(actionId, signed(before.request))), 'decision_required');
    await carriedOut(world, addKeyAct(BOB));
    await world.close();
  });
});

describe('a backup', () => {
  it('is a whole store: it is verified, refuses to replace anything, and is put back only for its own ledger', () =>
    inFolder(async (root) => {
      verifies('app.backup');
      const { world, copy } = await withOlderCopy();
      const home = homeAt(world.folder, {});
      assert.equal(await codeOf(placeBackup(home, join(root, 'nothing'), 1)), 'not_found');
      const other = await homeWorld();
      await other.gate.close();
      assert.equal(await codeOf(placeBackup(homeAt(other.folder, {}), copy, 2)), 'audience');
      const { kept } = await placeBackup(home, copy, 3);
      assert.ok(kept !== undefined && existsSync(kept));
      const gate = (await world.another()) as CountersignGate;
      assert.equal(await codeOf(backupTo(gate, copy)), 'invalid');
      assert.equal(gate.services.launchBarrier()?.code, 'ledger_rolled_back');
      await gate.close();
      const bytes = readFileSync(copy);
      bytes.write('XXXX', Math.floor(bytes.length / 2));
      writeFileSync(join(root, 'broken.sqlite'), bytes);
      writeFileSync(join(root, 'none.sqlite'), 'no database');
      for (const name of ['broken', 'none']) {
        const code = await codeOf(placeBackup(home, join(root, `${name}.sqlite`), 4)).catch(() => 'placed');
        assert.match(code, /^(corrupt|store|invalid|placed)$/, name);
      }
      await other.close();
      await world.close();
    }));
});

describe('a gate that is closed', () => {
  it('says so, and its ledger is closed even where its memory can not be written', async () => {
    verifies('app.gate.close');
    const world = await homeWorld();
    const actionId = await approved(world);
    await approve(world, await proposed(world, { args: { text: 'b' } }));
    writeFileSync(homeAt(world.folder, {}).seenFile, 'damaged meanwhile');
    await world.gate.close().catch(() => undefined);
    assert.equal(await codeOf(world.gate.execute(actionId)), 'store');
    await world.close();
  });
});
