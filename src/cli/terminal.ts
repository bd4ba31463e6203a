/**
 * What is asked of a person at a terminal: a passphrase, a code, a yes. Without a terminal there is nobody to ask.
 */
import { LIMITS, Refusal } from '../core/index.js';

export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

function demandTerminal(what: string): void {
  if (!hasTerminal()) throw new Refusal('no_terminal', `${what} needs a terminal`);
}

/**
 * Asks, and takes the end of the input (Ctrl-D, a terminal that is gone) for an answer: that nobody gives one.
 * INVARIANT: a question ends, whatever becomes of the terminal (cli.question.ends).
 */
async function asking<Answer>(ask: (signal: AbortSignal) => Promise<Answer>, until?: AbortSignal): Promise<Answer> {
  const over = new AbortController();
  const end = () => over.abort();
  const onKey = (_: unknown, key?: { readonly ctrl?: boolean; readonly name?: string }) => {
    if (key?.ctrl === true && key.name === 'd') end();
  };
  const { stdin } = process;
  stdin.on('keypress', onKey).once('end', end).once('close', end);
  try {
    return await ask(until === undefined ? over.signal : AbortSignal.any([over.signal, until]));
  } finally {
    stdin.off('keypress', onKey).off('end', end).off('close', end);
  }
}

const AGAIN = 'run the command again';

/** Asks for a passphrase without showing it; twice where it is a new one. Refuses `no_terminal`. */
export async function askPassphrase(message: string, isNew = false): Promise<string> {
  demandTerminal('a passphrase');
  const { password, isCancel } = await import('@clack/prompts');
  const first = await asking((signal) => password({ message, signal }));
  if (isCancel(first)) throw new Refusal('invalid', 'no passphrase was typed', { next: AGAIN });
  if (!isNew) return first;
  const second = await asking((signal) => password({ message: 'The same passphrase again', signal }));
  if (isCancel(second) || second !== first) {
    throw new Refusal('invalid', 'the passphrases are not the same', { next: AGAIN });
  }
  return first;
}

/** Asks for a line of text. Refuses `no_terminal`. */
export async function askText(message: string, initialValue?: string, signal?: AbortSignal): Promise<string> {
  demandTerminal('this question');
  const { text, isCancel } = await import('@clack/prompts');
  const typed = await asking(
    (over) => text({ message, signal: over, ...(initialValue === undefined ? {} : { initialValue }) }),
    signal,
  );
  if (isCancel(typed)) throw new Refusal('invalid', 'nothing was typed', { next: AGAIN });
  return typed;
}

/**
 * A passphrase from where the caller says: `env:NAME` or `file:PATH`, else from the terminal.
 * A passphrase that a program can read is one that an agent of the same user can read: the terminal is the safe place.
 */
export async function readPassphrase(source: string | undefined, message: string, isNew = false): Promise<string> {
  if (source === undefined) return askPassphrase(message, isNew);
  if (source.startsWith('env:')) {
    const { readEnvironment } = await import('../app/index.js');
    const value = readEnvironment().variable(source.slice('env:'.length));
    if (value === undefined)
      throw new Refusal('invalid', 'the passphrase variable is not set', { path: 'passphrase-from' });
    return value;
  }
  if (source.startsWith('file:')) {
    const { FILE_REASONS, readPlainFile, textOf } = await import('../app/internal.js');
    const read = readPlainFile(source.slice('file:'.length), LIMITS.configBytesMax);
    if (read.ok) return textOf(read.bytes).replace(/\r?\n$/, '');
    throw new Refusal('invalid', `the passphrase file ${FILE_REASONS[read.reason]}`, { path: 'passphrase-from' });
  }
  throw new Refusal('invalid', 'a passphrase comes from `env:NAME` or `file:PATH`', { path: 'passphrase-from' });
}
