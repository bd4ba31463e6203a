/**
 * Four processes with 500 launches each, and a budget that has room for 300: exactly 300 run.
 * Source: reliability T13 (budget double-spend).
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { auditLedger, homeAt, initialize, open } from '../../src/app/index.js';
import { budgetKind } from '../../src/policy/index.js';
import { ROOT } from '../support/files.js';
import { TRUST } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const ROOM = 300;
const POLICY = `policy:
  allow_unattended_irreversible: true
  rules:
    - title: pay
      decide: allow
      match: { connector: counting }
      budget: 3 EUR/month
      over: deny
`;

test('4 processes × 500 launches race a budget of 300: exactly 300 run', async () => {
  verifies('policy.budget.race');
  const folder = mkdtempSync(join(tmpdir(), 'countersign-budget-'));
  const home = homeAt(join(folder, 'home'), {});
  await initialize(home, { trust: TRUST + POLICY, demo: true });
  const child = (name: string) => {
    const words = ['--import', 'tsx', join(ROOT, 'test/support/budget-child.ts'), home.folder, '500', name];
    const started = spawn(process.execPath, words, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] });
    return { started, lines: createInterface({ input: started.stdout })[Symbol.asyncIterator]() };
  };
  const children = ['a', 'b', 'c', 'd'].map(child);
  for (const { lines } of children) assert.equal((await lines.next()).value, 'ready');
  for (const { started } of children) started.stdin.write('go\n');
  const told = await Promise.all(
    children.map(async ({ started, lines }) => {
      const { value } = await lines.next();
      if (started.exitCode === null) await once(started, 'exit');
      return JSON.parse(value ?? '{}') as Record<string, number>;
    }),
  );
  const sum = (code: string) => told.reduce((total, codes) => total + (codes[code] ?? 0), 0);
  assert.deepEqual([sum('ran'), sum('policy_denied')], [ROOM, 4 * 500 - ROOM], JSON.stringify(told));
  const effects = readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n');
  assert.deepEqual([effects.length, new Set(effects).size], [ROOM, ROOM]);
  const gate = await open({ home: home.folder });
  const { rows } = await gate.ledger.list({ kind: 'budget' });
  assert.equal(rows.length, 1);
  const state = (await gate.ledger.readVerified(budgetKind, rows[0]?.id ?? ''))?.state;
  assert.deepEqual([state?.reserved, state?.spent], [0, ROOM]);
  assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
  await gate.close();
  rmSync(folder, { recursive: true, force: true });
});
