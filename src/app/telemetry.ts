/**
 * Whether traces are sent, and where: to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, over OTLP and HTTP.
 * Without it nothing is loaded and nothing leaves.
 * Source: spec doors (HTTP API: traces).
 */
import { Refusal, type Tracing } from '../core/index.js';
import type { Environment } from './config.js';

export interface Telemetry extends Tracing {
  /** Sends what was not sent yet, for a while. */
  close(): Promise<void>;
}

/** Undefined where no collector is named. Refuses `config_invalid` for what is no address of one. */
export async function startTelemetry({ variable }: Pick<Environment, 'variable'>): Promise<Telemetry | undefined> {
  if (variable('OTEL_SDK_DISABLED') === 'true') return undefined;
  const own = variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const endpoint = variable('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (!own && !endpoint) return undefined;
  const url = own ? addressOf(own) : `${addressOf(endpoint ?? '').replace(/\/$/, '')}/v1/traces`;
  const { SentTraces } = await import('./sent-traces.js');
  return new SentTraces(url, variable('OTEL_SERVICE_NAME') || 'countersign');
}

function addressOf(text: string): string {
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (isUrl) return text;
  const next = 'name it as http://HOST:4318, or unset the variable';
  throw new Refusal('config_invalid', '`OTEL_EXPORTER_OTLP_ENDPOINT` is no address of a collector', { next });
}
