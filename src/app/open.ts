/**
 * The composition root: puts a gate together from its home. `open()` is the front door of the library.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { actionKind, type Caller, refusalKind, type Services } from '../actions/index.js';
import { type Act, type IssuedAct, ProofVerifier, requestKind } from '../approvals/index.js';
import type { Connector } from '../connectors/index.js';
import {
  bytesToHex,
  type Clock,
  type Failpoint,
  Fault,
  IdMinter,
  isOurs,
  PATTERNS,
  publicKeyBytes,
  type Random,
  Refusal,
} from '../core/index.js';
import { keyKind, LEDGER_RECORD, ledgerKind, personKind } from '../identity/index.js';
import { type Ledger, LocalLedger, registerKinds, SqliteStore } from '../ledger/index.js';
import { readThreadKey, threadKind, threadProjection } from '../messages/index.js';
import { classRule, configKind, type PolicyEngine } from '../policy/index.js';
import { sleep, systemClock } from './clock.js';
import { type Environment, readEnvironment } from './config.js';
import { Gate } from './gate.js';
import { checkHome, type Home, homeAt } from './home.js';
import { systemRandom } from './random.js';
import { readSeen, rollbackBarrier, type Seen, seenOf, writeSeen } from './seen.js';
import { threadEntry } from './thread-entries.js';
import { type GateTool, makeTool, type ToolDefinition } from './tool.js';
import { ToolConnector } from './tool-connector.js';
import { Trust } from './trust.js';

export interface OpenOptions {
  /** The gate's home; else `COUNTERSIGN_HOME`, else the user's config folder. */
  readonly home?: string;
  /** Who asks, as `agent:NAME`; `agent:local` when absent. The trust configuration has to name it. */
  readonly as?: string;
  /** For tests and simulation. */
  readonly clock?: Clock;
  readonly random?: Random;
  readonly policy?: PolicyEngine;
  readonly failpoint?: Failpoint;
  readonly connectors?: readonly Connector[];
}

export const ALL_KINDS = registerKinds([
  ledgerKind,
  configKind,
  personKind,
  keyKind,
  requestKind,
  actionKind,
  threadKind,
  refusalKind,
]);

/** How often the gate writes down what it has seen, while it works. */
const SEEN_MS = 1_000;

export interface OpenedStore {
  readonly ledger: Ledger;
  readonly ledgerId: string;
}

/** Opens the store of a home, or makes it for a new ledger. */
export function openStore(
  home: Home,
  options: Pick<OpenOptions, 'clock' | 'random' | 'failpoint'>,
  newLedgerId?: string,
): OpenedStore {
  const { clock = systemClock, random = systemRandom, failpoint } = options;
  const store = new SqliteStore(home.store, newLedgerId);
  const signer = readThreadKey(readKey(home.threadKey));
  const ledger = new LocalLedger({
    store,
    kinds: ALL_KINDS,
    clock,
    random,
    projections: [threadProjection({ signer, entryOf: threadEntry })],
    ...(failpoint === undefined ? {} : { failpoint }),
  });
  return { ledger, ledgerId: store.ledgerId };
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Fault('store', 'the key that signs the threads can not be read', error);
  }
}

/** A home whose store is gone is no new home: its gate remembers a ledger. */
function demandStore(home: Home): void {
  if (existsSync(home.store)) return;
  if (!existsSync(home.seenFile)) throw new Refusal('not_initialized', `there is no ledger in \`${home.folder}\``);
  const next = 'put a backup back with `countersign restore FILE`';
  throw new Refusal('ledger_rolled_back', `the store of the ledger in \`${home.folder}\` is gone`, { next });
}

/** Opens the gate of a home. Refuses `not_initialized`, `config_location`, `forbidden`; faults `store`, `corrupt`. */
export async function open(options: OpenOptions = {}): Promise<CountersignGate> {
  const environment = readEnvironment();
  const home = homeAt(options.home, environment);
  demandStore(home);
  checkHome(home);
  const { ledger, ledgerId } = openStore(home, options);
  try {
    return await openGate(options, home, environment, ledger, ledgerId);
  } catch (error) {
    await ledger.close();
    throw isOurs(error) ? error : new Fault('internal', 'the gate could not be opened', error);
  }
}

