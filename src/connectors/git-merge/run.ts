/**
 * Runs one gh process, closed off from everything that it is not given.
 *
 * It promises: an absolute program, an argument array and no shell; an environment of exactly the variables named here;
 * no prompt, pager, browser, editor or notice of updates; output and time bounded; it answers only once the process is
 * gone, so that nothing that gh has not sent yet can follow its answer.
 * Source: spec actions (git and gh by absolute path), reliability T29.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fault } from '../../core/index.js';
import { collect, stopper } from '../child.js';
import { GH_LIMITS } from './limits.js';

/** Where gh is, and whom it speaks as. */
export interface Gh {
  readonly path: string;
  /** A folder of the gate: where gh stands, and its home. */
  readonly home: string;
  readonly configDir: string;
  readonly host: string | undefined;
}

export interface GhRun {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly token: string | undefined;
}

export interface GhResult {
  /** Undefined when the process was stopped: by a signal, its timeout, or because it said too much. */
  readonly exitCode: number | undefined;
  readonly output: Buffer;
  readonly errors: string;
}

/** Runs gh once. Throws a `Fault` only where gh can't be started at all. */
export function runGh(gh: Gh, args: readonly string[], { timeoutMs, signal, token }: GhRun): Promise<GhResult> {
  mkdirSync(gh.home, { recursive: true, mode: 0o700 });
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      resolve({ exitCode: undefined, output: Buffer.alloc(0), errors: 'called off before it began' });
      return;
    }
    const child = spawn(gh.path, [...args], {
      cwd: gh.home,
      env: environmentOf(gh, token),
      shell: false,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = collect(child, GH_LIMITS.outputBytesMax, GH_LIMITS.errorBytesMax);
    const stop = stopper(child, GH_LIMITS.stopMsMax);
    const timer = setTimeout(stop.now, timeoutMs);
    signal?.addEventListener('abort', stop.now, { once: true });
    const release = (): void => {
      clearTimeout(timer);
      stop.release();
      signal?.removeEventListener('abort', stop.now);
    };
    output.onOverflow = stop.now;
    child.on('error', (error) => {
      // Also raised when a kill fails; then the process is still there and `close` will come.
      if (child.pid !== undefined) return;
      release();
      reject(new Fault('internal', 'gh could not be started', error));
    });
    child.on('close', (code) => {
      release();
      const exitCode = code === null || stop.asked() ? undefined : code;
      resolve({ exitCode, output: output.bytes(), errors: output.errors() });
    });
  });
}

function environmentOf({ path, home, configDir, host }: Gh, token: string | undefined): Record<string, string> {
  return {
    PATH: dirname(path),
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_STATE_HOME: home,
    XDG_CACHE_HOME: home,
    GH_CONFIG_DIR: configDir,
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    GH_NO_EXTENSION_UPDATE_NOTIFIER: '1',
    GH_SPINNER_DISABLED: '1',
    GH_PAGER: '',
    GH_BROWSER: '/bin/false',
    NO_COLOR: '1',
    CLICOLOR: '0',
    LC_ALL: 'C',
    TZ: 'UTC',
    ...(host === undefined ? {} : { GH_HOST: host }),
    ...(token === undefined ? {} : host === undefined ? { GH_TOKEN: token } : { GH_ENTERPRISE_TOKEN: token }),
  };
}
