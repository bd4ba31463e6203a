/**
 * Recovery: the ceremony of the first approver once more, for a ledger whose operators lost their keys. It runs
 * while no
 * gate is open on the store, at the terminal of the store's owner; it registers one new key, takes back those that its
 * person held, and raises the epoch, which voids every earlier request and receipt. It is shown for ever.
 * Source: spec authority (approvers and keys).
 */
import { existsSync, renameSync } from 'node:fs';
import { LIMITS, Refusal } from '../core/index.js';
import {
  CONFIRM_FIRST,
  confirmationCode,
  isSameCode,
  keyId,
  LEDGER_RECORD,
  ledgerKind,
  readKeyFile,
  recoverLedger,
  recoveryRecords,
} from '../identity/index.js';
import { type Ledger, SqliteStore } from '../ledger/index.js';
import { checkHome, type Home } from './home.js';
import { keysOf } from './people.js';
import { interruptOpen } from './restore.js';
import { demandStore, type OpenedStore, openStore } from './store.js';

export interface Recovered {
  readonly person: string;
  readonly keyId: string;
  readonly epoch: number;
  /** Keys that the person held before, and that count no more. */
  readonly revoked: readonly string[];
}

/**
 * Opens the ledger of a home that no gate has open. Refuses `busy` while one has; in a database that is told by leases,
 * which end some time after a gate that died.
 * INVARIANT: nobody is recovered beside a gate that works (receipts.recover.terminal).
 */
async function openAlone(home: Home): Promise<OpenedStore> {
  checkHome(home);
  demandStore(home);
  if (existsSync(home.store)) SqliteStore.alone(home.store, () => undefined);
  const opened = await openStore(home, {});
  try {
    if ((await opened.ledger.hasOthers?.()) !== true) return opened;
    const next = `stop it first; of a gate that died the database knows for ${LIMITS.leaseMs / 1_000} s`;
    throw new Refusal('busy', 'a gate is open on this store', { next });
  } catch (error) {
    await opened.ledger.close();
    throw error;
  }
}

/** The ledger that would be recovered. Refuses `busy` while a gate is open on it, `not_initialized`, `forbidden`. */
export async function recoverable(home: Home): Promise<{ ledgerId: string }> {
  const { ledger, ledgerId } = await openAlone(home);
  try {
    const identity = (await ledger.read(ledgerKind, LEDGER_RECORD.id))?.state;
    if (identity?.bootstrapped === true) return { ledgerId };
    throw new Refusal('forbidden', 'nobody was confirmed yet: there is nobody to recover', { next: CONFIRM_FIRST });
  } finally {
    await ledger.close();
  }
}

/** `typed` is what a person typed at the terminal. Refuses `forbidden` for another code, and as `recoverable`. */
export async function recoverApprover(home: Home, keyText: string, typed: string): Promise<Recovered> {
  const { person, publicKey } = readKeyFile(keyText);
  const { ledger, ledgerId } = await openAlone(home);
  try {
    if (!isSameCode(typed, confirmationCode(ledgerId, publicKey))) {
      throw new Refusal('forbidden', 'the code is another one: nothing was recovered', { next: 'start again' });
    }
    return await commitRecovery(ledger, person, publicKey);
  } finally {
    await ledger.close();
  }
}

/**
 * Marks the actions that were open at a recovery: their approvals are void, and none of them can be launched. What is
 * left of it is made up for by `action recover`.
 */
export async function endOpenActions(home: Home): Promise<void> {
  const { ledger } = await openStore(home, {});
  try {
    await interruptOpen({ ledger });
  } finally {
    await ledger.close();
  }
}

async function commitRecovery(ledger: Ledger, person: string, publicKey: string): Promise<Recovered> {
  const held = await keysOf(ledger, person);
  const earlier = held.filter(({ state }) => state === 'active').map(({ key_id }) => key_id);
  const { outcome } = await ledger.commit({
    actor: person,
    writes: recoveryRecords(person, publicKey, earlier),
    decide: (view) => {
      const events = recoverLedger(view, person, publicKey, earlier);
      if (events instanceof Refusal) return events;
      const epoch = (view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch ?? 0) + 1;
      return { events, outcome: { person, keyId: keyId(publicKey), epoch, revoked: earlier } };
    },
  });
  return outcome;
}

/** Puts a new key file in the place of the one before, which is kept beside it. */
export function placeKey(made: string, path: string, now: number): { readonly kept: string | undefined } {
  const kept = existsSync(path) ? `${path}.before-${now}` : undefined;
  try {
    if (kept !== undefined) renameSync(path, kept);
    renameSync(made, path);
  } catch {
    throw new Refusal('invalid', `the new key stands in \`${made}\`: it could not be put in its place`, {
      path: 'out',
    });
  }
  return { kept };
}
