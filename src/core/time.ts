/**
 * Time and chance are passed in, never called for, so that a simulation can replay any run from a seed.
 * Times are whole milliseconds since 1970-01-01T00:00:00Z; people read them as ISO 8601 in UTC.
 * Source: spec core (clock and randomness).
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. It may jump. */
  now(): number;
  /** Milliseconds since some fixed point; it never goes back. */
  monotonic(): number;
}

export interface Random {
  /** `count` bytes from a cryptographically secure source. */
  bytes(count: number): Uint8Array;
}

/** A time that runs out once, or is stopped before. */
export interface Timer {
  /** Resolves when the time is over; never once it was stopped. */
  readonly rings: Promise<void>;
  stop(): void;
}

/** What came before a timer rang; undefined when it rang first. The timer is stopped in either case. */
export async function beforeRing<T>(timer: Timer, asked: T | Promise<T>): Promise<{ readonly answer: T } | undefined> {
  try {
    return await Promise.race([
      Promise.resolve(asked).then((answer) => ({ answer })),
      timer.rings.then(() => undefined),
    ]);
  } finally {
    timer.stop();
  }
}

const DAY_MS = 86_400_000;

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/**
 * `2026-11-30T03:38:46.000Z` for milliseconds since the epoch; years 1970 to 9999, else `invalid time`.
 * The civil date of a day number, after Howard Hinnant's published algorithm (days counted from 0000-03-01).
 */
export function isoTime(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms >= 253_402_300_800_000) return 'invalid time';
  const days = Math.floor(ms / DAY_MS) + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const time = ms % DAY_MS;
  const hour = Math.floor(time / 3_600_000);
  const minute = Math.floor(time / 60_000) % 60;
  const second = Math.floor(time / 1_000) % 60;
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  return `${date}T${padded(hour, 2)}:${padded(minute, 2)}:${padded(second, 2)}.${padded(time % 1_000, 3)}Z`;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `24h` or `7d`. */
export const DURATION = /^[1-9]\d{0,5}[smhd]$/;
export const DURATION_WORDS = 'a duration is a whole number and one of s, m, h, d, such as `15m`';

/** A duration in milliseconds; undefined for a text that is none. */
export function parseDuration(text: string): number | undefined {
  return DURATION.test(text) ? Number(text.slice(0, -1)) * (UNITS_MS[text.slice(-1)] as number) : undefined;
}
