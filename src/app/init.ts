/**
 * A new ledger: its identity, its first trust configuration, and, in the bootstrap ceremony, its first approver.
 *
 * The first key becomes active when the code that the gate shows is typed at the terminal of the store's owner. A
 * ledger that a demonstration makes in a fresh folder takes the code from the process that makes it, says so in
 * every summary, and never becomes an ordinary one.
 * Source: spec authority (approvers and keys: bootstrap).
 */
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesToHex, Fault, isOurs, type Random, Refusal } from '../core/index.js';
import {
  bootstrapKey,
  confirmationCode,
  createLedger,
  isSameCode,
  keyId,
  LEDGER_RECORD,
  ledgerKind,
  lockKey,
  readKeyFile,
} from '../identity/index.js';
import type { Ledger } from '../ledger/index.js';
import { formatThreadKey } from '../messages/index.js';
import { applyConfig, CONFIG_RECORD } from '../policy/index.js';
import { systemClock } from './clock.js';
import { readEnvironment } from './config.js';
import { checkHome, type Home } from './home.js';
import { systemRandom } from './random.js';
import { seenOf, writeSeen } from './seen.js';
import { openStore } from './store.js';
import { homeConfigPath, resolveStoreUrl } from './store-config.js';
import { parseTrustConfig } from './trust-file.js';
import { clearUnfinished, keepMark, removeLeft, setMark } from './unfinished.js';

export interface InitOptions {
  /** The text of the trust configuration; it is written to the home and becomes the active version. */
  readonly trust: string;
  /** `postgres://…`, `env:NAME` or `file:PATH`: the ledger stands in that database. Else in a file of the home. */
  readonly store?: string;
  /** Marks the ledger of a demonstration: only in a folder that did not exist or is empty. */
  readonly demo?: boolean;
  readonly random?: Random;
}

/**
 * Makes home and ledger, or leaves nothing behind. Refuses `already_initialized`, `config_location`, `config_invalid`,
 * `invalid` for a path where no home can be.
 */
export async function initialize(home: Home, options: InitOptions): Promise<{ ledgerId: string }> {
  const { trust, demo = false, random = systemRandom } = options;
  const begun = clearUnfinished(home, systemClock.now());
  if (existsSync(home.store)) throw new Refusal('already_initialized', 'there is a ledger here already');
  if (existsSync(home.seenFile)) {
    const next = 'put a backup back with `countersign restore FILE`, or name another home';
    throw new Refusal('already_initialized', 'the gate of this home remembers a ledger', { next });
  }
  // What an earlier ledger left is never written over: above all no new key in the place of the one that signed.
  const left = [home.trustFile, home.threadKey].find((path) => existsSync(path));
  if (left !== undefined) {
    const next = `move \`${left}\` away if it is of no use, or name another home`;
    throw new Refusal('already_initialized', 'the home has files of a gate, and no ledger', { next });
  }
  if (demo && !isFresh(home.folder)) {
    throw new Refusal('already_initialized', 'a demonstration needs a fresh folder');
  }
  if (options.store !== undefined) resolveStoreUrl(options.store, readEnvironment());
  const config = await parseTrustConfig(trust, home.folder);
  checkHome(home);
  const ledgerId = bytesToHex(random.bytes(16));
  const homeConfig = homeConfigPath(home);
  // What stands there already is somebody's, and stays whatever happens.
  const own = [home.trustFile, home.threadKey, homeConfig, home.store].filter((path) => !existsSync(path));
  const isOnServer = options.store !== undefined;
  const ledgers = isOnServer ? [...(begun?.ledgerIds ?? []), ledgerId] : (begun?.ledgerIds ?? []);
  setMark(home, ledgers, own, systemClock.now());
  let isReached = false;
  const reached = () => {
    isReached = true;
  };
  const leftInStore = { ledgerIds: begun?.ledgerIds ?? [], eventsMax: begun?.eventsMax ?? 0, reached };
  try {
    if (options.store !== undefined) {
      writePrivate(homeConfig, `# Where the ledger stands.\nstore: ${JSON.stringify(options.store)}\n`);
    }
    writePrivate(home.trustFile, trust);
    writePrivate(home.threadKey, formatThreadKey(random.bytes(32)));
    const { ledger } = await openStore(home, { left: leftInStore }, ledgerId);
    try {
      await ledger.commit({
        actor: 'engine:gate',
        writes: [LEDGER_RECORD, CONFIG_RECORD],
        decide: (view) => {
          if (view.get(ledgerKind, LEDGER_RECORD.id) !== undefined) {
            return new Refusal('busy', 'another `init` made this ledger in the meantime');
          }
          return {
            events: [createLedger(ledgerId, config.name, demo), applyConfig(config, { bootstrap: 'init' })],
            outcome: null,
          };
        },
      });
      writeSeen(home.seenFile, seenOf(ledgerId, 0, await ledger.head()));
    } finally {
      await ledger.close();
    }
    rmSync(home.unfinishedFile, { force: true });
  } catch (error) {
    for (const path of [...own, home.unfinishedFile]) removeLeft(path);
    // A refusal of the database's left nothing there, beside what was there before.
    if (begun !== undefined || (isReached && !(error instanceof Refusal))) keepMark(home, ledgers);
    throw isOurs(error) ? error : new Fault('store', 'the home of the gate could not be made', error);
  }
  return { ledgerId };
}

