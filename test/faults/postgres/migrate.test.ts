/**
 * A ledger moved from the file of its home to a database and back: whole or not at all, by itself, never in two places.
 * Source: spec ledger (backends), authority (identity of the ledger).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import {
  auditLedger,
  type CountersignGate,
  confirmationCode,
  type Home,
  homeAt,
  initialize,
  open,
} from '../../../src/app/index.js';
import { bootstrapApprover, EMBEDDED, migrateSchema, migrateTo } from '../../../src/app/internal.js';
import { runProgram } from '../../../src/cli/program.js';
import { Refusal } from '../../../src/core/index.js';
import { MIGRATIONS } from '../../../src/ledger/postgres/schema.js';
import { rejectsWith } from '../../contracts/ledger.js';
import { CountingConnector } from '../../support/counting-connector.js';
import { ALICE, sending, signed, TRUST } from '../../support/gate-world.js';
import { testDatabase } from '../../support/postgres.js';
import { onDatabase } from '../../support/postgres-server.js';
import { verifies } from '../../support/verifies.js';

interface World {
  readonly home: Home;
  readonly url: string;
  readonly connector: CountingConnector;
  open(folder?: string): Promise<CountersignGate>;
  /** Moves the ledger of the home. */
  to(where: string, failpoint?: (name: string) => void): ReturnType<typeof migrateTo>;
  /** All that a store holds, in one value. */
  log(): Promise<string>;
  /** What was approved before the first move, and not launched. */
  readonly approved: string;
}

/** A home with actions in several states, some hundred events, and one payload that was erased. */
async function withLedger(check: (world: World) => Promise<void>): Promise<void> {
  const { url, drop } = await testDatabase();
  const root = mkdtempSync(join(tmpdir(), 'countersign-migrate-'));
  const home = homeAt(join(root, 'home'), {});
  const connector = new CountingConnector();
  const opened: CountersignGate[] = [];
  const openGate = async (folder = home.folder) => {
    const gate = await open({ home: folder, connectors: [connector] });
    opened.push(gate);
    return gate;
  };
  try {
    const { ledgerId } = await initialize(home, { trust: TRUST, demo: true });
    const gate = await openGate();
    const code = confirmationCode(ledgerId, ALICE.key.publicKey);
    await bootstrapApprover(gate.ledger, ledgerId, ALICE.keyText, code, 'demo');
    const approved = await fill(gate);
    await gate.close();
    erase(home, approved);
    const log = async () => {
      const one = await openGate();
      const report = await auditLedger(one.ledger);
      await one.close();
      return JSON.stringify(report);
    };
    const to = (where: string, failpoint: (name: string) => void = () => undefined) =>
      migrateTo(home, where, { now: 1, failpoint });
    await check({ home, url, connector, open: openGate, to, log, approved });
  } finally {
    for (const gate of opened) await gate.close().catch(() => undefined);
    await drop();
    rmSync(root, { recursive: true, force: true });
  }
}

async function fill(gate: CountersignGate): Promise<string> {
  const ask = async (target: string, text = 'x') => {
    const { action_id } = await gate.propose(sending({ target, args: { text } }));
    return action_id;
  };
  const approve = async (id: string) => {
    await gate.approve(id, signed((await gate.request(id)).request));
    return id;
  };
  const ids = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(`customer ${i}`)));
  await Promise.all(ids.slice(0, 20).map(approve));
  await Promise.all(ids.slice(0, 10).map((id) => gate.execute(id)));
  await ask('somebody with a long letter', 'ü€\u{1f600}'.repeat(20_000));
  return ids[15] as string;
}

/** Erases one payload, of an action that is not the one that goes on. */
function erase(home: Home, not: string): void {
  const database = new Database(home.store);
  const text = 'DELETE FROM payloads WHERE sequence = (SELECT min(sequence) FROM events WHERE kind = ? AND id <> ?)';
  assert.equal(database.prepare(text).run('action', not).changes, 1);
  database.close();
}

const isEmpty = async (url: string) =>
  (await onDatabase<[boolean]>(url, "SELECT to_regnamespace('countersign') IS NULL"))[0]?.[0] === true;

/** What stands in a home besides its work folder, by name. */
const filesOf = (home: Home) =>
  readdirSync(home.folder)
    .filter((name) => !/-(wal|shm)$/.test(name))
    .sort();

