/**
 * Reads outside of commits. What is asked in one turn of the loop travels together, so that many callers cost about as
 * much as one; each group sees one moment of the store.
 *
 * A read that meets a lost connection is asked once more on a new one.
 */
import { contentRef, Fault, isOurs, LIMITS } from '../../core/index.js';
import type { StoredState } from '../batch.js';
import { EMPTY_LOG_HASH, eventHash } from '../event.js';
import { type KindName, type LedgerEvent, type RecordRef, recordName } from '../kind.js';
import type { ListQuery, LogEntry, LogHead, LookupRow, Page } from '../ledger.js';
import { pageLimit, pageOf, placeOf } from '../page.js';
import { eventOf, logEntry } from '../store.js';
import { intArray, textArray } from './arrays.js';
import type { Connection, Row, Statement, Value } from './connection.js';
import { isLost, serverError } from './errors.js';
import { corrupt, Fold } from './fold.js';
import { listStatement } from './list.js';
import { connectWithin } from './pool.js';
import { eventRowOf, recordRowOf } from './rows.js';
import { STATEMENTS } from './statements.js';
import type { Found, States } from './states.js';
import { placesOf } from './transaction.js';

interface Group {
  readonly refs: Map<string, RecordRef>;
  found: Promise<Found>;
}

interface WantedPayload {
  readonly ref: RecordRef;
  readonly revision: number;
  readonly address: string;
}

export class Reader {
  readonly #url: string;
  readonly #states: States;
  #connection: Promise<Connection> | undefined;
  #live: Connection | undefined;
  #known: Group | undefined;
  #anew: Group | undefined;
  #payloads: { readonly wanted: WantedPayload[]; readonly found: Promise<ReadonlyMap<number, Buffer>> } | undefined;
  #lookups:
    | { readonly wanted: Map<string, { kind: KindName; key: string }>; readonly found: Promise<Found> }
    | undefined;
  /** The groups that left last. */
  readonly #away = new Map<string, Promise<unknown>>();
  readonly #lists = new Map<string, Promise<Page>>();
  #closed = false;
  #reading = 0;

  constructor(url: string, states: States) {
    this.#url = url;
    this.#states = states;
  }

  /** Whether anything was asked and not answered. */
  get isReading(): boolean {
    return this.#reading > 0;
  }

