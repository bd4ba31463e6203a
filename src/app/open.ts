/**
 * The composition root: puts a gate together from its home. `open()` is the front door of the library.
 */
import { mkdirSync } from 'node:fs';
import { ActionMemo, type Caller, type Services } from '../actions/index.js';
import { ProofVerifier } from '../approvals/index.js';
import { type Connector, FILE_REASONS, type Log, readPlainFile, textOf, WorkerDesk } from '../connectors/index.js';
import {
  type Clock,
  type Failpoint,
  Fault,
  IdMinter,
  isOurs,
  LIMITS,
  PATTERNS,
  type Random,
  Refusal,
} from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import { CedarEngine, type PolicyEngine } from '../policy/index.js';
import { guardedLog } from './border.js';
import { startTimer, systemClock } from './clock.js';
import { type Environment, readEnvironment } from './config.js';
import { Gate, visitorOf } from './gate.js';
import { checkHome, type Home, homeAt } from './home.js';
import { standardLog } from './log.js';
import { Memory } from './memory.js';
import { Notifier } from './notifier.js';
import { channelHost } from './notify.js';
import { systemRandom } from './random.js';
import { releaseFacts } from './release.js';
import { type Seen, seenIn } from './seen.js';
import { demandStore, openStore } from './store.js';
import { startTelemetry, type Telemetry } from './telemetry.js';
import { threadPublicKey } from './thread-key.js';
import { type GateTool, makeTool } from './tool.js';
import { ToolConnector } from './tool-connector.js';
import type { ToolDefinition } from './tool-definition.js';
import { Trust } from './trust.js';
import { callerOfToken } from './visit.js';

export interface OpenOptions {
  /** The gate's home; else `COUNTERSIGN_HOME`, else the user's config folder. */
  readonly home?: string;
  /** Who asks, as `agent:NAME`; `agent:local` when absent. The trust configuration has to name it. */
  readonly as?: string;
  /** Where causes go that no caller is told; else standard error, where `COUNTERSIGN_LOG` says error, warn or debug. */
  readonly log?: Log;
  /** For tests and simulation. */
  readonly clock?: Clock;
  readonly random?: Random;
  readonly policy?: PolicyEngine;
  readonly failpoint?: Failpoint;
  readonly leaseMs?: number;
  /** Also tells people and programs what waits and what happened, as the trust configuration says; `serve` does. */
  readonly notify?: boolean;
  readonly connectors?: readonly Connector[];
}

/**
 * Opens the gate of a home. Refuses `not_initialized`, `config_location`, `forbidden`; faults `store`, `corrupt`.
 * A gate whose thread key is gone opens, and can only be read: see thread-key.ts.
 */
export async function open(given: OpenOptions = {}): Promise<CountersignGate> {
  const environment = readEnvironment();
  const options = readOptions(given);
  const log = options.log ?? standardLog(environment);
  const home = homeAt(options.home, environment);
  try {
    checkHome(home);
    demandStore(home);
    const { ledger, ledgerId } = await openStore(home, options);
    try {
      return await openGate({ ...options, ...(log === undefined ? {} : { log }) }, home, environment, ledger, ledgerId);
    } catch (error) {
      await ledger.close();
      throw error;
    }
  } catch (error) {
    const ours = isOurs(error) ? error : new Fault('internal', 'the gate could not be opened', error);
    log?.write(ours instanceof Fault ? 'error' : 'debug', 'the gate could not be opened', ours);
    throw ours;
  }
}

/** The options as they are now. Refuses `invalid`, naming nothing that stands there. */
function readOptions(given: OpenOptions): OpenOptions {
  let options: OpenOptions;
  if (typeof given !== 'object' || given === null) throw new Refusal('invalid', 'the options of a gate are an object');
  try {
    options = { ...given };
  } catch {
    throw new Refusal('invalid', 'the options of a gate can not be read');
  }
  for (const name of ['home', 'as'] as const) {
    if (options[name] === undefined || typeof options[name] === 'string') continue;
    throw new Refusal('invalid', `\`${name}\` is a text`, { path: name });
  }
  return options.log === undefined ? options : { ...options, log: guardedLog(options.log) };
}

async function openGate(
  options: OpenOptions,
  home: Home,
  environment: Environment,
  ledger: Ledger,
  ledgerId: string,
): Promise<CountersignGate> {
  const { clock = systemClock, random = systemRandom, failpoint = () => undefined } = options;
  const { policy = new CedarEngine({ monotonic: () => clock.monotonic() }) } = options;
  const tools = new ToolConnector();
  const extra = new Map(
    [tools, ...(options.connectors ?? [])].map((connector): [string, Connector] => [connector.name, connector]),
  );
  mkdirSync(home.workFolder, { recursive: true, mode: 0o700 });
  const log = options.log === undefined ? {} : { log: options.log };
  const now = () => clock.now();
  const desk = new WorkerDesk({ now, monotonic: () => clock.monotonic(), timer: startTimer });
  const trust = new Trust(ledger, { stateDir: home.workFolder, now, desk, ...log }, extra);
  await trust.reload();
  const caller = callerFor(options.as ?? 'agent:local', trust);
  const telemetry = await startTelemetry(environment);
  const memory = await Memory.open(ledger, ledgerId, home, options.log);
  const services: Services = {
    ledger,
    clock,
    random,
    ids: new IdMinter(clock, random),
    proofs: new ProofVerifier(),
    memo: new ActionMemo(),
    policy,
    failpoint,
    ...log,
    ...(telemetry === undefined ? {} : { tracing: telemetry }),
    trust: () => trust.active(),
    reloadTrust: async () => {
      await trust.reload();
      callerFor(caller.principal, trust);
    },
    connector: (name) => trust.connector(name),
    secret: (name) => readSecret(trust, environment, name),
    workItem: releaseFacts(ledger),
    launchBarrier: () => memory.barrier,
    timer: startTimer,
  };
  const gate = new CountersignGate(services, caller, {
    ...{ home, tools, memory, desk, telemetry, environment, leaseMs: options.leaseMs },
    latest: await lastAt(ledger),
    admit: () => callerFor(caller.principal, trust),
  });
  if (options.notify === true) gate.notify();
  return gate;
}

