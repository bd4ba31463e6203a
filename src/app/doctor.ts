/**
 * Whether a gate is fit to work: store, configuration, clock, connectors, approvers, keys, and what an agent could do
 * around the gate. Each finding says how to mend it. A gate that can't even be opened is a finding too.
 * Source: spec doors (configuration).
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isUsable, liftAdvice } from '../approvals/index.js';
import { CODES, Fault, isOurs, isoTime, Refusal } from '../core/index.js';
import { CONFIRM_FIRST, isAway } from '../identity/index.js';
import { readThread, threadKind } from '../messages/index.js';
import { policyVersion } from '../policy/index.js';
import { type Environment, readEnvironment } from './config.js';
import { type Home, homeAt } from './home.js';
import { notifications } from './notify-check.js';
import { type CountersignGate, type OpenOptions, open } from './open.js';
import { listPeople } from './people.js';
import { readSettings } from './project-file.js';
import { readTrustFile } from './trust-file.js';

export type Finding = {
  readonly name: string;
  readonly level: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** How to mend it; empty where nothing is to be mended. */
  readonly next: string;
};

/** Looks at everything that can be looked at. Rejects only where looking itself fails. */
export async function examine(options: OpenOptions = {}): Promise<readonly Finding[]> {
  const environment = readEnvironment();
  const { findings, by } = await settings(environment);
  const as = options.as ?? by;
  let ofFiles: readonly Finding[] = [];
  let gate: CountersignGate;
  try {
    // Before it is opened: opening takes the store from everybody else.
    ofFiles = files(homeAt(options.home, environment));
    gate = await open({ ...options, ...(as === undefined ? {} : { as }) });
  } catch (error) {
    if (!isOurs(error)) throw error;
    const outside = error.code === 'forbidden' && error.path === 'home' ? [OUTSIDE] : [];
    // To be sent to where one is helps nobody.
    const next = error.next === CODES.store.next ? 'see the cause: `countersign doctor --debug`' : error.next;
    return [finding('gate', 'problem', error.message, next), ...findings, ...ofFiles, ...outside];
  }
  try {
    const told = (opened: CountersignGate) => notifications(opened, environment);
    for (const part of [store, frozen, threads, clock, configuration, connectors, approvers, told]) {
      findings.push(...(await part(gate)));
    }
    return [...findings, ...ofFiles, around()];
  } finally {
    await gate.close();
  }
}

