/**
 * Every connector of this build, one line each: its name, the schema of its configuration, and how it is opened.
 *
 * It promises: a configuration opens only what it names; an unknown connector or field is refused.
 * Adding a connector is a folder and a line here.
 * Source: spec authority (trust configuration), design (adding something is one place).
 */

import type { ZodType } from 'zod';
import * as z from 'zod';
import { Refusal } from '../core/index.js';
import type { Call, Connector, Log, Operation } from './connector.js';
import { gitLocal, gitLocalConfig } from './git-local/index.js';
import { gitMerge, gitMergeConfig } from './git-merge/index.js';
import { httpConfig, httpConnector } from './http/index.js';
import { shellNoop, shellNoopConfig } from './shell-noop/index.js';
import { WorkerDesk, workerConfig, workerConnector } from './worker/index.js';

/** What the gate lends to every connector. */
export interface ConnectorHost {
  /** A folder of the gate's own, by its absolute path; each connector gets one inside. */
  readonly stateDir: string;
  /** Wall time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly log?: Log;
  /** Where workers come; absent in a process to which none can come. */
  readonly desk?: WorkerDesk;
}

/** A desk to which nobody comes. */
function emptyDesk(now: () => number): WorkerDesk {
  return new WorkerDesk({
    now,
    monotonic: () => 0,
    timer: () => ({ rings: Promise.resolve(), stop: () => undefined }),
  });
}

interface ConnectorType {
  readonly config: ZodType;
  open(config: unknown, host: ConnectorHost): Connector;
}

function type<Config>(
  config: ZodType<Config>,
  open: (config: Config, host: ConnectorHost) => Connector,
): ConnectorType {
  return {
    config,
    open: (given, host) => {
      const parsed = config.safeParse(given);
      if (parsed.success) return open(parsed.data, host);
      const path = (parsed.error.issues[0]?.path ?? []).map(String).join('.');
      throw new Refusal('config_invalid', 'the configuration of a connector can not be used', { path });
    },
  };
}

export const CONNECTORS: Readonly<Record<string, ConnectorType>> = {
  'git-local': type(gitLocalConfig, ({ repositories, git_path, identity }, { stateDir, now }) =>
    gitLocal({
      repositories,
      stateDir,
      now,
      ...(git_path === undefined ? {} : { gitPath: git_path }),
      ...(identity === undefined ? {} : { identity }),
    }),
  ),
  'git-merge': type(gitMergeConfig, (config, { stateDir, now }) => gitMerge({ config, stateDir, now })),
  http: type(httpConfig, (config, { now }) => httpConnector({ config, now })),
  'shell-noop': type(shellNoopConfig, ({ dir }, { now }) => shellNoop({ dir, now })),
  worker: type(workerConfig, (config, { now, desk = emptyDesk(now) }) => workerConnector({ config, now, desk })),
};

/** The `connectors` part of the trust configuration: each connector at most once, each with its own closed schema. */
export const connectorsConfig: ZodType<Readonly<Record<string, unknown>>> = z.strictObject(
  Object.fromEntries(Object.entries(CONNECTORS).map(([name, { config }]) => [name, config.optional()])),
);

/** Opens what the configuration names, by name. Throws `config_invalid`. */
export function openConnectors(
  config: Readonly<Record<string, unknown>>,
  host: ConnectorHost,
): ReadonlyMap<string, Connector> {
  const opened = new Map<string, Connector>();
  for (const [name, given] of Object.entries(config)) {
    const found = Object.hasOwn(CONNECTORS, name) ? CONNECTORS[name] : undefined;
    if (found === undefined) {
      throw new Refusal('config_invalid', 'the configuration names an unknown connector', { path: 'connectors' });
    }
    if (given === undefined) continue;
    const connector = found.open(given, { ...host, stateDir: `${host.stateDir}/${name}` });
    opened.set(name, host.log === undefined ? connector : telling(connector, host.log));
  }
  return opened;
}

/** The same connector; what a call throws becomes an unknown outcome, and its cause is told to the log alone. */
function telling(connector: Connector, log: Log): Connector {
  const told = async <Answer>(what: string, ask: () => Promise<Answer>) => {
    try {
      return await ask();
    } catch (error) {
      log.write('warn', `${connector.name} ${what}`, error);
      throw error;
    }
  };
  const heard = new WeakMap<Operation, Operation>();
  const hear = (operation: Operation): Operation => {
    const { execute, reconcile } = operation;
    // Everything else stays the operation's own, its digest among it, which is made when it is asked for.
    return Object.assign(Object.create(operation) as Operation, {
      execute: (call: Call) => told('did not answer a call', () => execute.call(operation, call)),
      ...(reconcile === undefined
        ? {}
        : { reconcile: (call: Call) => told('could not be asked', () => reconcile.call(operation, call)) }),
    });
  };
  return Object.assign(Object.create(connector) as Connector, {
    operation: async (name: string) => {
      const operation = await connector.operation(name);
      if (operation === undefined) return undefined;
      const known = heard.get(operation) ?? hear(operation);
      heard.set(operation, known);
      return known;
    },
  });
}
