/**
 * Stands between a client and a PostgreSQL server on Unix sockets, and cuts the connection at the n-th piece that passes:
 * before it is handed on, or behind it, so that the server did what was asked and nobody hears of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOCKET = '.s.PGSQL.5432';

export interface CuttingProxy {
  readonly url: string;
  /** Cuts at the n-th piece from now on, counted over all connections; then lets everything pass. */
  cutAt(n: number, when: 'before' | 'behind'): void;
  /** Pieces since `cutAt`. */
  readonly pieces: number;
  /** Round trips so far of the connections on which a statement of this name was ever prepared. */
  roundTrips(statement: string): number;
  close(): Promise<void>;
}

export async function cuttingProxy(url: string): Promise<CuttingProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cut-'));
  const target = join(new URL(url).searchParams.get('host') ?? '', SOCKET);
  let pieces = 0;
  let cut = { at: Number.POSITIVE_INFINITY, when: 'before' as 'before' | 'behind' };
  const open = new Set<Socket>();
  const talks: { prepared: string; turns: number; answered: boolean }[] = [];
  const pass = (from: Socket, to: Socket) => {
    from.on('error', () => to.destroy());
    from.on('close', () => {
      open.delete(from);
      to.destroy();
    });
    from.on('data', (bytes) => {
      pieces += 1;
      if (pieces !== cut.at) {
        to.write(bytes);
      } else if (cut.when === 'before') {
        from.destroy();
        to.destroy();
      } else {
        to.write(bytes, () => setTimeout(() => from.destroy(), 20));
        to.removeAllListeners('data');
        to.resume();
      }
    });
  };
  const server = createServer((client) => {
    const upstream = connect(target);
    for (const socket of [client, upstream]) open.add(socket);
    const talk = { prepared: '', turns: 0, answered: true };
    talks.push(talk);
    client.on('data', (bytes) => {
      if (talk.answered) talk.turns += 1;
      talk.answered = false;
      if (talk.prepared.length < 100_000) talk.prepared += bytes.toString('latin1');
    });
    upstream.on('data', () => {
      talk.answered = true;
    });
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(join(folder, SOCKET), resolve));
  const through = new URL(url);
  through.searchParams.set('host', folder);
  return {
    url: through.href,
    cutAt: (n, when) => {
      pieces = 0;
      cut = { at: n, when };
    },
    get pieces() {
      return pieces;
    },
    roundTrips: (statement) =>
      talks.filter(({ prepared }) => prepared.includes(statement)).reduce((sum, { turns }) => sum + turns, 0),
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
