/**
 * A gate that is killed between a delivery and its mark: another one delivers the same message again, under the same id, and
 * of two others one alone does.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { auditLedger, open } from '../../src/app/index.js';
import { bundleGateChild, childHome } from '../support/gate-processes.js';
import { notifying } from '../support/notify-world.js';
import { HOOK_SECRET, httpReceiver, verified } from '../support/receivers.js';
import { verifies } from '../support/verifies.js';

const LEASE_MS = '600';

async function until(isSo: () => boolean, ms: number): Promise<void> {
  for (let waited = 0; !isSo() && waited < ms; waited += 20) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(isSo(), `not within ${ms} ms`);
}

it('what a killed process delivered and did not mark is delivered again, with the same id, by one of two', {
  timeout: 60_000,
}, async () => {
  verifies('notifications.at-least-once');
  verifies('notifications.once');
  const secrets = mkdtempSync(join(tmpdir(), 'countersign-secret-'));
  writeFileSync(join(secrets, 'hook'), `${HOOK_SECRET}\n`, { mode: 0o600 });
  const hook = await httpReceiver();
  const secret = `file:${join(secrets, 'hook')}`;
  const part = `channels: { app: { type: webhook, url: '${hook.url}/x', secret: '${secret}', private_network: true } }`;
  const { folder, remove } = await childHome(undefined, notifying(part));
  const children = await bundleGateChild();

  hook.script = ['hang'];
  const first = children.start(folder, 'notify', 'one', LEASE_MS);
  await until(() => hook.all.length === 1, 20_000);
  first.process.kill('SIGKILL');
  assert.equal(await first.ended, 'SIGKILL');

  const others = ['', ''].map((name) => children.start(folder, 'notify', name, LEASE_MS));
  await until(() => hook.accepted.length === 1, 20_000);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  assert.equal(hook.all.length, 2, 'the one of the killed process, and the one of its successor');
  assert.equal(new Set(hook.all.map(({ headers }) => headers['webhook-id'])).size, 1);
  assert.equal((verified(hook.accepted[0] as never)['data'] as { state: string }).state, 'confirmed');
  for (const child of others) child.go();
  assert.deepEqual(await Promise.all(others.map(({ ended }) => ended)), ['0', '0']);

  const gate = await open({ home: join(folder, 'home') });
  const [entry] = await gate.ledger.outbox.list(['delivered'], 10);
  assert.equal(entry?.tries, 2);
  assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
  await gate.close();
  await hook.close();
  children.remove();
  remove();
  rmSync(secrets, { recursive: true });
});
