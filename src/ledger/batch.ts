/**
 * What one transaction of a group commit reads and writes: the language between the batch, which is pure, and a
 * backend.
 * Source: spec ledger (group commit).
 */
import type { Json } from '../core/index.js';
import type { KindName, Kinds, LedgerEvent, RecordRef } from './kind.js';
import type { Committed, LookupRow, NewPayload, Snapshot } from './ledger.js';
import type { RecordMap } from './record-map.js';
import type { RecordRow } from './store.js';

/** A record as it stands: its state is parsed once. */
export interface StoredState extends Snapshot<Json> {
  readonly ref: RecordRef;
}

/** A claim that is taken, and the event that took it. */
export interface TakenClaim {
  readonly scope: string;
  readonly principal: string;
  readonly key: string;
  readonly command: string;
  readonly record: RecordRef;
  readonly revision: number;
}

/** The name of a claim as one string. Neither a scope nor a principal has a space, so that no two claims share one. */
export function claimName(scope: string, principal: string, key: string): string {
  return `${scope} ${principal} ${key}`;
}

/**
 * What a batch may ask the store, all of it read under the locks of the batch. Each faults `store` when it can't be
 * read.
 */
export interface Base {
  readonly ledgerId: string;
  readonly kinds: Kinds;
  /** Read after the last lock; never before the last event of the log. */
  readonly now: number;
  /** How far the clock stood before that event. */
  readonly behindMs: number;
  record(ref: RecordRef): StoredState | undefined;
  lookup(kind: KindName, key: string): readonly LookupRow[];
  claim(scope: string, principal: string, key: string): TakenClaim | undefined;
  /** The outcome that the event of a taken claim recorded. */
  outcome(claim: TakenClaim): Json;
}

export interface WrittenPayload extends NewPayload {
  readonly record: RecordRef;
  readonly revision: number;
}

/** An event with the canonical text of its data, which is what a store writes. */
export interface WrittenEvent extends LedgerEvent {
  readonly dataText: string;
}

/** A record that a batch changed: as others read it, and as a store writes it. */
export interface ChangedRecord {
  readonly stored: StoredState;
  readonly row: RecordRow;
  /** True when the store holds no such record yet. */
  readonly created: boolean;
}

/** Everything that one transaction writes. */
export interface Batch {
  readonly events: WrittenEvent[];
  readonly payloads: WrittenPayload[];
  readonly claims: TakenClaim[];
  /** Each record that changed, as it stands after the batch. */
  readonly records: RecordMap<ChangedRecord>;
}

export type UnitResult = { readonly committed: Committed<Json> } | { readonly refused: unknown };