describe('a ledger that is moved', () => {
  it('to a database and back is the same, and what was approved before is launched there', () =>
    withLedger(async ({ home, url, to, log, open, approved, connector }) => {
      verifies('migrate.moves');
      verifies('migrate.memory');
      const before = await log();
      const seen = readFileSync(home.seenFile, 'utf8');
      const { moved } = await to(url);
      assert.ok((moved?.events ?? 0) > 100, `${moved?.events} events`);
      assert.equal(existsSync(home.store), false);
      assert.equal(readFileSync(home.seenFile, 'utf8'), seen);
      assert.equal(statSync(join(home.folder, 'countersign.yaml')).mode & 0o777, 0o600);
      assert.equal(await log(), before);
      const there = await open();
      assert.equal((await there.execute(approved)).state, 'confirmed');
      const { action_id } = await there.propose(sending({ target: 'asked there' }));
      await there.close();
      assert.equal(connector.calls.length, 11);

      const moving = await log();
      await to(EMBEDDED);
      assert.equal(await log(), moving);
      assert.equal(existsSync(join(home.folder, 'countersign.yaml')), false);
      const back = await open();
      await back.approve(action_id, signed((await back.request(action_id)).request));
      assert.equal((await back.execute(action_id)).state, 'confirmed');
      await rejectsWith('state', back.execute(approved));
      await back.close();
    }));

  it('is vouched for by what the gate remembers, and only by that', () =>
    withLedger(async ({ home, url, to, open }) => {
      verifies('migrate.memory');
      const database = new Database(home.store);
      database.pragma('wal_checkpoint(TRUNCATE)');
      database.close();
      const older = join(dirname(home.folder), 'older.sqlite');
      cpSync(home.store, older);
      const gate = await open();
      await gate.propose(sending({ target: 'later' }));
      await gate.close();
      const newer = join(dirname(home.folder), 'newer.sqlite');
      cpSync(home.store, newer);
      cpSync(older, home.store);
      await rejectsWith('corrupt', to(url));
      assert.ok(await isEmpty(url));
      cpSync(newer, home.store);
      await to(url);
      await (await open()).close();
    }));

  it('is taken from no gate that works on it, and given to none meanwhile', () =>
    withLedger(async ({ home, url, to, open, log }) => {
      verifies('migrate.alone');
      const before = await log();
      const gate = await open();
      await rejectsWith('busy', to(url));
      assert.ok(await isEmpty(url));
      await gate.close();
      let meanwhile: Promise<unknown> | undefined;
      await to(url, (name) => {
        if (name === 'migrate.copied')
          meanwhile = open().then(
            () => 'opened',
            (error) => error.code,
          );
      });
      assert.notEqual(await meanwhile, 'opened');
      assert.equal(await log(), before);
      const there = await open();
      await rejectsWith('busy', to(EMBEDDED));
      await there.close();
      assert.ok(!existsSync(home.store));
    }));

  it('is refused to a gate with another home, that still names the store before', () =>
    withLedger(async ({ home, url, to, open }) => {
      verifies('migrate.no-fork');
      await to(url);
      const other = join(dirname(home.folder), 'other');
      cpSync(home.folder, other, { recursive: true });
      await to(EMBEDDED);
      await rejectsWith('invalid', open(other));
      const gate = await open();
      await gate.propose(sending({ target: 'since then' }));
      await gate.close();
      await rejectsWith('already_initialized', to(url));
    }));
});

/** Lets the server change what is written to a table of the copy, as a fault of its disk would. */
async function plant(url: string, table: string, change: string): Promise<void> {
  await onDatabase(
    url,
    `CREATE FUNCTION public.plant() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN ${change} END $f$;
     CREATE FUNCTION public.arm() RETURNS event_trigger LANGUAGE plpgsql AS $f$ BEGIN
       IF to_regclass('countersign.${table}') IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgname = 'plant') THEN
         CREATE TRIGGER plant BEFORE INSERT ON countersign.${table} FOR EACH ROW EXECUTE FUNCTION public.plant();
       END IF; END $f$;
     CREATE EVENT TRIGGER arm ON ddl_command_end EXECUTE FUNCTION public.arm()`,
  );
}

/** Each is a change of one row, of those that the copy writes. */
const PLANTS: readonly (readonly [table: string, condition: string, change: string])[] = [
  ['events', "NEW.type = 'action-confirmed'", "NEW.data = replace(NEW.data, 'a', 'b')"],
  ['events', 'NEW.revision = 0', 'NEW.at = NEW.at + 1'],
  ['log', 'NEW.sequence = 7', "NEW.log_hash = 'sha256:' || repeat('0', 64)"],
  ['records', 'NEW.due IS NOT NULL', 'NEW.due = NEW.due + 1'],
  ['records', "NEW.kind = 'thread'", "NEW.document = replace(NEW.document, '1', '2')"],
  ['claims', 'true', 'RETURN NULL'],
  ['payloads', 'true', "NEW.bytes = NEW.bytes || '\\x00'::bytea"],
  ['payloads', 'length(NEW.bytes) > 10000', 'RETURN NULL'],
];

