/**
 * Leases: a name that somebody holds for a time, beside the log. One decides who of several gates delivers; others say
 * that somebody is there, such as a caller who waits. What nobody renews runs out by itself.
 *
 * A holder whose process stood still may find that another one holds the name: whoever acts on a lease asks again.
 * Source: spec ledger (leases).
 */
import type { Clock } from '../core/index.js';
import type { Aside } from './aside.js';

/** Every method rejects with the Fault `store`, or the Refusal `busy`. */
export interface Leases {
  /** Takes or renews a name for so many milliseconds: at most one holder has it. False where another one has. */
  hold(name: string, holder: string, ms: number): Promise<boolean>;
  /** Gives it back. */
  release(name: string, holder: string): Promise<void>;
  /** The names below `prefix` that somebody holds now: 10,000 at most. */
  held(prefix: string): Promise<readonly string[]>;
}

/** Names of leases that are answered at once. */
export const HELD_MAX = 10_000;

/** The leases of a store inside this process, called within a transaction of it. */
export interface LeaseTable {
  hold(name: string, holder: string, now: number, until: number): boolean;
  release(name: string, holder: string): void;
  held(prefix: string, now: number, limit: number): readonly string[];
}

/** The leases over a store inside this process. */
export function localLeases({ read, write }: Aside, clock: Clock): Leases {
  return {
    hold: (name, holder, ms) => write(({ leases }) => leases.hold(name, holder, clock.now(), clock.now() + ms)),
    release: (name, holder) => write(({ leases }) => leases.release(name, holder)),
    held: (prefix) => read(({ leases }) => leases.held(prefix, clock.now(), HELD_MAX)),
  };
}
