/**
 * The gate's home: the folder of its store, trust configuration and keys. It never lies in a repository or work
 * tree, where an agent could write it, and nobody but its owner may write it.
 * Source: spec authority (trust configuration).
 */
import { accessSync, chmodSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
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
  const folder = resolve(option ?? (environment.COUNTERSIGN_HOME || join(configFolder(environment), 'countersign')));
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

const ELSEWHERE = 'name a home outside of it with `--home`, or in COUNTERSIGN_HOME';

/** INVARIANT: no home is one of the working folder because a variable says nothing of use (app.home.absolute). */
function configFolder({ XDG_CONFIG_HOME }: HomeEnvironment): string {
  const base = XDG_CONFIG_HOME || join(userFolder(), '.config');
  if (isAbsolute(base)) return base;
  const next = 'set HOME to an absolute path, or name the home with `--home`, or in COUNTERSIGN_HOME';
  throw new Refusal('invalid', 'the folder of this user is no absolute path', { path: 'home', next });
}

/** Empty where nobody knows it: a user without an entry, in an environment without HOME. */
function userFolder(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}

/** Where a folder is, or will be once it is made: links are followed as far as the path exists. */
function realFolder(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  return path === dirname(path) ? path : join(realFolder(dirname(path)), basename(path));
}

function isBareRepository(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
}

/** The work tree or repository that a path lies in; folders that were looked at before are not looked at again. */
function repositoryAround(path: string, looked: Set<string>): string | undefined {
  for (let folder = path; !looked.has(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, '.git')) || isBareRepository(folder)) return folder;
    looked.add(folder);
  }
  return undefined;
}

/** Refuses a home of somebody else, and what is no folder; one that is not there yet is nobody's. */
function demandEntry({ folder }: Home): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(folder).isDirectory();
    if (isFolder) accessSync(folder, constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EACCES' || code === 'EPERM') throw outside();
    return;
  }
  if (isFolder) return;
  throw new Refusal('invalid', 'the home is no folder', { path: 'home', next: 'name a folder with `--home`' });
}

/** What a user hears whom the owner of a home keeps out. */
function outside(): Refusal {
  const next = 'run this as the owner of the home, or name another with `--home`';
  return new Refusal('forbidden', 'this user may not enter the home of the gate', { path: 'home', next });
}

/**
 * Refuses `config_location` for a home that others may write or that lies in a work tree, as does what a link in it
 * leads to; `forbidden` where this user may not enter it, and `invalid` where it is no folder.
 * INVARIANT: an agent that writes in a work tree writes nothing of a home (app.home.links).
 */
export function checkHome(home: Home): void {
  demandEntry(home);
  const files = [home.trustFile, home.threadKey, home.sessionsKey, home.seenFile];
  const places = [home.folder, home.keysFolder, home.workFolder, ...files];
  const looked = new Set<string>();
  for (const place of [...places, home.store]) {
    const repository = repositoryAround(realFolder(place), looked);
    if (repository === undefined) continue;
    const next = place === home.folder ? ELSEWHERE : 'put the file or folder itself there, instead of a link';
    throw new Refusal('config_location', `\`${place}\` lies in the repository \`${repository}\``, { next });
  }
  for (const path of places) {
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