/** Whether nothing stands at a path, or an empty folder. */
function isFresh(path: string): boolean {
  try {
    return !existsSync(path) || readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** A file for its owner alone, that must not exist yet. */
export function writePrivate(path: string, content: string): void {
  writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
  chmodSync(path, 0o600);
}

export interface NewKey {
  readonly path: string;
  readonly person: string;
  readonly publicKey: string;
  /** The code that the person's own terminal shows. */
  readonly code: string;
}

/** Makes a software key for a person: a file that the passphrase encrypts. It is nobody's until it is registered. */
export async function makeKey(
  ledgerId: string,
  person: string,
  passphrase: string,
  path: string,
  random: Random = systemRandom,
): Promise<NewKey> {
  const chance = { seed: random.bytes(32), salt: random.bytes(16), iv: random.bytes(12) };
  const { text, publicKey } = await lockKey(person, passphrase, chance);
  try {
    writePrivate(path, text);
  } catch {
    throw new Refusal('invalid', 'the key file can not be written: it exists already, or its folder does not', {
      path: 'out',
    });
  }
  return { path, person, publicKey, code: confirmationCode(ledgerId, publicKey) };
}

/**
 * Confirms the first approver. `typed` is what a person typed at the terminal of the store's owner, or, for a ledger
 * of a demonstration alone, what its process knows. Refuses `forbidden` once there was a first approver, or for
 * another code.
 */
export async function bootstrapApprover(
  ledger: Ledger,
  ledgerId: string,
  keyText: string,
  typed: string,
  ceremony: 'terminal' | 'demo',
): Promise<{ person: string; keyId: string }> {
  const { person, publicKey } = readKeyFile(keyText);
  if (!isSameCode(typed, confirmationCode(ledgerId, publicKey))) {
    const next = `type the code again: \`countersign approver key ${person.slice('human:'.length)}\``;
    throw new Refusal('forbidden', 'the code is another one: nothing was confirmed', { next });
  }
  const id = keyId(publicKey);
  await ledger.commit({
    actor: person,
    writes: [LEDGER_RECORD, { kind: 'person', id: person }, { kind: 'key', id }],
    reads: [],
    decide: (view) => {
      const events = bootstrapKey(view, person, publicKey, ceremony);
      return events instanceof Refusal ? events : { events, outcome: null };
    },
  });
  return { person, keyId: id };
}

/** The path of a person's key file where no other is named. */
export function keyPath(home: Home, person: string): string {
  return join(home.keysFolder, `${person.slice('human:'.length)}.key`);
}
