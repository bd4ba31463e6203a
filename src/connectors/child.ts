/**
 * What the runs of other programs have in common: output that is kept up to a bound, and an end that comes.
 */
import type { ChildProcess } from 'node:child_process';

export interface Collected {
  /** Called once more comes than is kept. */
  onOverflow: () => void;
  bytes(): Buffer;
  /** The first words of standard error. */
  errors(): string;
}

/** Keeps what a process says, up to the bounds. */
export function collect(child: ChildProcess, outputBytesMax: number, errorBytesMax: number): Collected {
  const chunks: Buffer[] = [];
  let total = 0;
  let errorText = '';
  const collected: Collected = {
    onOverflow: () => {},
    bytes: () => Buffer.concat(chunks),
    errors: () => errorText,
  };
  child.stdout?.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (total <= outputBytesMax) chunks.push(chunk);
    else collected.onOverflow();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errorText = (errorText + chunk.toString('utf8')).slice(0, errorBytesMax);
  });
  return collected;
}

export interface Stopper {
  now(): void;
  asked(): boolean;
  release(): void;
}

/** Asks a process to end, so that it removes its lock files, and kills it when it doesn't. */
export function stopper(child: ChildProcess, stopMsMax: number): Stopper {
  let asked = false;
  let killer: NodeJS.Timeout | undefined;
  return {
    now: (): void => {
      if (asked) return;
      asked = true;
      child.kill('SIGTERM');
      killer = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
    },
    asked: () => asked,
    release: (): void => clearTimeout(killer),
  };
}
