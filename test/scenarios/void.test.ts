/** What nothing follows from any more: asked in vain, of an earlier epoch, or begun and never finished. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  auditLedger,
  backupTo,
  type CountersignGate,
  homeAt,
  initialize,
  listTokens,
  open,
  placeBackup,
} from '../../src/app/index.js';
import { requestToken, rotateToken } from '../../src/app/internal.js';
import type { Act } from '../../src/approvals/index.js';
import {
  ALICE,
  addKeyAct,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  homeWorld,
  memoryWorld,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { opened } from '../support/grants.js';
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

describe('an init that was killed', () => {
  it('is begun again by the next one', { timeout: 120_000 }, async () => {
    verifies('app.init.interrupted');
    const root = mkdtempSync(join(tmpdir(), 'countersign-killed-'));
    const script = `import { homeAt, initialize } from './src/app/index.js';
      console.log('ready');
      await initialize(homeAt(process.argv[1], {}), { trust: ${JSON.stringify(TRUST)} });`;
    const seen = new Set<string>();
    for (let at = 0; at < 8; at += 1) {
      const home = homeAt(join(root, `home${at}`), {});
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, home.folder], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      // Each time a little later: before anything stands, with the keys, with a blank store, behind the end.
      const file = [home.folder, home.trustFile, home.threadKey, home.store][at % 4] as string;
      while (!existsSync(file) && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
      child.kill('SIGKILL');
      await once(child, 'exit');
      seen.add(existsSync(home.folder) ? readdirSync(home.folder).sort().join(' ') : '');
      const code = await codeOf(initialize(home, { trust: TRUST })).catch(() => 'made');
      assert.ok(code === 'made' || (code === 'already_initialized' && existsSync(home.seenFile)), `${at}: ${code}`);
      assert.ok(!existsSync(home.unfinishedFile) || existsSync(home.seenFile));
      const gate = await open({ home: home.folder });
      assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
      await gate.close();
    }
    assert.ok(seen.size > 1, [...seen].join(', '));
    rmSync(root, { recursive: true, force: true });
  });

  it('touches nothing that it did not make itself', async () => {
    verifies('app.init.interrupted');
    const root = mkdtempSync(join(tmpdir(), 'countersign-killed-'));
    const home = homeAt(root, {});
    writeFileSync(home.trustFile, 'of somebody else', { mode: 0o600 });
    writeFileSync(home.unfinishedFile, `${home.store}\n/etc/passwd`, { mode: 0o600 });
    assert.equal(await codeOf(initialize(home, { trust: TRUST })), 'already_initialized');
    assert.ok(existsSync(home.trustFile) && existsSync('/etc/passwd'));
    rmSync(root, { recursive: true, force: true });
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
