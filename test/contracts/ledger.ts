/**
 * The contract that every ledger passes, whatever it stores in. A backend's own test hands over a way to open one on an
 * empty store; everything here goes through the interface `Ledger`, and waits for what a client-server store may do after
 * its commit (the log, projections).
 * Source: spec ledger.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { type Clock, type Failpoint, isOurs } from '../../src/core/index.js';
import type { Kinds, Ledger, LogEntry, Projection, RecordRef } from '../../src/ledger/index.js';
import { HandClock } from '../support/ledger-world.js';
import { claimContract } from './ledger-claims.js';
import { commitContract } from './ledger-commit.js';
import { logContract } from './ledger-log.js';
import { modelContract } from './ledger-model.js';
import { outboxContract } from './ledger-outbox.js';
import { readContract } from './ledger-reads.js';

export interface LedgerOptions {
  /** Set by hand. A store with a clock of its own ignores it and says so. */
  readonly clock: Clock;
  readonly kinds: Kinds;
  readonly projections?: readonly Projection[];
  readonly failpoint?: Failpoint;
}

/** A ledger on a store of its own, named by `LEDGER_ID`. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  /** True where times come from the store and can not be set. */
  readonly ownClock?: boolean;
  /** Another ledger on the same store, as another process would have it. Closed by `close`. */
  another(): Promise<Ledger>;
  /** Replaces the stored bytes of a payload behind the ledger's back. */
  damagePayload(ref: RecordRef, revision: number, address: string, bytes: Uint8Array): Promise<void>;
  /** Replaces the stored state document of a record behind the ledger's back. */
  damageDocument(ref: RecordRef, document: string): Promise<void>;
  /** Removes the stored bytes of a payload, as an erasure does. */
  erasePayload(ref: RecordRef, revision: number, address: string): Promise<void>;
  close(): Promise<void>;
}

export type OpenLedger = (options: LedgerOptions) => Promise<OpenedLedger>;

/** What each part of the contract gets: a world that is closed behind its test. */
export type WithLedger = (
  options: Partial<LedgerOptions>,
  check: (opened: OpenedLedger & { readonly clock: HandClock }) => Promise<void>,
) => Promise<void>;

/** Runs the contract. `open` is called once for each test; the model is run so often. */
export function ledgerContract(name: string, open: OpenLedger, kinds: Kinds, modelRuns = 60): void {
  const withLedger: WithLedger = async (options, check) => {
    const clock = new HandClock();
    const opened = await open({ clock, kinds, ...options });
    try {
      await check({ ...opened, clock });
    } finally {
      await opened.close();
    }
  };
  describe(`${name} passes the contract of a ledger`, () => {
    claimContract(withLedger);
    commitContract(withLedger);
    readContract(withLedger);
    logContract(withLedger);
    outboxContract(withLedger);
    modelContract(open, kinds, modelRuns);
  });
}

/** The log once it holds at least `count` entries; a store may order them a moment after their commit. */
export async function logOf(ledger: Ledger, count: number): Promise<readonly LogEntry[]> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const entries: LogEntry[] = [];
    for (;;) {
      const page = await ledger.log(entries.length);
      if (page.length === 0) break;
      entries.push(...page);
    }
    if (entries.length >= count) return entries;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the log has no ${count} entries`);
}

/** Demands that a promise is rejected with one of our own errors of this code. */
export async function rejectsWith(code: string, promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error: unknown) => {
    assert.ok(isOurs(error), `no error of ours: ${String(error)}`);
    assert.equal(error.code, code, error.message);
    return true;
  });
}