  async record(ref: RecordRef): Promise<StoredState | undefined> {
    this.#known ??= this.#group(false, () => {
      this.#known = undefined;
    });
    return this.#in(this.#known, ref);
  }

  /** Folded anew from all of its events. */
  async verified(ref: RecordRef): Promise<StoredState | undefined> {
    if (this.#keepsDocument(ref)) return this.#foldByPages(ref);
    this.#anew ??= this.#group(true, () => {
      this.#anew = undefined;
    });
    return this.#in(this.#anew, ref);
  }

  #keepsDocument({ kind }: RecordRef): boolean {
    return this.#states.context.kinds.get(kind)?.keepsDocument === true;
  }

  async #in(group: Group, ref: RecordRef): Promise<StoredState | undefined> {
    group.refs.set(recordName(ref), ref);
    return (await group.found).record(ref);
  }

  /** A group that leaves with the next turn of the loop. */
  #group(anew: boolean, leave: () => void): Group {
    const refs = new Map<string, RecordRef>();
    const found = this.#depart(anew ? 'anew' : 'known', () => {
      leave();
      return this.#on((connection) => this.#states.load(connection, { records: [...refs.values()], anew }));
    });
    return { refs, found };
  }

  /** Leaves with the next turn of the loop, behind the group of its name before: what is asked meanwhile goes along. */
  #depart<T>(name: string, leave: () => Promise<T>): Promise<T> {
    const found = Promise.all([this.#away.get(name), nextTurn()]).then(leave);
    this.#away.set(
      name,
      found.catch(() => undefined),
    );
    return found;
  }

  /** A record with a document may have any number of events. They never change, so that no moment has to be held. */
  async #foldByPages(ref: RecordRef): Promise<StoredState | undefined> {
    const [columns] = await this.ask(STATEMENTS.record, [ref.kind, ref.id]);
    if (columns === undefined) return undefined;
    const row = recordRowOf(columns);
    const fold = new Fold(this.#states.context, ref, undefined);
    for (let from = 0; from <= row.revision; from += LIMITS.pageRowsMax) {
      const page = await this.ask(STATEMENTS.events, [ref.kind, ref.id, from, LIMITS.pageRowsMax]);
      for (const event of page.map(eventRowOf)) if (event.revision <= row.revision) fold.add(event);
    }
    return fold.finish(row);
  }

  async payload(ref: RecordRef, revision: number, address: string): Promise<Uint8Array | undefined> {
    this.#payloads ??= this.#payloadGroup();
    const { wanted, found } = this.#payloads;
    const place = wanted.push({ ref, revision, address }) - 1;
    const bytes = (await found).get(place);
    if (bytes !== undefined && contentRef(bytes) !== address) {
      throw new Fault('corrupt', 'a payload is not the one that was written', undefined, { path: recordName(ref) });
    }
    return bytes;
  }

  #payloadGroup() {
    const wanted: WantedPayload[] = [];
    const found = this.#depart('payloads', async () => {
      this.#payloads = undefined;
      const rows = await this.ask(STATEMENTS.payloads, [
        intArray(wanted.map((_, place) => place)),
        ...placesOf({ events: wanted.map(({ ref, revision }) => ({ record: ref, revision })) }),
        textArray(wanted.map(({ address }) => address)),
      ]);
      return new Map(rows.map((row) => row as unknown as [number, Buffer]));
    });
    return { wanted, found };
  }

  async lookup(kind: KindName, key: string): Promise<readonly LookupRow[]> {
    this.#lookups ??= this.#lookupGroup();
    const { wanted, found } = this.#lookups;
    wanted.set(`${kind} ${key}`, { kind, key });
    return (await found).lookup(kind, key);
  }

  #lookupGroup() {
    const wanted = new Map<string, { kind: KindName; key: string }>();
    const found = this.#depart('lookups', () => {
      this.#lookups = undefined;
      return this.#on((connection) => this.#states.load(connection, { records: [], lookups: [...wanted.values()] }));
    });
    return { wanted, found };
  }

  /** The same list asked for several times in one turn is read once. */
  list(query: ListQuery): Promise<Page> {
    const { kind, project, statuses, principal, waiting, limit, after } = query;
    const name = JSON.stringify([kind, project, statuses, principal, waiting, limit, after]);
    let page = this.#lists.get(name);
    if (page === undefined) {
      page = nextTurn().then(() => {
        this.#lists.delete(name);
        return this.#page(query);
      });
      this.#lists.set(name, page);
    }
    return page;
  }

  async #page(query: ListQuery): Promise<Page> {
    const { statement, values } = listStatement(query, placeOf(query), pageLimit(query) + 1);
    return pageOf(query, (await this.ask(statement, values)).map(recordRowOf));
  }

  /** The events of a record, each hashed again. */
  async events(ref: RecordRef, from: number): Promise<readonly LedgerEvent[]> {
    const rows = await this.ask(STATEMENTS.events, [ref.kind, ref.id, from, LIMITS.pageRowsMax]);
    return rows.map(eventRowOf).map((row) => {
      if (eventHash(this.#states.context.ledgerId, row) === row.hash) return eventOf(row);
      throw corrupt(ref, row.revision, 'the event is not the one that was written');
    });
  }

  async head(): Promise<LogHead> {
    const [row] = await this.ask(STATEMENTS.head);
    if (row === undefined) return { sequence: 0, logHash: EMPTY_LOG_HASH };
    return { sequence: row[0] as number, logHash: row[1] as string };
  }

  async log(after: number, limit: number = LIMITS.pageRowsMax): Promise<readonly LogEntry[]> {
    return (await this.ask(STATEMENTS.log, [after, Math.min(limit, LIMITS.pageRowsMax)])).map((row) =>
      logEntry(eventRowOf(row)),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.end();
  }

  /** The rows of one statement, which is a transaction by itself. */
  ask(statement: Statement, values: readonly Value[] = []): Promise<readonly Row[]> {
    return this.#on((connection) => connection.ask(statement, values));
  }

  /** Every read passes here, so that no error of the driver leaves. */
  async #on<T>(ask: (connection: Connection) => Promise<T>): Promise<T> {
    this.#reading += 1;
    try {
      return await this.#tryOn(ask);
    } finally {
      this.#reading -= 1;
    }
  }

  async #tryOn<T>(ask: (connection: Connection) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      let connection: Connection | undefined;
      try {
        connection = await this.#connect();
        return await ask(connection);
      } catch (error) {
        const lost = connection?.isLost === true || isLost(error);
        if (!lost || attempt > LIMITS.commitAttemptsMax || isOurs(error)) {
          throw serverError('the store could not be read', error);
        }
        await connection?.end();
      }
    }
  }

  /** Those that find it lost together share the one that the first of them opens. */
  #connect(): Promise<Connection> {
    if (this.#closed) return Promise.reject(new Fault('store', 'the ledger is closed'));
    if (this.#live?.isLost === true) this.#forget();
    this.#connection ??= connectWithin(this.#url, LIMITS.storeWaitMsMax, () => this.#closed).then(
      (connection) => {
        this.#live = connection;
        return connection;
      },
      (error: unknown) => {
        this.#forget();
        throw error;
      },
    );
    return this.#connection;
  }

  #forget(): void {
    this.#live = undefined;
    this.#connection = undefined;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
