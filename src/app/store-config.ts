/**
 * Which store a home's ledger stands in: a file of the home, or a PostgreSQL database that its `countersign.yaml`
 * names, in plain or as a secret (`env:NAME`, `file:PATH`). The URL may hold a password, so no message ever shows it.
 * Source: spec doors (configuration).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { FILE_REASONS, readPlainFile, textOf } from '../connectors/index.js';
import { Fault, LIMITS, Refusal } from '../core/index.js';
import type { Environment } from './config.js';
import type { Home } from './home.js';
import { parseYaml, readConfigText } from './yaml-file.js';

const WHAT = 'configuration of the home';
const SERVER = /^postgres(?:ql)?:\/\//;

const HomeConfig = z.strictObject({
  /** `postgres://…`, or where that stands. */
  store: z.string().min(1).max(2_048).optional(),
});

export function homeConfigPath(home: Home): string {
  return join(home.folder, 'countersign.yaml');
}

/**
 * The URL of the server that a home's configuration names; undefined for the embedded store. Refuses `config_invalid`.
 */
export async function storeUrl(home: Home, environment: Environment): Promise<string | undefined> {
  const path = homeConfigPath(home);
  if (!existsSync(path)) return undefined;
  const file = await parseYaml(readConfigText(path, WHAT), WHAT);
  const parsed = HomeConfig.safeParse(file.value);
  if (!parsed.success) throw file.defect(parsed.error);
  return parsed.data.store === undefined ? undefined : resolveStoreUrl(parsed.data.store, environment);
}

/** The URL that a word names. Refuses `config_invalid`. */
export function resolveStoreUrl(word: string, environment: Environment): string {
  const url = word.startsWith('env:')
    ? variableIn(word.slice('env:'.length), environment)
    : word.startsWith('file:')
      ? textIn(word.slice('file:'.length))
      : word;
  if (!isServer(url)) throw refused('is no URL of the form postgres://HOST/DATABASE');
  return url;
}

/** A name is said again where it is one of a variable: somebody may have typed the URL itself there. */
function variableIn(name: string, environment: Environment): string {
  const value = environment.variable(name);
  if (value) return value;
  const which = /^[A-Z][A-Z0-9_]{0,63}$/.test(name) ? `the variable ${name}, which` : 'a variable that';
  throw refused(`stands in ${which} is not set`);
}

/** A URL that names a server, a database or a folder of sockets; one that names nothing means a mistake. */
function isServer(url: string): boolean {
  if (!SERVER.test(url) || !URL.canParse(url)) return false;
  const { host, pathname, search } = new URL(url);
  return host !== '' || pathname.length > 1 || search !== '';
}

function textIn(path: string): string {
  const read = readPlainFile(path, LIMITS.configBytesMax);
  if (read.ok) return textOf(read.bytes).trim();
  throw refused(`stands in a file that ${FILE_REASONS[read.reason]}`);
}

const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);

/** What keeps a database from being opened, in words, by the code of the wire or of the server. */
function whyUnreached(code: string): string | undefined {
  if (NETWORK.has(code) || code === 'ENOENT' || code.startsWith('08')) return 'it is not reached';
  if (code.startsWith('28')) return 'it does not let this user in';
  return code === '3D000' ? 'the server has no such database' : undefined;
}

/** A fault of opening a database, with what is wrong between this gate and it, where that can be told. */
export function unreached(error: unknown): unknown {
  const { cause } = (error instanceof Fault ? error : {}) as { readonly cause?: unknown };
  const why = whyUnreached(cause instanceof Error && 'code' in cause ? String(cause.code) : '');
  if (why === undefined) return error;
  const next = 'start the database, or correct the URL of the store';
  return new Fault('store', `the database of the store could not be opened: ${why}`, cause, { next });
}

function refused(why: string): Refusal {
  const next = 'let it be `postgres://HOST/DATABASE`, or name where that stands: `env:NAME`, `file:PATH`';
  return new Refusal('config_invalid', `the store ${why}`, { path: 'store', next });
}
