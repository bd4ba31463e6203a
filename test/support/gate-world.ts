/**
 * A gate in a world that a test holds in its hands: a clock that is set, a connector that counts its effects and behaves as
 * told, people whose keys are at hand, and a store in memory or in a file that can be opened again as after a crash.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ActionMemo, type Proposal, type Services } from '../../src/actions/index.js';
import { startTimer } from '../../src/app/clock.js';
import { Gate } from '../../src/app/gate.js';
import { confirmationCode, homeAt, initialize, open, parseTrustConfig } from '../../src/app/index.js';
import { bootstrapApprover } from '../../src/app/internal.js';
import { ALL_KINDS } from '../../src/app/kinds.js';
import { systemRandom } from '../../src/app/random.js';
import { releaseFacts } from '../../src/app/release.js';
import { threadEntry } from '../../src/app/thread-entries.js';
import { Trust } from '../../src/app/trust.js';
import { type Act, ProofVerifier, type RequestDocument, signWith } from '../../src/approvals/index.js';
import { type Clock, type Failpoint, IdMinter, Refusal } from '../../src/core/index.js';
import { createLedger, LEDGER_RECORD } from '../../src/identity/index.js';
import { type Ledger, LocalLedger, type LocalStore, MemoryStore } from '../../src/ledger/index.js';
import { migratePostgres, PostgresLedger } from '../../src/ledger/postgres/index.js';
import { formatThreadKey, readThreadKey, threadProjection } from '../../src/messages/index.js';
import { applyConfig, CedarEngine, CONFIG_RECORD, type PolicyEngine } from '../../src/policy/index.js';
import { CountingConnector } from './counting-connector.js';
import { ALICE, BOB, type Person } from './gate-people.js';
import { testDatabase } from './postgres.js';

export { ALICE, BOB, keyFileFor, type Person, personWithKey } from './gate-people.js';

/** A clock that moves when it is told to, both sides of it or one. */
export class FakeClock implements Clock {
  wall = Date.now() + 60_000;
  elapsed = 1_000;

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.elapsed;
  }

  advance(ms: number): void {
    this.wall += ms;
    this.elapsed += ms;
  }
}

export const TRUST = `version: 1
name: test
mode: enforce
agents:
  local: { pending_max: none, asks_per_hour: none }
  owned: { owner: human:alice }
approvals:
  - title: anybody
    approvers: ['*']
    separate: [proposer, owner]
    software_key_for_costly: true
`;

export interface WorldOptions {
  readonly trust?: string;
  readonly policy?: PolicyEngine;
  readonly failpoint?: Failpoint;
  /** For the store in memory. */
  readonly store?: LocalStore;
  /** Without a first approver. */
  readonly bare?: boolean;
  readonly as?: string;
  readonly clock?: FakeClock;
}

