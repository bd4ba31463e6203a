/**
 * How benchmarks measure: rounds of all contestants in turn, so that a slow moment of the machine hits each alike; the
 * median of the rounds; ratios rather than absolute times wherever a goal is stated.
 */

/** The middle of `values`; of an even count, the mean of the two in the middle. Throws for none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('no values');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}

/** What is measured: a name and the work of one call, whose result is kept so that it can't be optimized away. */
export type Contestants = Readonly<Record<string, () => unknown>>;

export interface RoundsOptions {
  /** Rounds that count; 15 unless given. */
  readonly rounds?: number;
  /** Rounds before, that don't count; 3 unless given. */
  readonly warmups?: number;
  /** Milliseconds that one contestant works in one round, about; 20 unless given. */
  readonly roundMs?: number;
}

/** The result of the last call, kept on the global object so that no call can be optimized away. */
const kept: { result?: unknown } = {};
Object.assign(globalThis, { benchmarkResult: kept });

/** Median nanoseconds of one call of each contestant, measured in interleaved rounds. */
export function interleaved<C extends Contestants>(
  contestants: C,
  options: RoundsOptions = {},
): Record<keyof C, number> {
  const { rounds = 15, warmups = 3, roundMs = 20 } = options;
  const names = Object.keys(contestants) as (keyof C & string)[];
  const calls = new Map(names.map((name) => [name, callsWithin(contestants[name] as () => unknown, roundMs)]));
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = -warmups; round < rounds; round += 1) {
    for (const name of names) {
      const time = timeOf(contestants[name] as () => unknown, calls.get(name) as number);
      if (round >= 0) times.get(name)?.push(time);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name) as number[])])) as Record<
    keyof C,
    number
  >;
}

/** Nanoseconds of one call, the mean of `calls`. */
function timeOf(work: () => unknown, calls: number): number {
  const startedAt = process.hrtime.bigint();
  for (let call = 0; call < calls; call += 1) kept.result = work();
  return Number(process.hrtime.bigint() - startedAt) / calls;
}

/** How many calls fit into `roundMs`, once the engine knows the work. */
function callsWithin(work: () => unknown, roundMs: number): number {
  let calls = 1;
  while (calls < 1_000_000 && timeOf(work, calls) * calls < (roundMs * 1e6) / 4) calls *= 2;
  return Math.max(1, Math.round((roundMs * 1e6) / timeOf(work, calls)));
}

/** A time as a person reads it: `812 ns`, `5.20 µs`, `3.41 ms`, `1.20 s`. */
export function timeText(nanoseconds: number): string {
  if (nanoseconds < 1_000) return `${nanoseconds.toFixed(0)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toFixed(2)} µs`;
  if (nanoseconds < 1e9) return `${(nanoseconds / 1e6).toFixed(2)} ms`;
  return `${(nanoseconds / 1e9).toFixed(2)} s`;
}

/** Prints rows in columns; the first column to the left, the others to the right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    widths.map((width, column) => (row[column] ?? '')[column === 0 ? 'padEnd' : 'padStart'](width)).join('  ');
  for (const text of [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)]) {
    process.stdout.write(`${text.trimEnd()}\n`);
  }
}
