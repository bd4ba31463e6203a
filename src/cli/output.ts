/**
 * How the command line speaks. Results go to standard output, everything about them to standard error.
 *
 * 1. `--json`: one JSON value on standard output, in ASCII; a refusal is one JSON error object on standard error.
 * 2. Else text for people: every value from outside passes `displayText`; nothing is cut; colours only where a terminal
 *    shows them and `NO_COLOR` is not set.
 * 3. Exit codes: 0 done, 1 refused, 2 usage, 3 certain failure of an executed action, 4 outcome unknown, 5 not
 *    signed yet, 70 a fault of ours.
 * Source: spec doors (command line).
 */
import colors from 'picocolors';
import type { ActionState } from '../app/index.js';
import { asciiJson, CODES, displayText, type Fault, isoTime, type Refusal } from '../core/index.js';

export const EXIT = { done: 0, refused: 1, usage: 2, failed: 3, unknown: 4, unsigned: 5, fault: 70 } as const;

export interface Output {
  readonly json: boolean;
  readonly streams: Streams;
  /** A line of text for people; nothing with `--json`. */
  line(text?: string): void;
  /** The result as JSON; nothing without `--json`. */
  value(value: unknown): void;
  /** A remark on standard error, for people. */
  note(text: string): void;
}

/** Where a command writes: the streams of the process, or those of somebody who runs it inside. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
}

export const processStreams: Streams = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

export function makeOutput(json: boolean, streams: Streams): Output {
  return {
    json,
    streams,
    line: (text = '') => {
      if (!json) streams.out(`${text}\n`);
    },
    value: (value) => {
      if (json) streams.out(`${asciiJson(value)}\n`);
    },
    note: (text) => {
      if (!json) streams.err(`${text}\n`);
    },
  };
}

/** Text from outside, made safe for a terminal. */
export function shown(text: string | number | null | undefined): string {
  return text === null || text === undefined ? '' : displayText(String(text));
}

export const paint = {
  good: (text: string) => colors.green(text),
  bad: (text: string) => colors.red(text),
  warn: (text: string) => colors.yellow(text),
  dim: (text: string) => colors.dim(text),
  bold: (text: string) => colors.bold(text),
};

/** What people read for the states of the source. */
const STATE_WORDS: Readonly<Record<ActionState['state'], string>> = {
  proposed: 'waiting for approval',
  approved: 'approved',
  launched: 'running',
  confirmed: 'confirmed',
  failed: 'failed without effect',
  unknown: 'outcome unknown: it may have happened',
  cancelled: 'cancelled',
};

export const STATE_NAMES = Object.keys(STATE_WORDS);

export function stateWord(state: string, byPolicy = false): string {
  if (state === 'approved' && byPolicy) return 'allowed by policy';
  return STATE_WORDS[state as ActionState['state']] ?? state;
}

/** What people read for the outcomes of policy. */
const OUTCOME_WORDS: Readonly<Record<string, string>> = {
  ALLOW: 'allowed by policy',
  REQUIRE_APPROVAL: 'ask',
  DENY: 'denied by policy',
};

export function outcomeWord(outcome: string): string {
  return OUTCOME_WORDS[outcome] ?? outcome;
}

export function paintState(state: string, byPolicy = false): string {
  const word = stateWord(state, byPolicy);
  if (state === 'confirmed' || state === 'approved') return paint.good(word);
  if (state === 'failed' || state === 'unknown') return paint.bad(word);
  return state === 'cancelled' ? paint.dim(word) : paint.warn(word);
}

/** A time with how far away it is: `2026-11-30T04:00:00.000Z (in 15 min)`. */
export function timeText(ms: number, now: number): string {
  const minutes = Math.round(Math.abs(ms - now) / 60_000);
  const distance = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return `${isoTime(ms)} (${ms >= now ? `in ${distance}` : `${distance} ago`})`;
}

/** Writes a refusal or a fault, and answers the exit code. The cause of a fault is for the log alone. */
export function writeError(output: Output, error: Refusal | Fault): number {
  const { code, message, path, details, next } = error;
  const { exit } = CODES[code];
  if (output.json) {
    const body = {
      code,
      message,
      ...(path === undefined ? {} : { path }),
      ...(details === undefined ? {} : { details }),
      next,
    };
    output.streams.err(`${asciiJson({ error: body })}\n`);
  } else {
    const word = error.name === 'Refusal' ? 'refused' : 'fault';
    output.streams.err(`${paint.bad(`${word} [${code}]`)}: ${shown(message)}\n`);
    const isNamed = path === undefined || `${message} ${next}`.includes(path);
    if (!isNamed) output.streams.err(`  field: ${shown(path)}\n`);
    output.streams.err(`  next: ${shown(next)}\n`);
  }
  return exit;
}

/** Lines as a table with a head; a narrow screen wraps it by itself. */
export async function writeTable(
  output: Output,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  if (output.json) return;
  const { default: Table } = await import('cli-table3');
  const table = new Table({ head: head.map((name) => paint.bold(name)), style: { head: [], border: [] } });
  for (const row of rows) table.push([...row]);
  output.streams.out(`${table.toString()}\n`);
}
