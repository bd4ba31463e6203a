/**
 * A database that another one takes the place of, which is behind, while gates go on working: none launches anything in
 * it, whichever of them did what was lost, and none forgets what it has seen.
 * Source: spec authority (identity of the ledger), ledger (backends).
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type CountersignGate, confirmationCode, type Home, homeAt, initialize, open } from '../../../src/app/index.js';
import { bootstrapApprover } from '../../../src/app/internal.js';
import { isOurs } from '../../../src/core/index.js';
import { CountingConnector } from '../../support/counting-connector.js';
import { ALICE, sending, signed, TRUST } from '../../support/gate-world.js';
import { freshDatabase, onDatabase, PostgresServer } from '../../support/postgres-server.js';
import { verifies } from '../../support/verifies.js';

const codeOf = (work: Promise<{ state: string }>) =>
  work.then(
    ({ state }) => state,
    (error: unknown) => (isOurs(error) ? error.code : String(error)),
  );

async function approvedBy(gate: CountersignGate, target: string): Promise<string> {
  const { action_id } = await gate.propose(sending({ target }));
  const { request } = await gate.request(action_id);
  await gate.approve(action_id, signed(request));
  return action_id;
}

describe('a database that is behind the one it takes the place of', () => {
  it('is gone on in by no gate that saw more, and by none that is opened, until a person accepts it', async () => {
    verifies('postgres.continued');
    verifies('app.seen.running');
    const server = new PostgresServer();
    await server.start();
    const { url } = await freshDatabase(server.url('postgres'));
    const root = mkdtempSync(join(tmpdir(), 'countersign-failover-'));
    const homes = ['one', 'two', 'new'].map((name) => homeAt(join(root, name), {})) as [Home, Home, Home];
    const { ledgerId } = await initialize(homes[0], { trust: TRUST, demo: true, store: url });
    const connector = new CountingConnector();
    const opened = (home: Home) => open({ home: home.folder, connectors: [connector] });
    const one = await opened(homes[0]);
    const code = confirmationCode(ledgerId, ALICE.key.publicKey);
    await bootstrapApprover(one.ledger, ledgerId, ALICE.keyText, code, 'demo');
    cpSync(homes[0].folder, homes[1].folder, { recursive: true });
    const two = await opened(homes[1]);

    const name = new URL(url).pathname.slice(1);
    const run = (text: string) => onDatabase(server.url('postgres'), text);
    const cutOff = async () => {
      await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      for (;;) {
        const left = await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
        if (left.length === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const [first, second, third] = [await approvedBy(one, 'a'), await approvedBy(one, 'b'), await approvedBy(two, 'c')];
    await cutOff();
    await run(`CREATE DATABASE behind TEMPLATE ${name}`);
    await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    assert.equal(await codeOf(one.execute(first)), 'confirmed');
    assert.equal(await codeOf(two.execute(second)), 'confirmed');
    // Each learns what the other did, and writes down what it has seen.
    await Promise.all([one.ledger.head(), two.ledger.head()]);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const seen = homes.slice(0, 2).map(({ seenFile }) => readFileSync(seenFile, 'utf8'));

    await cutOff();
    await run(`ALTER DATABASE ${name} RENAME TO ahead`);
    await run(`ALTER DATABASE behind RENAME TO ${name}`);
    await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    for (const gate of [one, two]) {
      for (const id of [first, second, third]) assert.equal(await codeOf(gate.execute(id)), 'ledger_rolled_back');
      assert.equal(await codeOf(gate.propose(sending({ target: 'd' }))), 'ledger_rolled_back');
    }
    // One that knows nothing of what was lost lets the log grow past where it was.
    cpSync(homes[0].folder, homes[2].folder, { recursive: true });
    const beside = await opened(homes[2]);
    for (let i = 0; i < 6; i += 1) await beside.propose(sending({ target: `e${i}` }));
    assert.equal(await codeOf(beside.execute(third)), 'ledger_rolled_back');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(await codeOf(one.execute(third)), 'ledger_rolled_back');
    await Promise.all([one, two, beside].map((gate) => gate.close()));
    assert.deepEqual(
      homes.slice(0, 2).map(({ seenFile }) => readFileSync(seenFile, 'utf8')),
      seen,
    );
    const again = await opened(homes[1]);
    assert.equal(await codeOf(again.execute(third)), 'ledger_rolled_back');
    await again.close();
    assert.equal(connector.calls.length, 2);
    await server.remove();
    rmSync(root, { recursive: true, force: true });
  });
});
