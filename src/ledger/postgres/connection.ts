/**
 * One connection to a PostgreSQL server: named prepared statements, sent one behind another without waiting, so that
 * all that is handed over in one go takes one round trip. Its arrays travel as the server keeps them (`arrays`).
 *
 * It refuses a server that it can't keep promises on: one before version 15, or with `fsync` or `synchronous_commit`
 * off. Statements, locks and idle transactions have their time-outs on the server; the wire has one here. The driver is
 * loaded with the first connection.
 * Source: spec ledger (backends); docs/decisions/0006.
 */
import { Socket } from 'node:net';
import type { Client, Submittable } from 'pg';
import { assert, Fault, LIMITS } from '../../core/index.js';
import type { Answer, Asked, Prepared } from './wire.js';

/** A statement by its name; its plan is made once for each connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A scalar, bytes, or an array of `arrays`. */
export type Value = string | number | boolean | null | Buffer;
export type Row = readonly unknown[];

const OLDEST = 150_000;
/** Statements with more values than this have a Sync of their own; less is sent in one piece. */
const SYNC_BYTES = 8_192;

/** Fixed for the session: plans by the keys of the tables, whatever statistics say; names that nobody can shadow. */
const SETTINGS = [
  'search_path = pg_catalog, countersign, pg_temp',
  `statement_timeout = ${LIMITS.statementMsMax}`,
  `lock_timeout = ${LIMITS.storeWaitMsMax}`,
  `idle_in_transaction_session_timeout = ${LIMITS.transactionIdleMsMax}`,
  // A peer that is gone without a word gives its locks back: about half a minute.
  'tcp_keepalives_idle = 10',
  'tcp_keepalives_interval = 5',
  'tcp_keepalives_count = 4',
  'default_transaction_isolation = "read committed"',
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'jit = off',
  'plan_cache_mode = force_generic_plan',
];

/** The statements of a round trip, loaded with the driver. */
type NewGroup = typeof import('./wire.js').Group;

export class Connection {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #group: NewGroup;
  readonly #prepared: Prepared = new Map();
  /** What is asked while it is set travels as one. */
  #gathered: Asked[] | undefined;
  #corked = false;
  readonly #onNotice: (channel: string, text: string) => void;
  #lost: unknown;

  private constructor(
    client: Client,
    socket: Socket,
    group: NewGroup,
    onNotice: (channel: string, text: string) => void,
  ) {
    this.#client = client;
    this.#group = group;
    this.#socket = socket;
    this.#onNotice = onNotice;
    client.on('error', (error) => {
      this.#lost ??= error;
    });
    client.on('end', () => {
      this.#lost ??= new Fault('store', 'the server closed the connection');
    });
    client.on('notification', ({ channel, payload }) => this.#onNotice(channel, payload ?? ''));
  }

  /** Connects and checks the server. Faults `store`. */
  static async open(
    url: string,
    onNotice: (channel: string, text: string) => void = () => undefined,
    answerMsMax: number = LIMITS.statementMsMax,
  ): Promise<Connection> {
    const [{ default: pg }, { Group }] = await Promise.all([import('pg'), import('./wire.js')]);
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: url,
      stream: () => socket,
      application_name: 'countersign',
      connectionTimeoutMillis: LIMITS.connectMsMax,
      query_timeout: answerMsMax + LIMITS.connectMsMax,
      keepAlive: true,
      pipeline: true,
    } as ConstructorParameters<typeof pg.Client>[0]);
    const connection = new Connection(client, socket, Group, onNotice);
    try {
      await client.connect();
      await client.query(SETTINGS.map((setting) => `SET SESSION ${setting}`).join('; '));
      await connection.#check();
      return connection;
    } catch (error) {
      await connection.end();
      throw error;
    }
  }

  /** True once nothing more can be asked of it. */
  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** The rows of one statement. */
  async ask(statement: Statement, values: readonly Value[] = []): Promise<readonly Row[]> {
    return (await this.#answer(statement, values)).rows;
  }

  /** As `ask` for a statement without rows: what it did, such as `COMMIT`. */
  async run(statement: Statement, values: readonly Value[] = []): Promise<string> {
    return (await this.#answer(statement, values)).command;
  }

  /**
   * What `asking` asks before it first waits travels as one. Where one statement of a transaction fails, those behind
   * it are not run, and fail with it. All answers, or the first error once all of them are in: the connection is at
   * rest then.
   */
  async together<T extends readonly unknown[]>(
    asking: () => readonly [...T],
  ): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
    const settled = await Promise.allSettled(this.#asOne(asking) as readonly unknown[]);
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as { [K in keyof T]: Awaited<T[K]> };
  }

  #asOne<T>(asking: () => T): T {
    if (this.#gathered !== undefined) return asking();
    const gathered: Asked[] = [];
    this.#gathered = gathered;
    try {
      return asking();
    } finally {
      this.#gathered = undefined;
      this.#send(gathered);
    }
  }

  #answer(statement: Statement, values: readonly Value[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const made = this.#prepared.get(statement.name);
      assert(made === undefined || made.text === statement.text, 'a name stands for two statements');
      const asked = { statement, values, resolve, reject };
      if (this.#gathered === undefined) this.#send([asked]);
      else this.#gathered.push(asked);
    });
  }

  /**
   * With a Sync ahead of what is long: the server counts how long a transaction is idle from there. A gate that is
   * stopped with half of it sent gives its locks back as one does that is stopped in between.
   */
  #send(asked: readonly Asked[]): void {
    let bytes = 0;
    let group: Asked[] = [];
    for (const one of asked) {
      const own = one.values.reduce<number>((sum, value) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0);
      if (group.length > 0 && bytes + own > SYNC_BYTES) {
        this.#submit(group);
        group = [];
        bytes = 0;
      }
      group.push(one);
      bytes += own;
    }
    if (group.length > 0) this.#submit(group);
  }

  #submit(group: readonly Asked[]): void {
    this.#cork();
    this.#client.query(new this.#group(this.#prepared, group) as unknown as Submittable);
  }

  /** Statements as plain text, without a plan that is kept. */
  async script(text: string): Promise<void> {
    await this.#client.query(text);
  }

  /** Keeps what is asked in this turn together, so that it leaves in one piece. */
  #cork(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#corked = false;
      this.#socket.uncork();
    });
  }

  async end(): Promise<void> {
    this.#lost ??= new Fault('store', 'the connection was closed');
    await this.#client.end().catch(() => undefined);
  }

  async #check(): Promise<void> {
    const [row] = await this.ask({
      name: 'check',
      text: `SELECT current_setting('server_version_num')::int, current_setting('fsync'),
        current_setting('synchronous_commit')`,
    });
    const [version, fsync, synchronous] = (row ?? []) as [number, string, string];
    const defect = serverDefect(version, fsync, synchronous);
    if (defect !== undefined) throw new Fault('store', defect);
  }
}

/** Why a server with these settings is refused; undefined for one that keeps what it acknowledged. */
export function serverDefect(version: number, fsync: string, synchronous: string): string | undefined {
  if (!(version >= OLDEST)) return 'the server is too old: PostgreSQL 15 or later is needed';
  if (fsync !== 'on') return 'the server runs with fsync off and would lose commits';
  if (synchronous === 'off') return 'the server runs with synchronous_commit off and would lose commits';
  return undefined;
}
