/**
 * A small number of connections, opened when they are needed and opened again after they were lost: a server that is
 * away is asked again until the caller's time is over.
 */
import { Fault, isOurs, LIMITS } from '../../core/index.js';
import { Connection } from './connection.js';

const RETRY_MS = 50;

export class Pool {
  readonly #url: string;
  readonly #size: number;
  readonly #idle: Connection[] = [];
  #open = 0;
  #closed = false;

  constructor(url: string, size: number) {
    this.#url = url;
    this.#size = size;
  }

  /** Whether `take` would get a connection now. */
  get hasFree(): boolean {
    return this.#open < this.#size;
  }

  /** A connection for one transaction, to be given back. Faults `store` where none can be had within `msMax`. */
  async take(msMax: number = LIMITS.storeWaitMsMax): Promise<Connection> {
    this.#open += 1;
    try {
      const idle = this.#idle.pop();
      if (idle !== undefined && !idle.isLost) return idle;
      return await connectWithin(this.#url, msMax, () => this.#closed);
    } catch (error) {
      this.#open -= 1;
      throw error;
    }
  }

  give(connection: Connection): void {
    this.#open -= 1;
    if (connection.isLost || this.#closed) void connection.end();
    else this.#idle.push(connection);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.splice(0).map((connection) => connection.end()));
  }
}

/** Opens a connection, again and again while the server is away. Faults `store`. */
export async function connectWithin(
  url: string,
  msMax: number,
  isClosed: () => boolean,
  onNotice?: (channel: string, text: string) => void,
  answerMsMax?: number,
): Promise<Connection> {
  const until = performance.now() + msMax;
  for (;;) {
    try {
      return await Connection.open(url, onNotice, answerMsMax);
    } catch (error) {
      if (isOurs(error)) throw error;
      if (performance.now() >= until || isClosed()) throw new Fault('store', 'the server can not be reached', error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
