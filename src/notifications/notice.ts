/**
 * What planning and delivering speak of: things that wait for people, notices made of them, and messages as channels
 * get them.
 */
import type { NoticeKind } from './schema.js';

/** What waits for a person, or what a notice is about besides. */
export type Subject =
  | 'approval'
  | 'outcome_unknown'
  | 'interrupted_launch'
  | 'late_result'
  | 'request'
  | 'enrolment'
  | 'confirmation'
  | 'settled'
  | 'delivery'
  | 'test';

/** What something of the inbox, or news of it, is about. */
interface About {
  readonly what: Subject;
  /** Of its record. */
  readonly id: string;
  /** Another one for the same record is other news: the number of an attempt, or nothing. */
  readonly occasion: string;
  readonly class: string | null;
  /** The connector and the operation, or the kind of an act. */
  readonly operation: string;
  /** As the agent chose it; shown plain. */
  readonly project: string | null;
  readonly approvals: number;
  readonly quorum: number;
}

/** Something of the inbox, with the people whom it is about. Times are milliseconds since the epoch. */
export interface Waiting extends About {
  /** Who can decide, and did not yet. */
  readonly people: readonly string[];
  /** Among whom somebody who is away may be stood in for. */
  readonly eligible: readonly string[];
  readonly since: number;
  /** From then on nobody can decide any more. */
  readonly expires: number | null;
  /** When somebody should have decided, when they are reminded, and who is told once it is late. */
  readonly wanted: { readonly remind: number; readonly by: number; readonly also: readonly string[] } | null;
}

/** Who is away, and who stands in for them; and who is told where nobody else is there. */
export interface Presence {
  /** By person: who stands in, or null. */
  readonly away: ReadonlyMap<string, string | null>;
  readonly operators: readonly string[];
}

/** How an action ended, or that its outcome is unknown. */
export interface SettledFacts {
  readonly state: 'confirmed' | 'failed' | 'unknown' | 'cancelled';
  /** For a cancelled one: withdrawn, denied, changes_requested, expired or superseded. */
  readonly how: string | null;
  readonly attempt: number | null;
  readonly digest: string;
}

/** News, before it is known whom it reaches over which channel. */
export interface Notice extends About {
  /** With the record and its occasion, what makes it other news than every other. */
  readonly kind: NoticeKind;
  /** Whom it is for; empty where it is for a program. */
  readonly people: readonly string[];
  readonly at: number;
  /** Until when it is news. */
  readonly until: number;
  /** When the decision is due, or its time is over. */
  readonly by: number | null;
  readonly settled: SettledFacts | null;
}

/** A message as every channel gets it: plain words, one link, nothing that decides. */
export interface Message {
  /** The same at every try. */
  readonly id: string;
  /** Such as `action.settled` or `approval.asked`. */
  readonly type: string;
  readonly at: number;
  readonly title: string;
  readonly lines: readonly string[];
  /** A page of the gate; null where its address is not configured. */
  readonly link: string | null;
  readonly isUrgent: boolean;
  /** The same for programs. */
  readonly data: Readonly<Record<string, string | number | null>>;
}

/** How a delivery ended. A code is a word of ours or of the protocol: never a text of the other side. */
export type Delivered =
  | { readonly ok: true }
  /** `isFinal`: another try would end the same. `isTheirs`: this recipient alone is concerned, not the channel. */
  | { readonly ok: false; readonly code: string; readonly isFinal?: true; readonly isTheirs?: true };
