/**
 * What a gate that was opened from a home knows beside its services: who may still speak through it, and what it
 * remembers of its ledger.
 */
import type { Remembered } from '../approvals/index.js';

export interface GateHome {
  /** Throws where the caller may no longer ask for anything. */
  admit(): void;
  /** The end of the log that this gate remembers: what a restore is shown against, whoever asks for it. */
  remembered(): Remembered | undefined;
  /** A person accepted the store as it is. */
  accepted(): Promise<void>;
}
