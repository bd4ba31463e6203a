/**
 * A kind of record: how its state follows from its events, and what of it lists may look for.
 *
 * Nothing but `evolve` makes a state. Most records are folded from their few events; where there are many, a state
 * document beside them is a cache: it names the version of the kind that wrote it and is rebuilt from the events when
 * that version is another one.
 * Source: spec ledger (the decider).
 */
import { type Json, type JsonObject, PATTERNS } from '../core/index.js';

/** Every kind, in the one order in which records are locked. A kind to come keeps its place. */
export const KINDS = [
  'ledger',
  'config',
  'freeze',
  'person',
  'agent',
  'key',
  'token',
  'invitation',
  'tool',
  'plugin',
  'change',
  'run',
  'package',
  'room',
  'grant',
  'budget',
  'request',
  'effect',
  'action',
  'comment',
  'thread',
  'refusal',
] as const;

export type KindName = (typeof KINDS)[number];

/** The name of a record. */
export interface RecordRef {
  readonly kind: KindName;
  /** 1 to 256 characters. */
  readonly id: string;
}

/** One thing that happened to a record. Appended, never changed. */
export interface LedgerEvent {
  readonly record: RecordRef;
  /** 0, 1, 2 … without gaps. */
  readonly revision: number;
  /** Past tense, kebab-case, with a version of its own from the second on: `action-launched`, `action-launched/2`. */
  readonly type: string;
  /** Milliseconds since the epoch, never before the record's event before it. */
  readonly at: number;
  /** The principal that caused it, such as `agent:bot`, `human:alice` or `engine:gate`. */
  readonly actor: string;
  /** What happened, without free content: that stands in payloads, under the digests that `payloads` lists. */
  readonly data: JsonObject;
  readonly payloads: readonly string[];
  /** Hash of the record's event before; null for the first. */
  readonly prev: string | null;
  readonly hash: string;
}

/** The few columns by which lists find a record. */
export interface Columns {
  readonly project?: string;
  readonly status?: string;
  /** Whose it is: the proposer of an action, the person of a key. */
  readonly principal?: string;
  /** Set exactly while the record waits for something: milliseconds since the epoch, most urgent first. */
  readonly due?: number;
  /** A key under which open records are found, such as an effect's digest; absent once the record is closed. */
  readonly lookup?: string;
}

/** What a domain registers for its records. `State` is plain JSON, so that it can be kept beside the events. */
export interface Kind<State extends Json = Json> {
  readonly name: KindName;
  /** Raised whenever `evolve` would make another state from the same events. */
  readonly version: number;
  /**
   * True for a kind whose records gather so many events (a thread) that their state stands beside them as a document.
   * Every other record is read by folding its events.
   */
  readonly keepsDocument?: boolean;
  /** Of a kind that keeps a document: the state as the last event alone tells it. */
  ofLast?(event: LedgerEvent): State;
  evolve(state: State | undefined, event: LedgerEvent): State;
  columns(state: State): Columns;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds kinds of every state
export type AnyKind = Kind<any>;

/** The registered kinds by name. */
export type Kinds = ReadonlyMap<KindName, AnyKind>;

export function registerKinds(kinds: readonly AnyKind[]): Kinds {
  return new Map(kinds.map((kind) => [kind.name, kind]));
}

/** `kind/id`: a record's name as a string. A kind has no slash, so that no two records share one. */
export function recordName(ref: RecordRef): string {
  return `${ref.kind}/${ref.id}`;
}

/** Whether a string can be the id of a record: printable ASCII, 1 to 256 characters, no space. */
export function isRecordId(id: string): boolean {
  return PATTERNS.recordId.test(id);
}

const RANKS: ReadonlyMap<KindName, number> = new Map(KINDS.map((name, rank) => [name, rank]));

/** The one order of locks: kind first, then id by UTF-16 code units. */
export function compareRecords(a: RecordRef, b: RecordRef): number {
  const rank = (RANKS.get(a.kind) ?? 0) - (RANKS.get(b.kind) ?? 0);
  if (rank !== 0) return rank;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
