/**
 * What people and programs read of a notice. Pure.
 *
 * INVARIANT: what an agent chose is shown as plain words or not at all: no address, no markup, no control, nothing but
 * letters, digits, `_` and `-`, and a bounded number of them; nothing in a message decides anything
 * (notifications.plain, notifications.powerless).
 * Source: spec doors (notifications), reliability T6, T19.
 */
import { isoTime } from '../core/index.js';
import { NOTIFY_LIMITS } from './limits.js';
import type { Message, Notice } from './notice.js';

/** What risks are called by people. */
const RISKS: Readonly<Record<string, string>> = {
  read: 'read',
  reversible: 'reversible',
  irreversible: 'irreversible',
  costly: 'high impact',
};

const TITLES: Readonly<Record<Notice['kind'], string>> = {
  asked: 'is wanted',
  reminder: 'is still wanted',
  escalation: 'is overdue',
  expiring: 'runs out of time',
  expired: 'was not given in time',
  settled: 'settled',
  undelivered: 'did not arrive',
};

const SUBJECTS: Readonly<Record<Notice['what'], string>> = {
  approval: 'an approval',
  outcome_unknown: 'a look at an unknown outcome',
  interrupted_launch: 'a look at a launch that nobody answered for',
  late_result: 'a look at a result that contradicts',
  request: 'a signature',
  enrolment: 'the confirmation of a passkey',
  confirmation: 'the confirmation of a summary',
  settled: 'an action',
  delivery: 'a notification',
  test: 'a test',
};

/**
 * A word as an agent chose it, so that no reader of it makes anything of it: a character that is no letter, digit, `_`
 * or `-` is a dot in the middle, which links nothing and marks nothing up.
 */
export function plainWord(text: string): string {
  const cut = Array.from(text.slice(0, 4 * NOTIFY_LIMITS.wordCharsMax)).slice(0, NOTIFY_LIMITS.wordCharsMax);
  const word = cut.map((character) => (/[A-Za-z0-9_-]/.test(character) ? character : '·')).join('');
  return cut.length < Array.from(text).length ? `${word}…` : word;
}

/** Words with a space between them. */
function plainWords(text: string): string {
  return text.split(' ').map(plainWord).join(' ').trim();
}

export interface RenderFacts {
  /** Of the entry: the same at every try. */
  readonly id: string;
  /** The name of the ledger, as its operator chose it. */
  readonly name: string;
  /** The configured address of the pages; undefined for none. */
  readonly publicUrl: string | undefined;
}

export function messageOf(notice: Notice, { id, name, publicUrl }: RenderFacts): Message {
  const { kind, what, settled } = notice;
  const risk = notice.class === null ? null : (RISKS[notice.class] ?? null);
  const outcome = settled === null ? '' : outcomeOf(settled.state, settled.how);
  const ending = settled === null ? TITLES[kind] : outcome;
  const link = publicUrl === undefined ? null : linkOf(publicUrl, notice);
  const news = what === 'test' ? 'a test of notifications' : `${SUBJECTS[what]} ${ending}`;
  const title = `${plainWords(name)}: ${news}${risk === null ? '' : `, risk: ${risk}`}`;
  return {
    ...{ id, type: typeOf(notice), at: notice.at, title, link },
    lines: [...linesOf(notice, risk), ...(link === null ? [] : [`See ${link}`])],
    isUrgent: kind === 'escalation' || kind === 'expiring',
    data: {
      ...{ id: notice.id, what, notice: kind, risk, operation: plainWords(notice.operation) },
      ...{ project: notice.project === null ? null : plainWord(notice.project), link },
      ...(notice.by === null ? {} : { by: isoTime(notice.by) }),
      ...(settled === null
        ? { approvals: notice.approvals, quorum: notice.quorum, for: notice.people.join(' ') }
        : { state: settled.state, how: settled.how, attempt: settled.attempt, digest: settled.digest }),
    },
  };
}

/** `action.settled`, `approval.asked`: what a program tells notices apart by. */
function typeOf({ kind, what }: Notice): string {
  return kind === 'settled' ? 'action.settled' : `${what}.${kind}`;
}

function outcomeOf(state: string, how: string | null): string {
  if (state === 'unknown') return 'has an unknown outcome: it may have happened';
  if (state === 'cancelled') return `ended: ${(how ?? 'withdrawn').replaceAll('_', ' ')}`;
  return state === 'confirmed' ? 'is confirmed' : 'failed';
}

function linesOf(notice: Notice, risk: string | null): readonly string[] {
  const { what, id, operation, project, approvals, quorum, people, by, kind } = notice;
  if (what === 'test') return ['This is a test. Nothing waits for you.'];
  if (what === 'delivery') {
    return [`Nothing reaches anybody over ${plainWord(id)} at present.`, 'See countersign notify list'];
  }
  const words = operation === '' ? '' : `: ${plainWords(operation)}`;
  return [
    `${id}${words}${project === null ? '' : `, project ${plainWord(project)}`}`,
    ...(risk === null ? [] : [`risk: ${risk}`]),
    ...(what === 'approval' || what === 'request' ? [`${approvals} of ${quorum} approvals`] : []),
    ...(people.length === 0 ? [] : [`for ${people.join(', ')}`]),
    ...(by === null ? [] : [`${kind === 'expired' ? 'was open' : 'wanted'} until ${isoTime(by)}`]),
  ];
}

/** Pages only show and ask: whatever is decided there is signed there. */
function linkOf(publicUrl: string, { what, id }: Notice): string {
  switch (what) {
    case 'request':
      return `${publicUrl}/requests/${encodeURIComponent(id)}`;
    case 'enrolment':
      return `${publicUrl}/people`;
    case 'confirmation':
    case 'delivery':
    case 'test':
      return `${publicUrl}/`;
    default:
      return `${publicUrl}/actions/${encodeURIComponent(id)}`;
  }
}
