/**
 * What a person does who is signed in and signs nothing: pull the brake, and take back what is their own, a key or a
 * standing approval that they signed. Each makes less possible than before; nothing that makes more possible is here.
 *
 * It promises that it is recorded as theirs, and as by a session; and that it is never a signature.
 * Source: spec authority (human authority; freeze).
 */
import { type JsonObject, LIMITS, type Principal, Refusal } from '../core/index.js';
import { decideRegistry, keyKind, personKind, registryChanged } from '../identity/index.js';
import type { NewEvent, View } from '../ledger/index.js';
import { recordsOf } from './act-events.js';
import { type Act, admitAct } from './act-schema.js';
import type { ActServices } from './acts.js';
import { decideFreeze, FREEZE_RECORD, type FreezeScope, freezeKind } from './freeze.js';
import { factRecords, isStale, type People, peopleOf, STALE_PEOPLE } from './signers.js';
import { decideStanding, grantKind } from './standing.js';

/** Where what is recorded came from, instead of a receipt. */
const AUTHORIZATION = { via: 'session' } as const satisfies JsonObject;

/** Whether an event says that it came from a session. */
export function isBySession({ data }: Pick<NewEvent, 'data'>): boolean {
  return (data['authorization'] as { via?: unknown } | undefined)?.via === AUTHORIZATION.via;
}

/**
 * Does it, in one commit. Refuses `forbidden` for what takes a signature and for what is another one's, and as the act
 * itself is refused.
 */
export async function actBySession(services: ActServices, person: Principal, asked: unknown): Promise<Act> {
  const act = admitAct(asked);
  for (let attempt = 1; ; attempt += 1) {
    const people = await peopleOf(services.ledger);
    try {
      await services.ledger.commit({
        actor: person,
        reads: [{ kind: 'person', id: person }, ...factRecords(act, people)],
        writes: recordsOf(act),
        decide: (view) => {
          if (isStale(view, people)) return STALE_PEOPLE;
          const events = sessionEvents(view, act, person, people);
          return events instanceof Refusal ? events : { events, outcome: null };
        },
      });
      return act;
    } catch (error) {
      if (error !== STALE_PEOPLE || attempt >= LIMITS.commitAttemptsMax) throw error;
    }
  }
}

/**
 * The events of an act that a session alone carries out. Pure.
 * INVARIANT: a session stops, and takes back its own; it allows nothing (server.session.brake).
 */
export function sessionEvents(
  view: View,
  act: Act,
  person: string,
  facts: Pick<People, 'operators' | 'able'>,
): readonly NewEvent[] | Refusal {
  const known = view.get(personKind, person)?.state;
  if (known?.state !== 'active') return new Refusal('forbidden', 'nobody active does this');
  if (act.kind === 'freeze' && act.op === 'set') {
    if (!known.roles.some((role) => role === 'approver' || role === 'operator')) {
      return new Refusal('forbidden', 'the brake is for approvers and operators');
    }
    return listed(decideFreeze(view.get(freezeKind, FREEZE_RECORD.id)?.state, 'set', act.scope, AUTHORIZATION));
  }
  if (act.kind === 'registry' && act.change.change === 'revoke-key') {
    const key = view.get(keyKind, act.change.key_id)?.state;
    if (key !== undefined && key.person !== person) return new Refusal('forbidden', 'this is a key of another person');
    const events = decideRegistry(view, act.change, facts, person, AUTHORIZATION);
    return events instanceof Refusal ? events : [...events, registryChanged(AUTHORIZATION)];
  }
  if (act.kind === 'standing' && act.change.op === 'revoke') {
    const grant = view.get(grantKind, act.change.grant_id)?.state;
    if (grant !== undefined && !grant.signers.some((signer) => signer.person === person)) {
      return new Refusal('forbidden', 'this person did not sign that standing approval');
    }
    const none = { signers: [], epoch: 0 };
    return listed(decideStanding(grant, act.change, none, AUTHORIZATION, view.now));
  }
  return new Refusal('forbidden', 'this takes a signature', { next: 'ask for it, and sign the request' });
}

function listed(event: NewEvent | Refusal): readonly NewEvent[] | Refusal {
  return event instanceof Refusal ? event : [event];
}

/** The act that an event by a session would be the first of; undefined for what no session does. */
export function sessionActOf({ type, record, data }: Pick<NewEvent, 'type' | 'record' | 'data'>): Act | undefined {
  switch (type) {
    case 'freeze-set':
      return {
        kind: 'freeze',
        op: 'set',
        scope: { scope: data['scope'], name: data['name'] } as unknown as FreezeScope,
      };
    case 'key-revoked':
      return { kind: 'registry', change: { change: 'revoke-key', key_id: record.id } };
    case 'grant-revoked':
      return { kind: 'standing', change: { op: 'revoke', grant_id: record.id } };
    default:
      return undefined;
  }
}
