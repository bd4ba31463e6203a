/**
 * Runs a program by its absolute path, with its words as they are: no shell reads them, no variable of ours but a few
 * reaches it, and it ends in time.
 */
import { spawn } from 'node:child_process';
import { collect, stopper } from '../connectors/internal.js';
import { NOTIFY_LIMITS } from './limits.js';

export interface ProgramRun {
  /** Of the system or by its words; absent where it could not be started or was ended. */
  readonly exitCode: number | undefined;
  readonly output: Buffer;
}

const STOP_MS = 500;
/** How long what a program said may be on its way after its end. */
const DRAIN_MS = 250;

type Environment = Readonly<Record<string, string>>;

/** It never throws. `environment` is all that the program gets. */
export function runProgram(
  path: string,
  words: readonly string[],
  environment: Environment,
  signal?: AbortSignal,
): Promise<ProgramRun> {
  const none = { exitCode: undefined, output: Buffer.alloc(0) };
  if (!path.startsWith('/') || signal?.aborted === true) return Promise.resolve(none);
  return new Promise((resolve) => {
    const child = begun(path, words, environment);
    if (child === undefined) {
      resolve(none);
      return;
    }
    const output = collect(child, NOTIFY_LIMITS.programBytesMax, 0);
    const stop = stopper(child, STOP_MS);
    const timer = setTimeout(stop.now, NOTIFY_LIMITS.programMsMax);
    output.onOverflow = stop.now;
    signal?.addEventListener('abort', stop.now, { once: true });
    const end = (run: ProgramRun) => {
      clearTimeout(timer);
      stop.release();
      signal?.removeEventListener('abort', stop.now);
      resolve(run);
    };
    child.on('error', () => (child.pid === undefined ? end(none) : undefined));
    const finish = (code: number | null) =>
      end(code === null || stop.asked() ? none : { exitCode: code, output: output.bytes() });
    child.on('close', finish);
    // A program that left one of its own behind is over all the same; what that says is nobody's.
    child.on('exit', (code) => {
      setTimeout(() => {
        child.stdout?.destroy();
        finish(code);
      }, DRAIN_MS).unref();
    });
  });
}

/** Undefined where the system says at once that it can't be: some of its errors are thrown, others come as events. */
function begun(path: string, words: readonly string[], environment: Environment) {
  try {
    return spawn(path, [...words], {
      ...{ cwd: '/', env: environment, shell: false },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}
