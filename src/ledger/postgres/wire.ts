/**
 * Statements that travel to the server in one piece, each by its prepared name, with one Sync behind them all: the
 * server answers them in one piece as well. Where one fails, those behind it are passed over, and all of them are
 * answered with its error.
 *
 * A query of the driver's own, so that the order of queries, time-outs and lost connections stay the driver's.
 * Source: PostgreSQL, frontend/backend protocol (extended query, pipelining).
 */
import pg from 'pg';
import type { Row, Statement, Value } from './connection.js';

/** What a statement answered: its rows, and what it did, such as `COMMIT`. */
export interface Answer {
  readonly rows: readonly Row[];
  readonly command: string;
}

export interface Asked {
  readonly statement: Statement;
  readonly values: readonly Value[];
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

type Parser = (text: string) => unknown;
/** How the columns of each prepared statement are read, by its name. */
export type Prepared = Map<string, readonly Parser[]>;

interface Wire {
  readonly stream: { readonly writable: boolean };
  parse(query: { name: string; text: string }): void;
  bind(config: { statement: string; values: readonly unknown[] }): void;
  describe(what: { type: 'P' }): void;
  execute(): void;
  close(what: { type: 'S'; name: string }): void;
  sync(): void;
}

/** The driver's own query, as far as this one is in its place. */
const Query = pg.Query as unknown as new (
  text: string,
) => {
  /** Set by the driver; ends its timer. */
  callback?: () => void;
};

const INT8 = 20;
const NONE: readonly Parser[] = [];

function parserOf(type: number): Parser {
  return type === INT8 ? Number : pg.types.getTypeParser(type, 'text');
}

export class Group extends Query {
  readonly #prepared: Prepared;
  readonly #asked: readonly Asked[];
  /** Names that this group prepares. */
  readonly #fresh = new Set<string>();
  #at = 0;
  #rows: Row[] = [];

  constructor(prepared: Prepared, asked: readonly Asked[]) {
    super('');
    this.#prepared = prepared;
    this.#asked = asked;
  }

  submit(connection: unknown): void {
    const wire = connection as Wire;
    for (const { statement, values } of this.#asked) {
      const { name, text } = statement;
      const isFresh = !this.#prepared.has(name);
      if (isFresh) {
        this.#fresh.add(name);
        this.#prepared.set(name, NONE);
        // What an attempt before may have left under this name.
        wire.close({ type: 'S', name });
        wire.parse({ name, text });
      }
      wire.bind({ statement: name, values: values.map(wireValue) });
      if (isFresh) wire.describe({ type: 'P' });
      wire.execute();
    }
    wire.sync();
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    const name = this.#asked[this.#at]?.statement.name;
    if (name !== undefined)
      this.#prepared.set(
        name,
        fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
      );
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const parsers = this.#prepared.get(this.#asked[this.#at]?.statement.name ?? '') ?? NONE;
    const row = new Array<unknown>(fields.length);
    for (let i = 0; i < fields.length; i += 1) {
      const text = fields[i] as string | null;
      row[i] = text === null ? null : (parsers[i] as Parser)(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#asked[this.#at]?.resolve({ rows: this.#rows, command: text });
    this.#at += 1;
    this.#rows = [];
  }

  handleReadyForQuery(): void {
    const isWhole = this.#at === this.#asked.length;
    this.#end(isWhole ? undefined : new Error('the server answered less than it was asked'));
  }

  handleError(error: unknown): void {
    for (const { statement } of this.#asked.slice(this.#at)) {
      if (this.#fresh.has(statement.name)) this.#prepared.delete(statement.name);
    }
    this.#end(error);
  }

  #end(error: unknown): void {
    for (; this.#at < this.#asked.length; this.#at += 1) this.#asked[this.#at]?.reject(error);
    this.callback?.();
  }
}

function wireValue(value: Value): string | Buffer | null {
  return value === null || Buffer.isBuffer(value) ? value : String(value);
}
