/**
 * The plans of the gate's statements, whatever the statistics say: each goes by a key, and never reads a table or an
 * index from end to end.
 * Source: docs/decisions/0006.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LEDGER_ID } from '../../../test/support/ledger-world.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { onDatabase } from '../../../test/support/postgres-server.js';
import { verifies } from '../../../test/support/verifies.js';
import { Connection } from './connection.js';
import { migratePostgres } from './migrate.js';
import { STATEMENTS } from './statements.js';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Cond'?: string;
  readonly 'Join Filter'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Plan[];
}

function indexesOf(plan: Plan): readonly string[] {
  const own = plan['Index Name'] === undefined ? [] : [plan['Index Name']];
  return [...own, ...(plan.Plans ?? []).flatMap(indexesOf)];
}

/** What of a plan reads more than it was asked for. */
function readsTooMuch(plan: Plan, above = ''): readonly string[] {
  const type = plan['Node Type'];
  const where = plan['Index Name'] ?? plan['Relation Name'] ?? '';
  const isWhole = type.startsWith('Index') && plan['Index Cond'] === undefined && above !== 'Limit';
  const own = isWhole || type === 'Seq Scan' || plan['Join Filter'] !== undefined ? [`${type} ${where}`] : [];
  return [...own, ...(plan.Plans ?? []).flatMap((one) => readsTooMuch(one, type))];
}

const FEW = `
  INSERT INTO countersign.records SELECT 'action', 'act_' || n, 0, 'h', 0, 1, NULL, 'p', 'open', 'a', n, 'k' || n
    FROM generate_series(1, 3) AS n;`;

/** Tables in which everything is over: nothing is open, waits or is looked for, and much of every index is dead. */
const CLOSED = `
  INSERT INTO countersign.records SELECT 'action', 'act_' || n, 0, 'h', 0, 1, NULL, 'p', 'open', 'a', n, 'k' || n
    FROM generate_series(1, 2000) AS n;
  UPDATE countersign.records SET due = NULL, lookup = NULL, status = 'confirmed';
  INSERT INTO countersign.events SELECT 'action', 'act_' || n, 0, 't', 0, 'a', '{}', '[]', NULL, 'h'
    FROM generate_series(1, 2000) AS n;`;

describe('plans', () => {
  for (const [state, filled] of [
    ['nothing', ''],
    ['a few rows', FEW],
    ['what is over alone', CLOSED],
  ] as const) {
    it(`go by keys where the statistics know ${state}`, async () => {
      verifies('postgres.plans');
      const { url, drop } = await testDatabase();
      await migratePostgres(url, LEDGER_ID);
      await onDatabase(
        url,
        `${filled} ANALYZE countersign.records; ANALYZE countersign.events; ANALYZE countersign.log`,
      );
      const connection = await Connection.open(url);
      const found: string[] = [];
      for (const { name, text } of Object.values(STATEMENTS)) {
        if (!/^(SELECT|WITH|INSERT|DELETE)/.test(text)) continue;
        const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
        await connection.script(`PREPARE planned_${name} AS ${text}`);
        const nothing = Array.from({ length: parameters }, () => 'NULL').join(', ');
        const values = parameters === 0 ? '' : `(${nothing})`;
        const explain = `EXPLAIN (FORMAT JSON) EXECUTE planned_${name}${values}`;
        const rows = await connection.ask({ name: `explain ${name}`, text: explain });
        const [[[{ Plan: plan }]]] = rows as unknown as [[[{ Plan: Plan }]]];
        // Every other index of records begins with the kind, and would be read for all of its records.
        if (name === 'lookups') assert.deepEqual(indexesOf(plan), ['records_lookup']);
        found.push(...readsTooMuch(plan).map((what) => `${name}: ${what}`));
      }
      await connection.end();
      await drop();
      assert.deepEqual(found, []);
    });
  }
});
