/**
 * Puts a whole ledger into a database that holds none: schema, rows and their verification in one transaction, so that
 * a copy which differs, fails or is cut off anywhere leaves the database as empty as it was.
 *
 * Rows travel in portions that are bounded by their number and their bytes.
 */
import { LIMITS, Refusal } from '../../core/index.js';
import type { TakenClaim } from '../batch.js';
import type { Item, Items } from '../copy.js';
import type { Kinds } from '../kind.js';
import type { RecordRow } from '../store.js';
import { bigintArray, booleanArray, textArray } from './arrays.js';
import type { Connection, Statement, Value } from './connection.js';
import { ledgerIdOf, makeLedger } from './migrate.js';
import { LONG, onServer, type SeenLedger, seenOn } from './seen-ledger.js';
import { STATEMENTS } from './statements.js';
import { claimValues, eventValues, payloadValues, placesOf, recordValues } from './transaction.js';

/**
 * Copies, and lets `check` look at the copy before it becomes durable: what that throws undoes everything. Refuses
 * `already_initialized`, `forbidden`; faults `store`.
 */
export async function importLedger(
  url: string,
  ledger: { readonly ledgerId: string; readonly kinds: Kinds; readonly items: Items },
  check: (copy: SeenLedger) => Promise<void>,
): Promise<void> {
  await onServer(url, async (connection) => {
    await connection.script(`BEGIN; ${LONG}`);
    await makeLedger(connection, ledger.ledgerId);
    const writer = new Writer(connection);
    for await (const item of ledger.items) await writer.add(item);
    await writer.flush();
    await check(seenOn(connection, ledger.ledgerId, ledger.kinds));
    const done = await connection.run(STATEMENTS.commit);
    if (done !== 'COMMIT') throw new Refusal('busy', 'the server rolled the copy back');
  });
}

/** Lets `check` look at the ledger that a database holds, at one moment. Refuses `not_initialized`, `invalid`. */
export async function inspectLedger(
  url: string,
  kinds: Kinds,
  check: (copy: SeenLedger) => Promise<void>,
): Promise<void> {
  await onServer(url, async (connection) => {
    const ledgerId = await ledgerIdOf(connection);
    await connection.script(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${LONG}`);
    await check(seenOn(connection, ledgerId, kinds));
  });
}

/** Rows that wait for their portion to be full. */
class Writer {
  readonly #connection: Connection;
  #events: Extract<Item, { is: 'event' }>[] = [];
  #records: RecordRow[] = [];
  #claims: TakenClaim[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async add(item: Item): Promise<void> {
    this.#rows += 1;
    if (item.is === 'record') this.#records.push(item.row);
    else if (item.is === 'claim') this.#claims.push(item.claim);
    else {
      this.#events.push(item);
      this.#bytes += item.payloads.reduce((sum, { bytes }) => sum + bytes.length, item.row.dataText.length);
    }
    if (this.#rows >= LIMITS.copyRowsMax || this.#bytes >= LIMITS.copyBytesMax) await this.flush();
  }

  async flush(): Promise<void> {
    const rows = this.#events.map(({ row }) => row);
    const payloads = this.#events.flatMap(({ row: { record, revision }, payloads }) =>
      payloads.map(({ address, bytes }) => ({ record, revision, ref: address, bytes })),
    );
    const asked: [Statement, Value[]][] = [];
    if (rows.length > 0) asked.push([STATEMENTS.writeEvents, [...eventValues(rows), none(rows)]]);
    if (rows.length > 0) asked.push([STATEMENTS.copyLog, logValues(this.#events)]);
    if (payloads.length > 0) asked.push([STATEMENTS.writePayloads, [...payloadValues(payloads), none(payloads)]]);
    if (this.#records.length > 0)
      asked.push([STATEMENTS.writeRecords, [...recordValues(this.#records), none(this.#records)]]);
    if (this.#claims.length > 0) asked.push([STATEMENTS.writeClaims, claimValues(this.#claims)]);
    for (const [statement, values] of asked) await this.#connection.ask(statement, values);
    this.#events = [];
    this.#records = [];
    this.#claims = [];
    this.#rows = 0;
    this.#bytes = 0;
  }
}

/** None of these rows follows from others. */
function none(rows: readonly unknown[]): Buffer {
  return booleanArray(rows.map(() => false));
}

function logValues(events: readonly Extract<Item, { is: 'event' }>[]): Value[] {
  return [
    bigintArray(events.map(({ row }) => row.sequence)),
    ...placesOf({ events: events.map(({ row }) => row) }),
    textArray(events.map(({ row }) => row.logHash)),
  ];
}
