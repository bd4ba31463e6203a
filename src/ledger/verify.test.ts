/**
 * `verify` on a real file: whatever is changed in it behind the ledger's back is found and named.
 * Source: spec ledger (verify); reliability T30.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { bundleChild } from '../../test/support/ledger-processes.js';
import { type Script, writeHistory } from '../../test/support/ledger-script.js';
import { addWork, anyRandom, HandClock, LEDGER_ID, TEST_KINDS } from '../../test/support/ledger-world.js';
import { copyFile, type FreshFile, freshFile, tamper } from '../../test/support/sqlite-file.js';
import { verifies } from '../../test/support/verifies.js';
import { isOurs } from '../core/index.js';
import type { LogHead, VerifyReport } from './ledger.js';
import { LocalLedger } from './local-ledger.js';
import { SqliteStore } from './sqlite/sqlite-store.js';

const PLACE = /^(?:[\s\S]+\/[\s\S]*|log)#-?\d+$/;
const TABLES = ['events', 'records', 'claims', 'payloads', 'meta'] as const;
const KEYS = {
  events: ['sequence'],
  records: ['kind', 'id'],
  claims: ['scope', 'principal', 'key'],
  payloads: ['sequence', 'address'],
  meta: ['name'],
} as const;

type Row = Record<string, Buffer | bigint | null>;

/** Every row, its text as bytes. */
function rowsOf(database: Database.Database, table: string): Row[] {
  const columns = database.prepare(`SELECT name, type FROM pragma_table_info('${table}')`).all() as {
    name: string;
    type: string;
  }[];
  const list = columns
    .map(({ name, type }) => (type === 'TEXT' ? `CAST(${name} AS BLOB) AS ${name}` : name))
    .join(', ');
  return database.prepare(`SELECT ${list} FROM ${table}`).safeIntegers().all() as Row[];
}

/** Other values for a field: one byte flipped, or a number that is a little and one that is hugely another. */
function flips(value: Buffer | bigint | null): (Buffer | bigint)[] {
  if (value === null) return [Buffer.from('7')];
  if (typeof value === 'bigint') return [value ^ 1n, value + (1n << 56n), -value - 1n];
  if (value.length === 0) return [Buffer.from('x')];
  return [0x01, 0x80].map((bit, i) => {
    const copy = Buffer.from(value);
    const at = i === 0 ? copy.length >> 1 : copy.length - 1;
    copy[at] = (copy[at] as number) ^ bit;
    return copy;
  });
}

