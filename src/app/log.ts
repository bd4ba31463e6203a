/**
 * The log of a gate: what no caller is told, one line of JSON for each, on standard error. It is silent unless somebody
 * asks for it.
 *
 * It promises: a line is one object in ASCII, bounded, with every secret masked that `redact` knows; an error is told
 * once, by whoever saw it first; writing never throws.
 * Source: spec core (redact), doors (configuration: logging).
 */
import type { Log, LogLevel } from '../connectors/index.js';
import { asciiJson, type Clock, isOurs, isoTime, type JsonObject, LIMITS, redact } from '../core/index.js';
import { systemClock } from './clock.js';
import type { Environment } from './config.js';
import { LOG_LEVELS, type LogThreshold, settingFrom } from './settings.js';

/** Writes what is at least as grave as `threshold`; undefined for a silent one. */
export function makeLog(threshold: LogThreshold, clock: Clock, write: (line: string) => void): Log | undefined {
  if (threshold === 'silent') return undefined;
  const told = new WeakSet<object>();
  return {
    write(level: LogLevel, what: string, cause?: unknown) {
      if (LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(threshold)) return;
      if (isOurs(cause) && cause.name === 'Fault') {
        if (told.has(cause)) return;
        told.add(cause);
      }
      try {
        const line = redact({ at: isoTime(clock.now()), level, what, ...describe(cause) });
        write(`${asciiJson(line)}\n`);
      } catch {
        // A log that fails must not change what the gate does.
      }
    },
  };
}

/** The log on standard error that `COUNTERSIGN_LOG` asks for. Refuses `config_invalid` for what is no level. */
export function standardLog({ variable }: Environment): Log | undefined {
  const threshold = settingFrom(variable, 'log') ?? 'silent';
  return makeLog(threshold, systemClock, (line) => void process.stderr.write(line));
}

/** An error and what caused it, outermost first, and where the innermost arose. */
function describe(cause: unknown): JsonObject {
  const causes: string[] = [];
  let inner = cause;
  for (let depth = 0; inner !== undefined && depth < LIMITS.logCausesMax; depth += 1) {
    causes.push(bounded(isOurs(inner) ? `${inner.name} [${inner.code}]: ${inner.message}` : String(inner)));
    if (!(inner instanceof Error)) break;
    if (inner.cause === undefined) break;
    inner = inner.cause;
  }
  const stack = inner instanceof Error && !isOurs(inner) ? inner.stack : undefined;
  return {
    ...(causes.length === 0 ? {} : { causes }),
    ...(stack === undefined ? {} : { stack: bounded(stack) }),
  };
}

function bounded(text: string): string {
  return text.slice(0, LIMITS.logTextCharsMax);
}
