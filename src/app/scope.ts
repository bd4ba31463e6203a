/**
 * What a caller with a token may ask for: verbs, projects and connectors. A caller without a scope is a process of the
 * store's owner, which has all of them. Looked at once, in front of every verb; what an act does to people, keys and
 * rules is asked for by nobody with a token, but for a standing approval.
 * Source: spec authority (agents), doors (HTTP API: reading is scoped).
 */
import { actionKind, type Caller, type Services } from '../actions/index.js';
import { isActionId, Refusal } from '../core/index.js';
import { isInScope, type Verb } from '../identity/index.js';

/** The verb of a scope behind each verb of the gate; an act is looked at by itself. */
const VERBS: Readonly<Record<string, Verb>> = {
  propose: 'propose',
  explain: 'propose',
  request: 'propose',
  'fetch-receipt': 'propose',
  approve: 'propose',
  sign: 'propose',
  execute: 'execute',
  retry: 'execute',
  reconcile: 'execute',
  recover: 'execute',
  cancel: 'cancel',
  comment: 'propose',
  cover: 'propose',
  'read packages': 'package',
  'confirm a package': 'package',
  package: 'package',
};

/** What belongs to no project and no connector: the word of the scope alone says whether it is covered. */
const PLACELESS: readonly (string | undefined)[] = ['package'];

/** What a person does who is signed in; what is signed is judged by its signature. */
const SESSION_VERBS: readonly string[] = [
  ...['request', 'request an act', 'sign', 'approve', 'fetch-receipt', 'cancel', 'comment', 'edit', 'explain'],
  ...['act by session', 'read packages', 'confirm a package'],
  // It asks the connector what became of a launch that was.
  'reconcile',
];

interface Place {
  readonly project?: string | undefined;
  readonly connector?: string | undefined;
}

/** Refuses `forbidden` for what the caller's scope does not cover (authority.token.scope). */
export async function demandScope(
  services: Pick<Services, 'ledger'>,
  { scope, session }: Caller,
  verb: string,
  asked: object,
): Promise<void> {
  // INVARIANT: being signed in launches nothing and proposes nothing (server.session.powerless).
  if (session === true && !SESSION_VERBS.includes(verb)) {
    throw new Refusal('forbidden', 'whoever is signed in reads, asks and takes back; everything else is signed');
  }
  if (scope === undefined) return;
  const given = asked as Readonly<Record<string, unknown>>;
  const place = await placeOf(services, given);
  const needed = verb === 'request an act' ? actVerb(given['act'], place) : VERBS[verb];
  // What names no place is for a scope that covers every place.
  const isWhole =
    place !== undefined ||
    PLACELESS.includes(needed) ||
    (scope.projects.includes('*') && scope.connectors.includes('*'));
  if (needed !== undefined && isWhole && isInScope(scope, needed, place ?? {})) return;
  throw new Refusal('forbidden', 'the scope of this token does not cover that');
}

function actVerb(act: unknown, place: Place | undefined): Verb | undefined {
  return (act as { kind?: unknown } | null)?.kind === 'standing' && place !== undefined ? 'propose' : undefined;
}

/** Where it happens, from what was handed over; undefined for what names no place. */
async function placeOf(
  { ledger }: Pick<Services, 'ledger'>,
  given: Readonly<Record<string, unknown>>,
): Promise<Place | undefined> {
  const named = (given['proposal'] ?? grantOf(given['act'])) as Place | null | undefined;
  if (typeof named?.project === 'string' && typeof named.connector === 'string') {
    return { project: named.project, connector: named.connector };
  }
  const id =
    given['actionId'] ?? idIn(given['resolution'], 'action_id') ?? idIn(requestIn(given['receipt']), 'subject');
  const state = typeof id === 'string' && isActionId(id) ? (await ledger.read(actionKind, id))?.state : undefined;
  return state === undefined ? undefined : { project: state.content.project, connector: state.content.connector };
}

function grantOf(act: unknown): unknown {
  return (act as { change?: { grant?: unknown } } | null | undefined)?.change?.grant;
}

function requestIn(receipt: unknown): unknown {
  return (receipt as { request?: unknown } | null | undefined)?.request;
}

function idIn(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}

/** What of something a caller can look at: it names its place, and who asked for it. */
export interface Seen {
  readonly project?: string | undefined;
  readonly connector?: string | undefined;
  readonly proposed_by?: string | undefined;
  /** As a row of a list names who asked. */
  readonly principal?: string | undefined;
}

/**
 * How much a caller sees, who means to do `verb` with it: nothing outside the scope of their token; within it all of
 * what they asked for themselves, and of everything else that it is there. A process of the store's owner sees
 * everything.
 */
export function sightOf({ scope, principal }: Caller, seen: Seen, verb: Verb = 'read'): 'all' | 'some' | 'none' {
  if (scope === undefined) return 'all';
  const { project, connector, proposed_by = seen.principal } = seen;
  if (!isInScope(scope, verb, { project, connector })) return 'none';
  return proposed_by === principal ? 'all' : 'some';
}

/** What of a request for a human act a caller can look at: who asked for it, and the place that a grant names. */
export function seenOfRequest(requestedBy: string, act: unknown): Seen {
  const { project, connector } = (grantOf(act) ?? {}) as Place;
  return { project, connector, proposed_by: requestedBy };
}
