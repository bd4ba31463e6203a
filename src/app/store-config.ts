/**
 * Which store a home's ledger stands in: a file of the home, or a PostgreSQL database that its `countersign.yaml`
 * names, in plain or as a secret (`env:NAME`, `file:PATH`). The URL may hold a password, so no message ever shows it.
 * Source: spec doors (configuration).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { FILE_REASONS, readPlainFile, textOf } from '../connectors/index.js';
import { LIMITS, Refusal } from '../core/index.js';
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
    ? environment.variable(word.slice('env:'.length))
    : word.startsWith('file:')
      ? textIn(word.slice('file:'.length))
      : word;
  if (url === undefined || !isServer(url)) throw refused('is no URL of the form postgres://HOST/DATABASE');
  return url;
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

function refused(why: string): Refusal {
  const next = 'name it as `postgres://HOST/DATABASE`, or where that stands: `env:NAME`, `file:PATH`';
  return new Refusal('config_invalid', `the store ${why}`, { path: 'store', next });
}