describe('a copy that differs', () => {
  for (const [table, condition, change] of PLANTS) {
    it(`in a database (${table}: ${change}) is refused, and leaves it empty`, () =>
      withLedger(async ({ home, url, to, log }) => {
        verifies('migrate.refuses-difference');
        const before = [await log(), ...filesOf(home)];
        await plant(url, table, `IF ${condition} THEN ${change}; END IF; RETURN NEW;`);
        await rejectsWith('corrupt', to(url));
        assert.ok(await isEmpty(url));
        assert.deepEqual([await log(), ...filesOf(home)], before);
      }));
  }

  it('in a file is refused, and leaves none', () =>
    withLedger(async ({ home, url, to, log }) => {
      verifies('migrate.refuses-difference');
      await to(url);
      const before = [await log(), ...filesOf(home)];
      for (const statement of [
        'DELETE FROM claims WHERE key = (SELECT min(key) FROM claims)',
        "UPDATE records SET due = due + 1 WHERE kind = 'action'",
        'DELETE FROM payloads WHERE length(bytes) > 10000',
        "UPDATE payloads SET bytes = CAST(bytes || x'00' AS BLOB)",
        "UPDATE records SET document = replace(document, '1', '2') WHERE kind = 'thread'",
      ]) {
        const planted = to(EMBEDDED, (name) => {
          if (name !== 'migrate.copied') return;
          const database = new Database(`${home.store}.incoming`);
          assert.ok(database.prepare(statement).run().changes > 0, statement);
          database.close();
        });
        await rejectsWith('corrupt', planted);
        assert.deepEqual([await log(), ...filesOf(home)], before, statement);
      }
      await to(EMBEDDED);
    }));
});

describe('a migration that is killed', () => {
  const child = fileURLToPath(new URL('../../support/postgres-migrate-child.ts', import.meta.url));
  for (const point of ['migrate.copied', 'migrate.verified', 'migrate.switched'] as const) {
    it(`at ${point} leaves one ledger, and is brought to its end by the same command`, () =>
      withLedger(async ({ home, url, to, log, open, approved, connector }) => {
        verifies('migrate.crash');
        const before = await log();
        const end = async (where: string) => {
          const killed = spawnSync(process.execPath, ['--import', 'tsx', child, home.folder, where, point]);
          assert.equal(killed.signal, 'SIGKILL', String(killed.stderr));
          // Whatever store the home names now is the whole ledger, or is refused until the end of the move.
          const found = await log().catch((error: unknown) => (error as { code: string }).code);
          assert.ok([before, 'invalid'].includes(found), found);
          if (point === 'migrate.copied') assert.equal(found, before);
          if (point !== 'migrate.switched') await to(where);
          else await assert.rejects(to(where), Refusal, 'it stands there already');
          assert.equal(await log(), before);
        };
        await end(url);
        // What a move that was cut off at its last step left beside the ledger is not in its way for long.
        for (const name of readdirSync(home.folder)) if (name.startsWith('ledger.')) rmSync(join(home.folder, name));
        await end(EMBEDDED);
        const gate = await open();
        assert.equal((await gate.execute(approved)).state, 'confirmed');
        assert.equal(connector.calls.length, 11);
        await gate.close();
      }));
  }
});

describe('the schema of a store', () => {
  it('is brought forward by itself, and a newer one is refused', () =>
    withLedger(async ({ home, url, to, open, log }) => {
      verifies('migrate.schema');
      const before = await log();
      const { ledgerId } = await migrateSchema(home);
      await to(url);
      assert.deepEqual(await migrateSchema(home), { ledgerId });
      const put = (value: string) =>
        onDatabase(url, 'UPDATE countersign.meta SET value = $1 WHERE name = $2', [value, 'schema_version']);
      await put('99');
      await rejectsWith('invalid', migrateSchema(home));
      await rejectsWith('invalid', open());
      await put(String(MIGRATIONS.length));
      assert.equal(await log(), before);
    }));

  it('and the move are verbs of the command line', () =>
    withLedger(async ({ home, url, log }) => {
      verifies('migrate.schema');
      const before = await log();
      const run = async (...words: string[]) => {
        let shown = '';
        const out = (text: string) => {
          shown += text;
        };
        const exit = await runProgram(['migrate', ...words, '--home', home.folder], { out, err: () => undefined });
        return { exit, shown };
      };
      assert.equal((await run()).exit, 0);
      const moved = await run('--to', url, '--json');
      assert.equal(moved.exit, 0);
      const { events, kept } = JSON.parse(moved.shown);
      assert.deepEqual([events, existsSync(kept)], [JSON.parse(before).events, true]);
      assert.equal((await run('--to', 'postgres://nobody@localhost/none?host=/no/such/folder')).exit, 70);
      assert.equal((await run('--to', 'no url')).exit, 1);
      assert.equal((await run('--to', EMBEDDED)).exit, 0);
      assert.equal(await log(), before);
    }));
});