describe('verify', () => {
  let file: FreshFile;
  let head: LogHead;
  let untouched: VerifyReport;

  const openAt = (path: string) =>
    new LocalLedger({ store: new SqliteStore(path), kinds: TEST_KINDS, clock: new HandClock(), random: anyRandom });

  /** What opening and verifying says of a file: a report, or the code that opening or verifying is refused with. */
  async function inspect(path: string, expected: LogHead | undefined = head): Promise<VerifyReport | string> {
    let ledger: LocalLedger | undefined;
    try {
      ledger = openAt(path);
      return await ledger.verify(expected);
    } catch (error) {
      assert.ok(isOurs(error), `a native error: ${String(error)}`);
      return error.code;
    } finally {
      await ledger?.close();
    }
  }

  /** Changes a copy and demands that a record is named, or that the copy is refused. */
  async function found(
    change: (database: Database.Database) => unknown,
    expected?: LogHead,
  ): Promise<VerifyReport | string> {
    const copy = `${file.path}.copy`;
    copyFile(file.path, copy);
    tamper(copy, change);
    const result = await inspect(copy, expected);
    if (typeof result !== 'string') assert.ok(result.defects.length > 0, 'nothing was found');
    return result;
  }

  /** Writes a store of its own by a script: a forgery in which every hash is right. */
  async function forged(script: Script): Promise<FreshFile> {
    const made = freshFile();
    await writeHistory(new SqliteStore(made.path, LEDGER_ID), script);
    return made;
  }

  before(async () => {
    file = await forged({});
    const ledger = openAt(file.path);
    head = await ledger.head();
    untouched = await ledger.verify(head);
    await ledger.close();
  });
  after(() => file.remove());

  it('finds nothing in a store that nobody touched', () => {
    verifies('ledger.verify.history');
    assert.deepEqual(untouched.defects, []);
    assert.ok(untouched.events >= 60 && untouched.payloads >= 5, JSON.stringify(untouched));
    assert.deepEqual(untouched.head, head);
  });

  for (const table of TABLES) {
    it(`finds one byte flipped in any field of ${table}`, async () => {
      verifies('ledger.verify.every-field');
      const copy = `${file.path}.${table}`;
      copyFile(file.path, copy);
      const database = new Database(copy);
      database.exec(
        'PRAGMA synchronous = OFF; DROP TRIGGER events_keep; DROP TRIGGER events_stay; DROP TRIGGER events_follow',
      );
      let flipped = 0;
      const keys = KEYS[table];
      let ledger = table === 'meta' ? undefined : openAt(copy);
      for (const row of rowsOf(database, table)) {
        for (const [column, value] of Object.entries(row)) {
          for (const other of flips(value)) {
            const isText = column !== 'bytes' && typeof other !== 'bigint' && !['due'].includes(column);
            const set = (to: unknown, from: Row) => {
              const where = keys.map((key) =>
                typeof from[key] === 'bigint' ? `${key} = ?` : `${key} = CAST(? AS TEXT)`,
              );
              const place =
                isText && to !== null
                  ? 'CAST(? AS TEXT)'
                  : column === 'due' && to !== null
                    ? 'CAST(? AS INTEGER)'
                    : '?';
              const text = `UPDATE ${table} SET ${column} = ${place} WHERE ${where.join(' AND ')}`;
              assert.equal(database.prepare(text).run(to, ...keys.map((key) => from[key])).changes, 1);
            };
            try {
              set(other, row);
            } catch (error) {
              // Another row stands at that key already, so that this flip can not be stored.
              assert.match(String((error as { code?: string }).code), /CONSTRAINT/);
              continue;
            }
            flipped += 1;
            const what = `${table}.${column} of ${keys.map((key) => String(row[key])).join(' ')}`;
            if (ledger === undefined) {
              const result = await inspect(copy);
              assert.ok(typeof result === 'string' || result.defects.some(({ where }) => PLACE.test(where)), what);
            } else {
              const { defects } = await ledger.verify(head);
              assert.ok(
                defects.some(({ where }) => PLACE.test(where)),
                `${what}: ${JSON.stringify(defects)}`,
              );
            }
            set(value, {
              ...row,
              [column]: typeof other === 'bigint' && column !== 'due' ? other : (other as Buffer),
            } as Row);
          }
        }
      }
      ledger ??= openAt(copy);
      // The triggers are gone, and everything else is as it was.
      assert.deepEqual(
        (await ledger.verify(head)).defects.map(({ where }) => where),
        Array(3).fill('store'),
      );
      await ledger.close();
      database.close();
      assert.ok(flipped >= (table === 'meta' ? 4 : 20), `${flipped} flips`);
    });
  }

  it('finds a row that was deleted from any table, and counts the bytes of a payload that are gone', async () => {
    verifies('ledger.verify.history');
    for (const table of ['events', 'records', 'claims'] as const) {
      const count = tamper(file.path, (database) =>
        database.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
      ) as number;
      for (let row = 0; row < count; row += table === 'events' ? 5 : 1) {
        const keys = KEYS[table].join(', ');
        const report = await found((database) =>
          database.exec(`DELETE FROM ${table} WHERE (${keys}) = (SELECT ${keys} FROM ${table} LIMIT 1 OFFSET ${row})`),
        );
        assert.ok(
          typeof report !== 'string' &&
            report.defects.some(({ where }) => PLACE.test(where) || where.startsWith('log#')),
        );
      }
    }
    const copy = `${file.path}.copy`;
    copyFile(file.path, copy);
    tamper(copy, (database) =>
      database.exec('DELETE FROM payloads WHERE sequence = (SELECT min(sequence) FROM payloads)'),
    );
    assert.equal(((await inspect(copy)) as VerifyReport).erased, untouched.erased + 1);
  });

  it('finds rows that were added', async () => {
    verifies('ledger.verify.history');
    const columns = 'type, at, actor, data, payloads, prev, hash, log_hash';
    const additions = [
      `INSERT INTO events SELECT 1000, kind, id, 1000, ${columns} FROM events WHERE sequence = 3`,
      `INSERT INTO events SELECT -5, kind, 'stray', 0, ${columns} FROM events WHERE sequence = 1`,
      `INSERT INTO events SELECT 9007199254740993, kind, 'stray', 0, ${columns} FROM events WHERE sequence = 1`,
      "INSERT INTO records SELECT kind, 'stray', revision, head, head_at, version, document, project, status, principal, due, lookup FROM records LIMIT 1",
      "INSERT INTO claims SELECT scope, principal, 'stray', command, kind, id, revision FROM claims LIMIT 1",
      "INSERT INTO claims SELECT scope, principal, 'stray', command, kind, 'nobody', revision FROM claims LIMIT 1",
      'INSERT INTO payloads SELECT sequence + 1, address, bytes FROM payloads LIMIT 1',
    ];
    for (const statement of additions) await found((database) => database.exec(statement));
  });

  it('finds entries of the log that changed places', async () => {
    verifies('ledger.verify.history');
    for (const [a, b] of [
      [1, 2],
      [7, 40],
      [50, 51],
    ]) {
      await found((database) => {
        database.exec(`UPDATE events SET sequence = -1 WHERE sequence = ${a}`);
        database.exec(`UPDATE events SET sequence = ${a} WHERE sequence = ${b}`);
        database.exec(`UPDATE events SET sequence = ${b} WHERE sequence = -1`);
      });
    }
  });

  it('finds a tail that was cut, and a log that is gone, by the remembered head', async () => {
    verifies('ledger.verify.remembered-head');
    for (const cut of [1, 2, 10]) {
      const made = await forged({ stopAfter: 30 - cut });
      assert.deepEqual(((await inspect(made.path, { sequence: 0, logHash: '' })) as VerifyReport).defects, []);
      const report = (await inspect(made.path)) as VerifyReport;
      assert.deepEqual(
        report.defects.map(({ where }) => where),
        [`log#${head.sequence}`],
      );
      made.remove();
    }
    const report = await found((database) =>
      database.exec('DELETE FROM events; DELETE FROM records; DELETE FROM claims; DELETE FROM payloads'),
    );
    assert.deepEqual(
      (report as VerifyReport).defects.map(({ where }) => where),
      [`log#${head.sequence}`],
    );
  });

  it('finds a whole history that was written anew with every hash right, by the remembered head', async () => {
    verifies('ledger.verify.remembered-head');
    const scripts: Script[] = [
      { without: 'plain' },
      { actor: 'agent:other' },
      { swapFirst: true },
      { more: 3, without: 'plain' },
    ];
    for (const script of scripts) {
      const made = await forged(script);
      const alone = (await inspect(made.path, { sequence: 0, logHash: '' })) as VerifyReport;
      assert.deepEqual(alone.defects, [], JSON.stringify(script));
      const report = (await inspect(made.path)) as VerifyReport;
      assert.ok(
        report.defects.some(({ where }) => where === `log#${head.sequence}`),
        JSON.stringify(script),
      );
      made.remove();
    }
  });

  it('finds tables, indexes and triggers that are not ours', async () => {
    verifies('ledger.verify.schema');
    const changes = [
      'DROP TRIGGER events_stay',
      'DROP INDEX records_lookup',
      'CREATE TRIGGER quiet AFTER INSERT ON claims BEGIN DELETE FROM claims; END',
      'CREATE TABLE extra (a)',
    ];
    for (const change of changes) {
      const copy = `${file.path}.copy`;
      copyFile(file.path, copy);
      const database = new Database(copy);
      database.exec(change);
      database.close();
      assert.deepEqual(
        ((await inspect(copy)) as VerifyReport).defects.map(({ where }) => where),
        ['store'],
        change,
      );
    }
  });

  it('answers with a code, whatever bytes of the file are others', async () => {
    verifies('ledger.verify.every-field');
    const { readFileSync, writeFileSync } = await import('node:fs');
    const whole = tamper(file.path, (database) => {
      database.pragma('wal_checkpoint(TRUNCATE)');
      return readFileSync(file.path);
    });
    const copy = `${file.path}.bytes`;
    for (let at = 0; at < whole.length; at += 997) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] as number) ^ 0xff;
      copyFile(file.path, copy);
      writeFileSync(copy, bytes);
      await inspect(copy);
    }
  });

  it('keeps memory flat: 50,000 events of 1 KiB in a heap that could not hold them', async () => {
    verifies('ledger.verify.memory');
    const made = freshFile();
    const store = new SqliteStore(made.path, LEDGER_ID);
    const ledger = new LocalLedger({ store, kinds: TEST_KINDS, clock: new HandClock(), random: anyRandom });
    const label = 'x'.repeat(1_000);
    for (let batch = 0; batch < 50; batch += 1) {
      const works = Array.from({ length: 1_000 }, (_, i) => addWork(`r${batch}-${i % 500}`, {}, { by: 1, label }));
      await Promise.all(works.map((work) => ledger.commit(work)));
    }
    await ledger.close();
    const children = await bundleChild();
    const child = children.start(made.path, 'verify', '', 0, ['--max-old-space-size=24']);
    await child.ended;
    assert.deepEqual(child.lines.at(-1), { events: 50_000, defects: 0 });
    children.remove();
    made.remove();
  });
});