async function openGate(
  options: OpenOptions,
  home: Home,
  environment: Environment,
  ledger: Ledger,
  ledgerId: string,
): Promise<CountersignGate> {
  const { clock = systemClock, random = systemRandom, policy = classRule, failpoint = () => undefined } = options;
  const tools = new ToolConnector();
  const extra = new Map(
    [tools, ...(options.connectors ?? [])].map((connector): [string, Connector] => [connector.name, connector]),
  );
  mkdirSync(home.workFolder, { recursive: true, mode: 0o700 });
  const trust = new Trust(ledger, { stateDir: home.workFolder, now: () => clock.now() }, extra);
  await trust.reload();
  const caller = callerFor(options.as ?? 'agent:local', trust);
  const memory = await Memory.open(ledger, ledgerId, home);
  const services: Services = {
    ledger,
    clock,
    random,
    ids: new IdMinter(clock, random),
    proofs: new ProofVerifier(),
    policy,
    failpoint,
    trust: () => trust.active(),
    reloadTrust: async () => {
      await trust.reload();
      callerFor(caller.principal, trust);
    },
    connector: (name) => trust.connector(name),
    secret: (name) => readSecret(trust, environment, name),
    launchBarrier: () => memory.barrier,
    sleep,
  };
  return new CountersignGate(services, caller, {
    home,
    tools,
    memory,
    admit: () => callerFor(caller.principal, trust),
  });
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
  if (source.startsWith('env:')) return environment.secret(source.slice('env:'.length));
  try {
    return readFileSync(source.slice('file:'.length), 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Fault('store', 'a secret can not be read', error);
  }
}

/** What the gate has seen of its ledger, written down outside the store while it works. */
class Memory {
  barrier: Refusal | undefined;
  readonly #ledger: Ledger;
  readonly #ledgerId: string;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  #written = -1;

  static async open(ledger: Ledger, ledgerId: string, home: Home): Promise<Memory> {
    const epoch = (await ledger.read(ledgerKind, LEDGER_RECORD.id))?.state.epoch ?? 0;
    let barrier: Refusal | undefined;
    try {
      barrier = await rollbackBarrier(ledger, ledgerId, epoch, readSeen(home.seenFile));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      barrier = new Refusal('ledger_rolled_back', 'what this gate remembers of its ledger is damaged');
    }
    return new Memory(ledger, ledgerId, home.seenFile, barrier);
  }

  private constructor(ledger: Ledger, ledgerId: string, path: string, barrier: Refusal | undefined) {
    this.#ledger = ledger;
    this.#ledgerId = ledgerId;
    this.#path = path;
    this.barrier = barrier;
    this.#timer = setInterval(() => {
      this.#write(false).catch(() => {
        this.barrier = new Refusal('ledger_rolled_back', 'this gate can not write down what it has seen');
      });
    }, SEEN_MS);
    this.#timer.unref();
  }

  /** Accepts the store as it is, after a person's receipt said so. */
  async accept(): Promise<void> {
    this.barrier = undefined;
    await this.#write(true);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write(false);
  }

  async #write(force: boolean): Promise<void> {
    if (this.barrier !== undefined) return;
    const head = await this.#ledger.head();
    if (head.sequence === this.#written && !force) return;
    const epoch = (await this.#ledger.read(ledgerKind, LEDGER_RECORD.id))?.state.epoch ?? 0;
    writeSeen(this.#path, seenOf(this.#ledgerId, epoch, head), { force });
    this.#written = head.sequence;
  }
}

interface GateParts {
  readonly home: Home;
  readonly tools: ToolConnector;
  readonly memory: Memory;
  /** Throws where the configuration no longer lets this process speak as its agent. */
  admit(): Caller;
}

/** A gate that was opened from a home: the verbs of `Gate`, and tools of this process. */
export class CountersignGate extends Gate {
  readonly home: Home;
  readonly #tools: ToolConnector;
  readonly #memory: Memory;

  constructor(services: Services, caller: Caller, parts: GateParts) {
    const { home, tools, memory, admit } = parts;
    const close = async () => {
      try {
        await memory.close();
      } finally {
        await services.ledger.close();
      }
    };
    super(services, caller, close, () => void admit());
    this.home = home;
    this.#tools = tools;
    this.#memory = memory;
  }

  /** Puts a function of this process behind the gate. */
  tool<Input>(definition: ToolDefinition<Input>): GateTool<Input> {
    return makeTool(this, this.#tools, definition);
  }

  /** What this gate remembers of its ledger outside the store; undefined where that is nothing, or damaged. */
  seen(): Seen | undefined {
    try {
      return readSeen(this.home.seenFile);
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  /** What a restore is shown against is what this gate remembers, whoever asks for it. */
  override async requestAct(act: Act, person?: string): Promise<IssuedAct> {
    const seen = act.kind === 'restore' ? this.seen() : undefined;
    const remembered = seen && { sequence: seen.sequence, log_hash: seen.log_hash };
    return super.requestAct(act.kind === 'restore' && remembered !== undefined ? { ...act, remembered } : act, person);
  }

  override async submit(value: unknown) {
    const submitted = await super.submit(value);
    if (submitted.act?.kind === 'restore') await this.#memory.accept();
    return submitted;
  }

  /** The public half of the key that signs this gate's threads, 64 hex digits. */
  threadPublicKey(): string {
    return bytesToHex(publicKeyBytes(readThreadKey(readKey(this.home.threadKey))));
  }
}
