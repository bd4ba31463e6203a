/**
 * Which news there is of what waits, at a moment. Pure: the same inbox at the same time leads to the same notices, so
 * that a crash, a second gate or a replay makes none twice.
 *
 * INVARIANT: somebody who is away is neither reminded nor escalated to; who stands in for them has to be among the
 * same rule's approvers, and be there (notifications.away).
 * Source: spec authority (approval rules; away), doors (notifications).
 */
import { NOTIFY_LIMITS } from './limits.js';
import type { Notice, Presence, SettledFacts, Waiting } from './notice.js';
import type { NoticeKind } from './schema.js';

/** The notices of one thing that waits, as of `now`. */
export function noticesOfWaiting(waiting: Waiting, presence: Presence, now: number): readonly Notice[] {
  const { expires, since, wanted } = waiting;
  if (expires !== null && now >= expires) {
    const isNews = now - expires < NOTIFY_LIMITS.newsMsMax;
    return isNews ? noticeTo('expired', presentOf(waiting, waiting.people, presence), waiting, now) : [];
  }
  const asked = noticeTo('asked', waiting.people, waiting, now);
  const soon = expires === null ? Number.POSITIVE_INFINITY : soonOf(since, expires);
  // The last word of those that are due: whoever was not running meanwhile does not send all of them at once.
  if (now >= soon) return [...asked, ...expiring(waiting, presence, now)];
  if (wanted !== null && now >= wanted.by) return [...asked, ...escalation(waiting, wanted.also, presence, now)];
  if (wanted !== null && now >= wanted.remind) {
    return [...asked, ...noticeTo('reminder', presentOf(waiting, waiting.people, presence), waiting, now)];
  }
  return asked;
}

/** Somebody hears that the time runs out within its last tenth, and an hour before at most. */
function soonOf(since: number, expires: number): number {
  return expires - Math.min(NOTIFY_LIMITS.soonMsMax, Math.floor((expires - since) / 10));
}

function expiring(waiting: Waiting, presence: Presence, now: number): readonly Notice[] {
  const also = waiting.wanted !== null && now >= waiting.wanted.by ? waiting.wanted.also : [];
  return noticeTo('expiring', presentOf(waiting, [...waiting.people, ...also], presence), waiting, now);
}

/** Where nobody of the list is there, the operators hear that nobody is. */
function escalation(waiting: Waiting, also: readonly string[], presence: Presence, now: number): readonly Notice[] {
  const present = presentOf(waiting, also, presence);
  const told = present.length > 0 ? present : presence.operators.filter((person) => !presence.away.has(person));
  return noticeTo('escalation', told, waiting, now);
}

function presentOf({ eligible }: Waiting, people: readonly string[], { away }: Presence): readonly string[] {
  const present = people.flatMap((person) => {
    if (!away.has(person)) return [person];
    const delegate = away.get(person) ?? null;
    return delegate !== null && eligible.includes(delegate) && !away.has(delegate) ? [delegate] : [];
  });
  return [...new Set(present)].sort();
}

function noticeTo(kind: NoticeKind, people: readonly string[], waiting: Waiting, now: number): readonly Notice[] {
  if (people.length === 0) return [];
  const { what, id, occasion, operation, project, approvals, quorum, expires, wanted } = waiting;
  const isOver = kind === 'expired';
  return [
    {
      ...{ kind, what, id, occasion, operation, project, approvals, quorum, people, class: waiting.class },
      at: now,
      until: isOver || expires === null ? now + NOTIFY_LIMITS.ageMsMax : expires,
      by: kind === 'asked' || kind === 'reminder' ? (wanted?.by ?? expires) : expires,
      settled: null,
    },
  ];
}

/** An action whose outcome stands, or is unknown: what a program waits for. */
export interface SettledAction extends SettledFacts {
  readonly id: string;
  /** Of the event: an action may settle more than once. */
  readonly occasion: string;
  readonly class: string;
  readonly operation: string;
  readonly project: string;
  readonly at: number;
}

/** Undefined where it is too long ago to be news. */
export function noticeOfSettled(action: SettledAction, now: number): Notice | undefined {
  if (now - action.at >= NOTIFY_LIMITS.ageMsMax) return undefined;
  const { id, occasion, operation, project, state, how, attempt, digest } = action;
  return {
    ...{ kind: 'settled', what: 'settled', id, occasion, class: action.class, operation, project },
    ...{ approvals: 0, quorum: 0, people: [], at: action.at, until: action.at + NOTIFY_LIMITS.ageMsMax, by: null },
    settled: { state, how, attempt, digest },
  };
}

/** That something could not be delivered over a channel, once a day: operators hear it over the others. */
export function noticeOfUndelivered(channel: string, operators: readonly string[], now: number): Notice {
  const day = Math.floor(now / 86_400_000);
  return {
    ...{ kind: 'undelivered', what: 'delivery', id: channel, occasion: String(day), class: null, operation: '' },
    ...{ project: null, approvals: 0, quorum: 0, people: operators, at: now, until: now + NOTIFY_LIMITS.newsMsMax },
    ...{ by: null, settled: null },
  };
}
