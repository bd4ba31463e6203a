/**
 * Runs the built command line as a user does: a process of its own, its exit code, its two streams.
 */
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './files.js';

const MAIN = join(ROOT, 'dist', 'bin', 'main.js');

export interface Ran {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly folder?: string;
  /** Runs it as another user than the superuser, whom no mode of a file keeps out. */
  readonly plainUser?: boolean;
}

const NOBODY = 65_534;
const isSuperuser = process.getuid?.() === 0;

/** Gives a folder with all that is in it to the user of `plainUser`. */
export function giveToPlainUser(folder: string): void {
  if (isSuperuser) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder]);
}

/** Runs `countersign` with these words. Without a terminal, as a program would. */
export function countersign(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run(process.execPath, [MAIN, ...words], options);
}

/**
 * Runs `countersign` in a pseudo-terminal (`script` of util-linux) and answers its questions: each answer is typed once the
 * text before it was shown. Answers what the terminal showed.
 */
export function countersignAtTerminal(
  words: readonly string[],
  answers: readonly { readonly after: string | RegExp; readonly type: string | ((shown: string) => string) }[],
): Promise<{ exit: number | null; shown: string }> {
  const quoted = [process.execPath, MAIN, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['-qefc', `stty cols 200 rows 50; ${quoted}`, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm', COLUMNS: '200' },
  });
  let shown = '';
  let from = 0;
  const left = [...answers];
  const answer = () => {
    const next = left[0];
    if (next === undefined) return;
    const rest = shown.slice(from);
    const at = typeof next.after === 'string' ? rest.indexOf(next.after) : rest.search(next.after);
    if (at < 0) return;
    left.shift();
    const text = typeof next.type === 'string' ? next.type : next.type(shown);
    from = shown.length;
    // A prompt is drawn before it listens; a person is slower than that too.
    setTimeout(() => child.stdin.write(`${text}\r`), 300);
  };
  child.stdout.on('data', (data: Buffer) => {
    shown += data.toString('utf8');
    answer();
  });
  const stop = setTimeout(() => child.kill('SIGKILL'), 60_000);
  return new Promise((resolve) => {
    child.on('close', (exit) => {
      clearTimeout(stop);
      resolve({ exit, shown });
    });
  });
}

function run(
  program: string,
  words: readonly string[],
  { environment = {}, input = '', folder, plainUser = false }: RunOptions,
): Promise<Ran> {
  const env = { ...process.env, NO_COLOR: '1', ...environment };
  // One that hangs ends without an exit code.
  const bound = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
  const user = plainUser && isSuperuser ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program, words, { env, ...bound, ...user, ...(folder === undefined ? {} : { cwd: folder }) });
  let out = '';
  let err = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString('utf8');
  });
  child.stderr.on('data', (data: Buffer) => {
    err += data.toString('utf8');
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (exit) => resolve({ exit, out, err })));
}