/** What every world has. */
export interface World {
  readonly clock: FakeClock;
  readonly connector: CountingConnector;
  readonly gate: Gate;
  /** The folder of the home; empty for a world in memory. */
  readonly folder: string;
  /** Another gate on the same store, as another process would have it. */
  another(options?: WorldOptions): Promise<Gate>;
  /** Drops the gate as a crash would, and opens the store again. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export const LEDGER_ID = '0123456789abcdef0123456789abcdef';

/** Set for a run in which every world that is not about a file stands on PostgreSQL: see run-on-postgres.ts. */
export const onPostgres = process.env.COUNTERSIGN_TEST_STORE === 'postgres';

/** A world over a home. */
export async function homeWorld(options: WorldOptions = {}): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'countersign-gate-'));
  const home = homeAt(join(root, 'home'), {});
  const clock = options.clock ?? new FakeClock();
  const connector = new CountingConnector();
  const database = onPostgres ? await testDatabase() : undefined;
  const store = database === undefined ? {} : { store: database.url };
  const { ledgerId } = await initialize(home, { trust: options.trust ?? TRUST, demo: true, ...store });
  const opened: Gate[] = [];
  const openGate = async (more: WorldOptions = {}) => {
    const { policy = options.policy, failpoint = options.failpoint, as = options.as } = more;
    const gate = await open({
      home: home.folder,
      clock,
      connectors: [connector],
      ...(policy === undefined ? {} : { policy }),
      ...(failpoint === undefined ? {} : { failpoint }),
      ...(as === undefined ? {} : { as }),
    });
    opened.push(gate);
    return gate;
  };
  let gate: Gate = await openGate();
  if (options.bare !== true) await confirmFirst(gate, ledgerId);
  return {
    clock,
    connector,
    get gate() {
      return gate;
    },
    folder: home.folder,
    another: openGate,
    reopen: async () => {
      await gate.close();
      gate = await openGate();
    },
    close: async () => {
      for (const one of opened) await one.close().catch(() => undefined);
      await database?.drop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function confirmFirst(gate: Gate, ledgerId: string): Promise<void> {
  const code = confirmationCode(ledgerId, ALICE.key.publicKey);
  await bootstrapApprover(gate.ledger, ledgerId, ALICE.keyText, code, 'demo');
}

const SIGNER = readThreadKey(formatThreadKey(new Uint8Array(32).fill(9)));

/** The services of a gate over any store, by hand. */
export async function servicesOver(
  store: LocalStore,
  clock: Clock,
  connector: CountingConnector,
  options: WorldOptions = {},
): Promise<Services> {
  const ledger = new LocalLedger({ ...ledgerOptions(clock, options), store, random: systemRandom });
  return servicesOn(ledger, store.ledgerId, clock, connector, options);
}

function ledgerOptions(clock: Clock, options: WorldOptions) {
  const projections = [threadProjection({ signer: SIGNER, entryOf: threadEntry })];
  const hook = options.failpoint === undefined ? {} : { failpoint: options.failpoint };
  return { kinds: ALL_KINDS, clock, projections, ...hook };
}

async function servicesOn(
  ledger: Ledger,
  ledgerId: string,
  clock: Clock,
  connector: CountingConnector,
  options: WorldOptions,
): Promise<Services> {
  const trust = new Trust(
    ledger,
    { stateDir: '/nonexistent', now: () => clock.now() },
    new Map([[connector.name, connector]]),
  );
  const isNew = (await ledger.head()).sequence === 0;
  if (isNew) {
    const config = await parseTrustConfig(options.trust ?? TRUST);
    await ledger.commit({
      actor: 'engine:gate',
      writes: [LEDGER_RECORD, CONFIG_RECORD],
      decide: () => ({
        events: [createLedger(ledgerId, config.name, true), applyConfig(config, { bootstrap: 'init' })],
        outcome: null,
      }),
    });
  }
  await trust.reload();
  return {
    ledger,
    clock,
    random: systemRandom,
    ids: new IdMinter(clock, systemRandom),
    proofs: new ProofVerifier(),
    memo: new ActionMemo(),
    policy: options.policy ?? new CedarEngine({ monotonic: () => clock.monotonic() }),
    failpoint: options.failpoint ?? (() => undefined),
    trust: () => trust.active(),
    reloadTrust: () => trust.reload(),
    connector: (name) => trust.connector(name),
    secret: async () => undefined,
    workItem: releaseFacts(ledger),
    launchBarrier: () => undefined,
    timer: startTimer,
  };
}

/** A world in memory: fast, and its store can be one that fails. */
export async function memoryWorld(options: WorldOptions = {}): Promise<World> {
  const clock = options.clock ?? new FakeClock();
  const connector = new CountingConnector();
  const database = onPostgres && options.store === undefined ? await testDatabase() : undefined;
  if (database !== undefined) await migratePostgres(database.url, LEDGER_ID);
  const store = options.store ?? new MemoryStore(LEDGER_ID);
  const ledgers: Ledger[] = [];
  const openGate = async (more: WorldOptions = {}) => {
    const all = { ...options, ...more };
    const time = () => clock.now();
    const ledger =
      database === undefined
        ? new LocalLedger({ ...ledgerOptions(clock, all), store, random: systemRandom })
        : await PostgresLedger.open({ ...ledgerOptions(clock, all), url: database.url, time });
    if (database !== undefined) ledgers.push(ledger);
    const services = await servicesOn(ledger, store.ledgerId, clock, connector, all);
    return new Gate(services, { principal: all.as ?? 'agent:local' }, async () => undefined);
  };
  let gate = await openGate();
  if (options.bare !== true) await confirmFirst(gate, store.ledgerId);
  return {
    clock,
    connector,
    get gate() {
      return gate;
    },
    folder: '',
    another: openGate,
    reopen: async () => {
      gate = await openGate();
    },
    close: async () => {
      for (const ledger of ledgers) await ledger.close();
      await database?.drop();
    },
  };
}

/** A proposal that needs a person. */
export function sending(changes: Partial<Proposal> = {}): Proposal {
  return {
    project: 'acme',
    connector: 'counting',
    operation: 'send',
    target: 'customers',
    args: { text: 'hello' },
    ...changes,
  };
}

export async function proposed(world: World, changes: Partial<Proposal> = {}): Promise<string> {
  return (await world.gate.propose(sending(changes))).action_id;
}

export function signed(request: RequestDocument, by: Person = ALICE) {
  return signWith(by.key, request);
}

/** Asks a person, signs, attaches. */
export async function approve(world: World, actionId: string, by: Person = ALICE): Promise<void> {
  const { request } = await world.gate.request(actionId, { approver: by.key.person });
  await world.gate.approve(actionId, signed(request, by));
}

export async function deny(world: World, actionId: string, by: Person = ALICE): Promise<void> {
  const { request } = await world.gate.request(actionId, { approver: by.key.person, decision: 'deny' });
  await world.gate.approve(actionId, signed(request, by));
}

/** Proposes and approves. */
export async function approved(world: World, changes: Partial<Proposal> = {}): Promise<string> {
  const actionId = await proposed(world, changes);
  await approve(world, actionId);
  return actionId;
}

/** Asks for an act, signs it, and hands it in. */
export async function carriedOut(world: World, act: Act, by: Person = ALICE): Promise<void> {
  const { request, also } = await world.gate.requestAct(act, by.key.person);
  await world.gate.submit(signed(request, by));
  for (const one of also) await world.gate.submit(signed(one, one.approver === ALICE.key.person ? ALICE : BOB));
}

export function addKeyAct(who: Person, roles: ('viewer' | 'approver' | 'operator' | 'auditor')[] = ['approver']): Act {
  const { person, publicKey } = who.key;
  return { kind: 'registry', change: { change: 'add-key', person, roles, public_key: publicKey } };
}

/** The act that puts another configuration in the place of the active one. */
export async function configAct(world: World, text: string): Promise<Act> {
  const { config: before, version: base } = world.gate.services.trust();
  return { kind: 'config', config: await parseTrustConfig(text), base, before };
}

/** The code of the refusal or fault that a promise ends with; fails on anything else. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    const fault = error as { name?: string; code?: string };
    if (fault.name === 'Fault' && fault.code !== undefined) return fault.code;
    throw error;
  }
  throw new Error('it was not refused');
}
