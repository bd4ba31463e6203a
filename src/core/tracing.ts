/**
 * Traces, as the gate sees them: a span around what is done, and its name for others to go on with. Pure: who keeps
 * the spans is handed in, and where nobody does, nothing is done.
 *
 * A span tells verbs, ids, states and codes. INVARIANT: no argument, target, word or secret is told (app.traces.facts).
 * Source: spec doors (HTTP API: traces).
 */
import { PATTERNS } from './ids.js';

export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  readonly facts?: SpanFacts;
  /** Whether it answers somebody, or asks somebody. */
  readonly kind?: 'server' | 'client';
  /** The `traceparent` of whoever asked. */
  readonly parent?: string | undefined;
}

export interface Tracing {
  /** Does `act` within a span; what `act` tells is kept with it. */
  span<T>(name: string, options: SpanOptions, act: (tell: (facts: SpanFacts) => void) => Promise<T>): Promise<T>;
  /** The span that we are in, as W3C Trace Context writes it. */
  traceparent(): string | undefined;
}

/** INVARIANT: a code from outside is a fact where it is a short word, and no other text is (app.traces.facts). */
export function codeFact(code: string | undefined): SpanFacts {
  return code !== undefined && PATTERNS.outcomeCode.test(code) ? { 'countersign.code': code } : {};
}

export function traced<T>(
  tracing: Tracing | undefined,
  name: string,
  options: SpanOptions,
  act: (tell: (facts: SpanFacts) => void) => Promise<T>,
): Promise<T> {
  return tracing === undefined ? act(() => undefined) : tracing.span(name, options, act);
}