/** What the environment and a project's file say, and what is wrong with it. */
async function settings(environment: Environment): Promise<{ findings: Finding[]; by?: string }> {
  try {
    const { file, settings: found } = await readSettings(environment);
    const words = Object.entries(found).map(([key, value]) => `${key} ${value}`);
    const ok = finding('project', 'ok', `${file ?? 'variables'}: ${words.join(', ') || 'no defaults'}`);
    const findings = file === undefined && words.length === 0 ? [] : [ok];
    return { findings, ...(found.by === undefined ? {} : { by: found.by }) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { findings: [finding('project', 'problem', error.message, error.next)] };
  }
}

function finding(name: string, level: Finding['level'], found: string, next = ''): Finding {
  return { name, level, found, next };
}

async function store(gate: CountersignGate): Promise<Finding[]> {
  const head = await gate.ledger.head();
  const barrier = gate.services.launchBarrier();
  const { demo, epoch } = await gate.identity();
  const place = existsSync(gate.home.store) ? gate.home.store : 'the database of the home';
  return [
    finding('store', 'ok', `${place}: ${head.sequence} events, epoch ${epoch}, each durable before it is told`),
    ...(barrier === undefined ? [] : [finding('store', 'problem', barrier.message, barrier.next)]),
    ...(demo
      ? [finding('ledger', 'warning', 'this is the ledger of a demonstration', 'countersign init for a real one')]
      : []),
  ];
}

/** What is frozen runs nothing, and says so. */
async function frozen(gate: CountersignGate): Promise<Finding[]> {
  return (await gate.frozen()).map((one) =>
    finding('freeze', 'warning', `${one.name ?? 'everything'} is frozen by ${one.by}`, liftAdvice(one)),
  );
}

/** Whether the key is there, and is the one that signed the threads so far. */
async function threads(gate: CountersignGate): Promise<Finding[]> {
  let key: string;
  try {
    key = gate.threadPublicKey();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [finding('thread key', 'problem', error.message, error.next)];
  }
  const path = gate.home.threadKey;
  const [thread] = (await gate.ledger.list({ kind: 'thread', limit: 1 })).rows;
  let signers: readonly string[];
  try {
    signers = thread === undefined ? [] : await signersOf(gate, thread.id);
  } catch (error) {
    if (!isOurs(error)) throw error;
    return [finding('thread', 'problem', error.message, 'see what is damaged with `countersign audit verify`')];
  }
  for (const signer of signers) {
    if (signer === key) continue;
    const found = `${path} is another key than the one that signed the threads of this ledger`;
    return [finding('thread key', 'problem', found, 'put your copy of the right key back, before anything is written')];
  }
  return [finding('thread key', 'ok', `${path} signs the threads; no backup holds it: keep a copy apart`)];
}

/** Who signed the first and the last entries of a thread. */
async function signersOf(gate: CountersignGate, thread: string): Promise<readonly string[]> {
  const count = (await gate.ledger.read(threadKind, thread))?.state.count ?? 0;
  if (count === 0) return [];
  const signers: string[] = [];
  for (const from of [0, count - 1]) {
    for await (const { signer } of readThread(gate.ledger, thread, from)) {
      if (signer === undefined) continue;
      signers.push(signer);
      break;
    }
  }
  return signers;
}

async function clock(gate: CountersignGate): Promise<Finding[]> {
  const { sequence } = await gate.ledger.head();
  const [last] = sequence === 0 ? [] : await gate.ledger.log(sequence - 1);
  const behindMs = (last?.event.at ?? 0) - gate.services.clock.now();
  if (behindMs <= 5_000) return [finding('clock', 'ok', 'not behind the ledger')];
  const seconds = Math.round(behindMs / 1_000);
  return [
    finding('clock', 'problem', `${seconds} s behind the last event of the ledger`, 'set the clock of this machine'),
  ];
}

async function configuration(gate: CountersignGate): Promise<Finding[]> {
  const { version, config } = gate.services.trust();
  const found: Finding[] = [];
  try {
    const fromFile = policyVersion(await readTrustFile(gate.home.trustFile));
    found.push(
      fromFile === version
        ? finding('configuration', 'ok', `version ${version}`)
        : finding('configuration', 'warning', 'the file differs from the active version', 'countersign config diff'),
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    found.push(finding('configuration', 'problem', error.message, `correct ${gate.home.trustFile}`));
  }
  if (config.policy.allow_unattended_irreversible) {
    const who = config.policy.rules === undefined ? 'every risk' : 'what rules allow, of every risk,';
    found.push(finding('policy', 'warning', `${who} may run without a person`, 'see `countersign policy show`'));
  }
  if (config.approvals.length === 0) {
    found.push(
      finding('approval rules', 'problem', 'no rule: nobody may approve anything', 'add a rule, then config apply'),
    );
  }
  return found;
}

async function connectors(gate: CountersignGate): Promise<Finding[]> {
  const names = Object.keys(gate.services.trust().config.connectors);
  if (names.length === 0) {
    return [
      finding('connectors', 'warning', 'none is configured', `add one to ${gate.home.trustFile}, then config apply`),
    ];
  }
  const found = await Promise.all(
    names.map(async (name): Promise<Finding[]> => {
      const connector = gate.services.connector(name);
      const title = `connector ${name}`;
      if (connector === undefined)
        return [finding(title, 'problem', 'it could not be opened', 'see its configuration')];
      const problems = (await connector.check?.((secret) => gate.services.secret(secret))) ?? [];
      if (problems.length === 0) return [finding(title, 'ok', connector.operations.join(', '))];
      return problems.map((problem) => finding(title, 'problem', problem.found, problem.next));
    }),
  );
  return found.flat();
}

async function approvers(gate: CountersignGate): Promise<Finding[]> {
  const { bootstrapped, recovered } = await gate.identity();
  if (!bootstrapped) {
    const found = 'nobody is confirmed: nothing that needs a person can run';
    return [finding('approvers', 'problem', found, CONFIRM_FIRST)];
  }
  const { people, keys } = await listPeople(gate.ledger);
  const active = people.filter(({ state, roles }) => state === 'active' && roles.includes('approver'));
  const own = keys.filter(({ state, person }) => state === 'active' && active.some((one) => one.person === person));
  const passkeys = own.filter(({ method }) => method === 'webauthn').length;
  const words = `${active.length} confirmed; software keys: ${own.length - passkeys}, passkeys: ${passkeys}`;
  const away = active.filter((person) => isAway(person, gate.services.clock.now()));
  return [
    finding('approvers', 'ok', away.length === 0 ? words : `${words}; away: ${away.length}`),
    ...pages(gate, passkeys),
    // INVARIANT: that a ledger was recovered is told for ever (receipts.recover.shown).
    ...recovered.map(({ person, at }) =>
      finding('recovered', 'warning', `${person} was confirmed again at the terminal on ${isoTime(at)}`),
    ),
  ];
}

/** Whether the pages on which passkeys are used can be such. */
function pages(gate: CountersignGate, passkeys: number): Finding[] {
  const { webauthn } = gate.services.trust().config;
  const next = `correct \`webauthn\` in ${gate.home.trustFile}, then config apply`;
  if (webauthn === undefined) {
    const found = 'the configuration names no page: no passkey counts';
    return passkeys === 0 ? [] : [finding('passkeys', 'warning', found, next)];
  }
  const unfit = webauthn.origins.filter((origin) => !isUsable(origin, webauthn.rp_id));
  return unfit.map((origin) =>
    finding('passkeys', 'problem', `no browser uses a passkey of this domain on ${origin}`, next),
  );
}

const OUTSIDE = finding('around the gate', 'ok', 'this user reaches nothing of the home: neither keys nor store');

/** What others can read of the home: its folders, the store, and every key. */
function files(home: Home): Finding[] {
  try {
    return readable(home);
  } catch {
    return [finding('files', 'problem', `${home.folder} can not be looked at`, 'run doctor as the owner of the home')];
  }
}

function readable(home: Home): Finding[] {
  if (!existsSync(home.folder) || !statSync(home.folder).isDirectory()) return [];
  const isOpen = (path: string) => existsSync(path) && (statSync(path).mode & 0o077) !== 0;
  const keys = existsSync(home.keysFolder)
    ? readdirSync(home.keysFolder).map((name) => join(home.keysFolder, name))
    : [];
  return [
    ...[home.folder, home.keysFolder].filter(isOpen).map((path) => [path, `chmod 700 ${path}`]),
    ...[home.store, ...keys].filter(isOpen).map((path) => [path, `chmod 600 ${path}`]),
  ].map(([path, next]) => finding('files', 'problem', `${path} can be read by others`, next));
}

function around(): Finding {
  const found = 'an agent that runs as this user can read what this user can: its keys, repositories and tokens';
  return finding('around the gate', 'warning', found, 'run agents as another user, see SECURITY.md');
}
