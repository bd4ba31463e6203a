/**
 * Statements that travel to the server in one piece, each by its prepared name, with one Sync behind them all: the
 * server answers them in one piece as well. Where one fails, those behind it are passed over, and all of them are
 * answered with its error.
 *
 * A query of the driver's own, so that the order of queries, time-outs and lost connections stay the driver's.
 * Source: PostgreSQL, frontend/backend protocol (extended query, pipelining).
 */
import pg from 'pg';
import { Fault } from '../../core/index.js';
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

/** A statement that a connection has prepared: how its columns are read, once the server told. */
interface Made {
  readonly text: string;
  columns: readonly Parser[] | undefined;
}

/** The statements that a connection has prepared, by name. */
export type Prepared = Map<string, Made>;

interface Wire {
  readonly stream: { destroy(): void };
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
const UNREADABLE = 'the server answered what can not be read';

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
  #defect: unknown;

  constructor(prepared: Prepared, asked: readonly Asked[]) {
    super('');
    this.#prepared = prepared;
    this.#asked = asked;
  }

  submit(connection: unknown): void {
    const wire = connection as Wire;
    try {
      for (const { statement, values } of this.#asked) this.#submit(wire, statement, values);
      wire.sync();
    } catch {
      // Half of it may be on its way: nobody could tell its answers from those of the next.
      wire.stream.destroy();
    }
  }

  #submit(wire: Wire, { name, text }: Statement, values: readonly Value[]): void {
    const made = this.#prepared.get(name);
    if (made === undefined) {
      this.#fresh.add(name);
      this.#prepared.set(name, { text, columns: undefined });
      // What an attempt before may have left under this name.
      wire.close({ type: 'S', name });
      wire.parse({ name, text });
    }
    wire.bind({ statement: name, values: values.map(wireValue) });
    // Also where a group before this one asked, whose answer is not here yet and may be an error.
    if (made?.columns === undefined) wire.describe({ type: 'P' });
    wire.execute();
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    const statement = this.#asked[this.#at]?.statement;
    if (statement === undefined) return;
    const columns = fields.map(({ dataTypeID }) => parserOf(dataTypeID));
    this.#prepared.set(statement.name, { text: statement.text, columns });
  }

  /** Nothing is thrown here: it would be thrown at the socket. */
  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      const columns = this.#prepared.get(this.#asked[this.#at]?.statement.name ?? '')?.columns ?? NONE;
      const row = new Array<unknown>(fields.length);
      for (let i = 0; i < fields.length; i += 1) {
        const text = fields[i] as string | null;
        row[i] = text === null ? null : (columns[i] as Parser)(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#defect ??= error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const asked = this.#asked[this.#at];
    const made = asked === undefined ? undefined : this.#prepared.get(asked.statement.name);
    // A statement that was described and has no columns answers no rows.
    if (made !== undefined) made.columns ??= NONE;
    if (this.#defect === undefined) asked?.resolve({ rows: this.#rows, command: text });
    else asked?.reject(new Fault('store', UNREADABLE, this.#defect));
    this.#at += 1;
    this.#rows = [];
    this.#defect = undefined;
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
