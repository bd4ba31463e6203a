/**
 * Runs one git process, closed off from everything that it is not given.
 *
 * It promises: an absolute program, an argument array and no shell; an environment of exactly the variables named here;
 * no system, user or repository configuration, hook, filter, driver, replacement, transport, pager, editor or prompt;
 * output, time and input bounded; it answers only once the process is gone, so that nothing can follow its answer.
 * Source: spec actions (git), reliability T29.
 */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { Fault } from '../../core/index.js';
import { collect, stopper } from '../child.js';
import { GIT_LIMITS } from './limits.js';

/**
 * Settings that hold over any file. The configuration that git reads is a file of ours and says nothing; these stand
 * here so that one run is closed even if that file is not. Keys that a version of git doesn't know have no effect.
 */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.symlinks=true',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  // Caches beside objects may lie about what the objects say.
  'core.commitGraph=false',
  'core.multiPackIndex=false',
  'pack.useBitmaps=false',
  'pack.readReverseIndex=false',
  'core.logAllRefUpdates=false',
  'core.fsync=all',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'commit.gpgSign=false',
  'protocol.allow=never',
] as const;

/** Who and when of a commit. */
export interface CommitStamp {
  readonly name: string;
  readonly email: string;
  /** Seconds since the epoch, in UTC. */
  readonly seconds: number;
}

export interface RunOptions {
  /** The repository whose configuration is read: always one of the gate's. */
  readonly gitDir: string;
  /** Where the process stands: an empty folder of the gate, or the work tree. */
  readonly cwd: string;
  readonly workTree?: string;
  readonly index?: string;
  /** Where objects are read and written instead of the repository's own. */
  readonly objects?: string;
  /** One more place to read objects from. */
  readonly alternate?: string;
  readonly stamp?: CommitStamp;
  readonly input?: string | Uint8Array;
  /** An open file that is the process's input, or takes its output. */
  readonly inputFile?: number;
  readonly outputFile?: number;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface RunResult {
  /** Undefined when the process was stopped: by a signal, its timeout, or because it said too much. */
  readonly exitCode: number | undefined;
  readonly output: Buffer;
  /** For the log of the gate; it may hold names of the repository. */
  readonly errors: string;
}

/** Where git is, and an empty folder that serves as its home. */
export interface Program {
  readonly path: string;
  readonly home: string;
}

/** Runs git once. Throws a `Fault` only where git can't be started at all. */
export function runGit(program: Program, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  return new Promise((resolve, reject) => {
    if (options.signal?.aborted === true) {
      resolve({ exitCode: undefined, output: Buffer.alloc(0), errors: 'called off before it began' });
      return;
    }
    const child = spawn(program.path, ['--no-pager', '--literal-pathspecs', ...settings, ...args], {
      cwd: options.cwd,
      env: environmentOf(program, options),
      shell: false,
      stdio: [options.inputFile ?? 'pipe', options.outputFile ?? 'pipe', 'pipe'],
    });
    const output = collect(child, GIT_LIMITS.outputBytesMax, GIT_LIMITS.errorBytesMax);
    const stop = stopper(child, GIT_LIMITS.stopMsMax);
    const timer = setTimeout(stop.now, options.timeoutMs ?? GIT_LIMITS.runMsMax);
    options.signal?.addEventListener('abort', stop.now, { once: true });
    const release = (): void => {
      clearTimeout(timer);
      stop.release();
      options.signal?.removeEventListener('abort', stop.now);
    };
    output.onOverflow = stop.now;
    child.on('error', (error) => {
      // Also raised when a kill fails; then the process is still there and `close` will come.
      if (child.pid !== undefined) return;
      release();
      reject(new Fault('internal', 'git could not be started', error));
    });
    child.on('close', (code) => {
      release();
      const exitCode = code === null || stop.asked() ? undefined : code;
      resolve({ exitCode, output: output.bytes(), errors: output.errors() });
    });
    // A process that ends early closes its input; its exit code says why.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
  });
}

function environmentOf(program: Program, options: RunOptions): Record<string, string> {
  const { stamp } = options;
  const date = stamp === undefined ? undefined : `@${stamp.seconds} +0000`;
  const all: Record<string, string | undefined> = {
    PATH: dirname(program.path),
    HOME: program.home,
    XDG_CONFIG_HOME: program.home,
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    // The name of no protocol: nothing may be fetched from anywhere.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_DIR: options.gitDir,
    GIT_WORK_TREE: options.workTree,
    GIT_INDEX_FILE: options.index,
    GIT_OBJECT_DIRECTORY: options.objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: options.alternate === undefined ? undefined : quotedPath(options.alternate),
    GIT_AUTHOR_NAME: stamp?.name,
    GIT_AUTHOR_EMAIL: stamp?.email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: stamp?.name,
    GIT_COMMITTER_EMAIL: stamp?.email,
    GIT_COMMITTER_DATE: date,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}

/** In git's list of paths a colon separates; a quoted path may hold one. */
function quotedPath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}