/** INVARIANT: a local process is an agent, whatever it says (authority.local-is-agent). */
function callerFor(principal: string, trust: Trust): Caller {
  if (PATTERNS.human.test(principal)) {
    throw new Refusal('forbidden', 'a person arises only from a signature', { next: 'name an agent: agent:NAME' });
  }
  if (!PATTERNS.agent.test(principal)) throw new Refusal('invalid', 'an agent is named `agent:NAME`', { path: 'as' });
  if (!Object.hasOwn(trust.active().config.agents, principal.slice('agent:'.length))) {
    throw new Refusal('forbidden', 'the configuration does not let this user speak as that agent');
  }
  return { principal };
}

async function readSecret(trust: Trust, environment: Environment, name: string): Promise<string | undefined> {
  const source = trust.active().config.secrets[name];
  if (source === undefined) return undefined;
  if (source.startsWith('env:')) return environment.variable(source.slice('env:'.length));
  const read = readPlainFile(source.slice('file:'.length), LIMITS.configBytesMax);
  if (read.ok) return textOf(read.bytes).replace(/\r?\n$/, '');
  throw new Fault('store', `the file of a secret ${FILE_REASONS[read.reason]}`, read.cause);
}

async function lastAt(ledger: Ledger): Promise<number> {
  const { sequence } = await ledger.head();
  const [last] = sequence === 0 ? [] : await ledger.log(sequence - 1);
  return last?.event.at ?? 0;
}

interface GateParts {
  readonly home: Home;
  /** When the last event of the ledger happened. */
  readonly latest: number;
  readonly tools: ToolConnector;
  readonly memory: Memory;
  readonly environment: Environment;
  readonly leaseMs: number | undefined;
  readonly desk: WorkerDesk;
  readonly telemetry: Telemetry | undefined;
  /** Throws where the configuration no longer lets this process speak as its agent. */
  admit(): Caller;
}

/** A gate that was opened from a home: the verbs of `Gate`, and tools of this process. */
export class CountersignGate extends Gate {
  readonly home: Home;
  /** Where workers of this process's server come. */
  readonly desk: WorkerDesk;
  readonly #tools: ToolConnector;
  readonly #parts: GateParts;
  #notifier: Notifier | undefined;
  #latest: number;

  constructor(services: Services, caller: Caller, parts: GateParts) {
    const { home, tools, memory, desk, telemetry, admit } = parts;
    const close = async () => {
      try {
        await this.#notifier?.close();
        await telemetry?.close();
        await memory.close();
      } finally {
        await services.ledger.close();
      }
    };
    super(services, caller, close, {
      admit: () => void admit(),
      remembered: () => {
        const seen = seenIn(home.seenFile);
        return seen && { epoch: seen.epoch, sequence: seen.sequence, log_hash: seen.log_hash };
      },
      accepted: () => memory.accept(),
    });
    this.home = home;
    this.desk = desk;
    this.#tools = tools;
    this.#parts = parts;
    this.#latest = parts.latest;
  }

  /** From now on people and programs are told, as the trust configuration says, until the gate is closed. */
  notify(options: { readonly publicUrl?: string } = {}): void {
    if (this.#notifier !== undefined) return;
    const { environment, leaseMs } = this.#parts;
    const host = channelHost(environment, this.services.clock);
    this.#notifier = new Notifier(this.services, { ...options, host, ...(leaseMs === undefined ? {} : { leaseMs }) });
    this.#notifier.start();
  }

  /**
   * The time by which tokens, sessions and challenges end, in milliseconds since the epoch.
   * INVARIANT: a clock that is set back lets nobody in again (server.clock).
   */
  now(): number {
    this.#latest = Math.max(this.#latest, this.services.clock.now());
    return this.#latest;
  }

  /** Puts a function of this process behind the gate. */
  tool<Input>(definition: ToolDefinition<Input>): GateTool<Input> {
    return makeTool(this, this.#tools, definition);
  }

  /**
   * The gate for whoever shows a token at a door; it has the verbs that the token's scope covers, and needs no closing.
   * Refuses `unauthenticated`.
   */
  async visitor(token: string): Promise<Gate> {
    const { services } = this;
    return visitorOf(this, await callerOfToken(services.ledger, this.now(), token));
  }

  /** What this gate remembers of its ledger outside the store; undefined where that is nothing, or damaged. */
  seen(): Seen | undefined {
    return seenIn(this.home.seenFile);
  }

  /** The public half of the key that signs this gate's threads, 64 hex digits. Faults `thread_key`. */
  threadPublicKey(): string {
    return threadPublicKey(this.home.threadKey);
  }
}
