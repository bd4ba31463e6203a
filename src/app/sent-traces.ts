/**
 * Spans that are sent to a collector by the SDK of OpenTelemetry, a batch at a time. Loaded where one is configured.
 *
 * It promises that a collector that is slow, full or gone changes nothing of what the gate does: spans are dropped.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Fault, isOurs, LIMITS, type SpanFacts, type SpanOptions } from '../core/index.js';
import { startTimer } from './clock.js';
import type { Telemetry } from './telemetry.js';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

export class SentTraces implements Telemetry {
  readonly #provider: BasicTracerProvider;
  /** Of this gate alone: an application around it has a context of its own. */
  readonly #within = new AsyncLocalStorage<Context>();

  constructor(url: string, service: string) {
    const exporter = new OTLPTraceExporter({ url, timeoutMillis: LIMITS.traceSendMsMax });
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': service }),
      spanProcessors: [new BatchSpanProcessor(exporter, { exportTimeoutMillis: LIMITS.traceSendMsMax })],
    });
  }

  span<T>(name: string, options: SpanOptions, act: (tell: (facts: SpanFacts) => void) => Promise<T>): Promise<T> {
    const { facts = {}, kind, parent } = options;
    const before = this.#within.getStore() ?? remoteContext(parent) ?? ROOT_CONTEXT;
    const how = { attributes: facts, kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind] };
    const span = this.#provider.getTracer('countersign').startSpan(name, how, before);
    return this.#within.run(trace.setSpan(before, span), async () => {
      try {
        return await act((more) => void span.setAttributes(more));
      } catch (error) {
        // A code says what happened; messages stay here.
        if (isOurs(error)) span.setAttribute('countersign.code', error.code);
        if (!isOurs(error) || error instanceof Fault) span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  }

  traceparent(): string | undefined {
    const context = this.#within.getStore();
    const own = context === undefined ? undefined : trace.getSpanContext(context);
    if (own === undefined) return undefined;
    return `00-${own.traceId}-${own.spanId}-0${own.traceFlags & TraceFlags.SAMPLED}`;
  }

  async close(): Promise<void> {
    const timer = startTimer(LIMITS.traceSendMsMax);
    await Promise.race([this.#provider.shutdown().catch(() => undefined), timer.rings]);
    timer.stop();
  }
}

/** Whoever asked may go on with their own trace; what is none begins one. */
function remoteContext(parent: string | undefined): Context | undefined {
  const found = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(parent ?? '');
  const [, traceId = '', spanId = ''] = found ?? [];
  if (found === null || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}
