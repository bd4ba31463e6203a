/**
 * The gate's home: the folder of its store, trust configuration and keys. It never lies in a repository or work
 * tree, where an agent could write it, and nobody but its owner may write it.
 * Source: spec authority (trust configuration).
 */
import { chmodSync, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Fault, isPathMistake, Refusal } from '../core/index.js';

export interface Home {
  readonly folder: string;
  readonly store: string;
  readonly trustFile: string;
  readonly keysFolder: string;
  readonly threadKey: string;
  /** Signs who is signed in: deleted, it ends every session. */
  readonly sessionsKey: string;
  /** What this gate remembers of its ledger, outside the store. */
  readonly seenFile: string;
  /** Stands while `init` makes the home: what it makes, a path on each line. */
  readonly unfinishedFile: string;
  /** Where connectors keep what they need between calls. */
  readonly workFolder: string;
}

/** The environment that decides where things are: read here and nowhere else. */
export interface HomeEnvironment {
  readonly COUNTERSIGN_HOME?: string | undefined;
  readonly XDG_CONFIG_HOME?: string | undefined;
}

/** The home that an option, the environment or the user's config folder names, in this order. Refuses `invalid`. */
export function homeAt(option: string | undefined, environment: HomeEnvironment): Home {
  if (option === '') throw new Refusal('invalid', 'the home has no name', { path: 'home' });
  const base = environment.XDG_CONFIG_HOME || join(homedir(), '.config');
  const folder = resolve(option ?? (environment.COUNTERSIGN_HOME || join(base, 'countersign')));
  return {
    folder,
    store: join(folder, 'ledger.sqlite'),
    trustFile: join(folder, 'trust.yaml'),
    keysFolder: join(folder, 'keys'),
    threadKey: join(folder, 'keys', 'threads.key'),
    sessionsKey: join(folder, 'keys', 'sessions.key'),
    seenFile: join(folder, 'seen.json'),
    unfinishedFile: join(folder, 'init.unfinished'),
    workFolder: join(folder, 'work'),
  };
}

/** Where a folder is, or will be once it is made: links are followed as far as the path exists. */
function realFolder(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  return path === dirname(path) ? path : join(realFolder(dirname(path)), basename(path));
}

function isBareRepository(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
}

/**
 * Refuses `config_location` for a home that others may write or that lies in a work tree; checks links as they
 * resolve.
 */
export function checkHome(home: Home): void {
  for (let folder = realFolder(home.folder); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git')) || isBareRepository(folder)) {
      throw new Refusal('config_location', 'the home of the gate lies in a repository');
    }
    if (folder === dirname(folder)) break;
  }
  for (const path of [home.folder, home.trustFile, home.keysFolder, home.threadKey, home.seenFile, home.workFolder]) {
    if (existsSync(path) && (statSync(path).mode & 0o022) !== 0) {
      throw new Refusal('config_location', 'the home of the gate can be written by others', {
        next: `make it yours alone: chmod go-w ${path}`,
      });
    }
  }
}

/** Makes a folder that somebody named, where there is none. Refuses `invalid` where none can be; faults `store`. */
export function makeFolder(path: string, option: string, mode?: number): void {
  try {
    for (const folder of missingFolders(path)) mkdirSync(folder, mode);
    if (!statSync(path).isDirectory()) throw notAFolder(option);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (!isPathMistake(error)) throw new Fault('store', 'a folder could not be made', error);
    throw notAFolder(option);
  }
}

/** Outermost first. Node's own way of making several never ends where a file system knows none, such as `/proc`. */
function missingFolders(path: string): readonly string[] {
  const missing: string[] = [];
  for (let at = path; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

function notAFolder(option: string): Refusal {
  const next = `name a folder that is there or can be made, with --${option}`;
  return new Refusal('invalid', 'no folder can be made at the path', { path: option, next });
}

/** Makes the folders of a new home, for its owner alone. Refuses `invalid` where they can not be. */
export function makeHome(home: Home): void {
  for (const folder of [home.folder, home.keysFolder, home.workFolder]) {
    makeFolder(folder, 'home', 0o700);
    chmodSync(folder, 0o700);
  }
}
