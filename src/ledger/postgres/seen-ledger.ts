/**
 * A ledger on a server as a whole: its stream and its verification, as a transaction sees them.
 */
import { LIMITS } from '../../core/index.js';
import type { Item, ItemPayload, Items } from '../copy.js';
import type { Kinds } from '../kind.js';
import type { LogHead, VerifyReport } from '../ledger.js';
import type { EventRow } from '../store.js';
import { intArray, textArray } from './arrays.js';
import type { Connection } from './connection.js';
import { serverError } from './errors.js';
import { forbiddenError } from './migrate.js';
import { connectWithin } from './pool.js';
import { CLAIM_COLUMNS, claimOf, eventRowOf, RECORD_COLUMNS, recordRowOf } from './rows.js';
import { STATEMENTS } from './statements.js';
import { placesOf } from './transaction.js';
import { scanRows, verifyWithin } from './verify.js';

/** A ledger as the transaction of a connection sees it. */
export interface SeenLedger {
  readonly ledgerId: string;
  verify(expected?: LogHead): Promise<VerifyReport>;
  items(): Items;
}

/** Work on many rows takes its time, and nobody else waits for it. */
export const LONG = 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0';

/** Runs `act` on a connection of its own, which ends with it, and with it what was not committed. */
export async function onServer<T>(url: string, act: (connection: Connection) => Promise<T>): Promise<T> {
  let connection: Connection | undefined;
  try {
    connection = await connectWithin(url, LIMITS.connectMsMax, () => false, undefined, LIMITS.scanMsMax);
    return await act(connection);
  } catch (error) {
    throw forbiddenError(error) ?? serverError('the ledger could not be copied', error);
  } finally {
    await connection?.end();
  }
}

export function seenOn(connection: Connection, ledgerId: string, kinds: Kinds): SeenLedger {
  return {
    ledgerId,
    verify: (expected) => verifyWithin(connection, { ledgerId, kinds }, expected),
    items: () => itemsOfServer(connection),
  };
}

/** The stream of a database. The connection is in a transaction that sees one moment. */
export async function* itemsOfServer(connection: Connection): AsyncGenerator<Item> {
  for (let after = 0, isMore = true; isMore; ) {
    const rows = (await connection.ask(STATEMENTS.log, [after, LIMITS.pageRowsMax])).map(eventRowOf);
    yield* withPayloads(connection, rows);
    after = rows.at(-1)?.sequence ?? after;
    isMore = rows.length === LIMITS.pageRowsMax;
  }
  const records = `SELECT ${RECORD_COLUMNS} FROM countersign.records r ORDER BY r.kind, r.id`;
  for await (const row of scanRows(connection, 'copy_records', records)) yield { is: 'record', row: recordRowOf(row) };
  const claims = `SELECT ${CLAIM_COLUMNS} FROM countersign.claims c ORDER BY c.scope, c.principal, c.key`;
  for await (const row of scanRows(connection, 'copy_claims', claims)) yield { is: 'claim', claim: claimOf(row) };
}

/** Payloads are fetched in portions that are bounded by their bytes. */
async function* withPayloads(connection: Connection, rows: readonly EventRow[]): AsyncGenerator<Item> {
  const places = rows.flatMap((row, at) => [...row.payloads].sort().map((address) => ({ row, at, address })));
  const values = (wanted: typeof places) => [
    intArray(wanted.map((_, place) => place)),
    ...placesOf({ events: wanted.map(({ row }) => row) }),
    textArray(wanted.map(({ address }) => address)),
  ];
  const found = places.length === 0 ? [] : await connection.ask(STATEMENTS.payloadSizes, values(places));
  const sizes = new Map(found.map((row) => row as unknown as [number, number]));
  let done = 0;
  for (let first = 0; first < places.length; ) {
    const [last, bytes] = portion(places.length, first, sizes);
    const wanted = bytes === 0 ? [] : places.slice(first, last);
    const read = wanted.length === 0 ? [] : await connection.ask(STATEMENTS.payloads, values(wanted));
    const byPlace = new Map(read.map((row) => row as unknown as [number, Buffer]));
    const upTo = last === places.length ? rows.length : (places[last]?.at ?? rows.length);
    const payloads = new Map<number, ItemPayload[]>();
    wanted.forEach(({ at, address }, place) => {
      const one = byPlace.get(place);
      if (one !== undefined) payloads.set(at, [...(payloads.get(at) ?? []), { address, bytes: one }]);
    });
    for (; done < upTo; done += 1) yield eventItem(rows[done] as EventRow, payloads.get(done));
    first = last;
  }
  for (; done < rows.length; done += 1) yield eventItem(rows[done] as EventRow, undefined);

  /** The end of a portion and its bytes; it never parts the payloads of one event. */
  function portion(count: number, first: number, known: ReadonlyMap<number, number>): [number, number] {
    let bytes = 0;
    let last = first;
    while (last < count && (bytes < LIMITS.copyBytesMax || places[last]?.at === places[last - 1]?.at)) {
      bytes += known.get(last) ?? 0;
      last += 1;
    }
    return [last, bytes];
  }
}

function eventItem(row: EventRow, payloads: readonly ItemPayload[] = []): Item {
  return { is: 'event', row, payloads };
}
