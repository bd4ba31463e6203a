/**
 * Which store a home's ledger stands in: a file of the home, or a PostgreSQL database that its `countersign.yaml`
 * names,
 * in plain or as a secret (`env:NAME`, `file:PATH`). The URL may hold a password, so no message ever shows it.
 * Source: spec doors (configuration).
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault, Refusal } from '../core/index.js';
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
 * The URL of the server that a home's configuration names; undefined for the embedded store. Refuses `config_invalid`;
 * faults `store`.
 */
export async function storeUrl(home: Home, environment: Environment): Promise<string | undefined> {
  const path = homeConfigPath(home);
  if (!existsSync(path)) return undefined;
  const file = await parseYaml(readConfigText(path, WHAT), WHAT);
  const parsed = HomeConfig.safeParse(file.value);
  if (!parsed.success) throw file.defect(parsed.error);
  return parsed.data.store === undefined ? undefined : resolveStoreUrl(parsed.data.store, environment);
}

/** The URL that a word names. Refuses `config_invalid`; faults `store` for a file that can't be read. */
export function resolveStoreUrl(word: string, environment: Environment): string {
  const url = word.startsWith('env:')
    ? environment.variable(word.slice('env:'.length))
    : word.startsWith('file:')
      ? textIn(word.slice('file:'.length))
      : word;
  if (url === undefined || !SERVER.test(url) || !URL.canParse(url)) {
    throw new Refusal('config_invalid', 'the store is no URL of the form postgres://HOST/DATABASE', { path: 'store' });
  }
  return url;
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Fault('store', 'the URL of the store can not be read', error);
  }
}
