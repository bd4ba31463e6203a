/**
 * An invitation: a link that lets one person make one passkey, which waits until an operator typed its code and signed
 * for it. It proves nothing about who opened it: the code does, which both sides show. Pure.
 *
 * The ledger holds the hash of the link's secret. A link that is opened a second time is void: somebody else has it.
 * Source: spec authority (approvers and keys: invite).
 */
import { digest, type JsonObject, LIMITS, type Principal, Refusal } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, RecordRef } from '../ledger/index.js';
import { passkeyAlgorithm } from './cose.js';
import type { Role } from './schema.js';

export type InvitationState = {
  readonly invitation_id: string;
  readonly person: Principal;
  readonly roles: readonly Role[];
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly state: 'open' | 'opened' | 'made' | 'void';
  readonly invited_by: string;
  /** The passkey that waits for its confirmation. */
  readonly passkey: { readonly public_key: string; readonly credential: string } | null;
};

export const invitationKind: Kind<InvitationState> = {
  name: 'invitation',
  version: 1,
  evolve: (state, event) => evolve(state, event),
  columns: (state) => ({
    status: state.state,
    principal: state.person,
    ...(state.state === 'made' ? { due: state.expires } : {}),
    ...(state.state === 'void' ? {} : { lookup: state.hash }),
  }),
};

export function invitationRecord(id: string): RecordRef {
  return { kind: 'invitation', id };
}

/** What the ledger keeps of a link's secret. */
export function invitationHash(secret: string): string {
  return digest('countersign-invitation/1', [secret]);
}

function evolve(state: InvitationState | undefined, event: LedgerEvent): InvitationState {
  switch (event.type) {
    case 'invited': {
      const { person, roles, hash, expires } = event.data as unknown as InvitationState;
      const begun = { state: 'open', invited_by: event.actor, passkey: null } as const;
      return { invitation_id: event.record.id, person, roles, hash, expires, ...begun };
    }
    case 'invitation-opened':
      return { ...(state as InvitationState), state: 'opened' };
    case 'passkey-made': {
      const { public_key, credential } = event.data as { public_key: string; credential: string };
      const expires = event.at + LIMITS.confirmMsMax;
      return { ...(state as InvitationState), state: 'made', passkey: { public_key, credential }, expires };
    }
    case 'invitation-voided':
      return { ...(state as InvitationState), state: 'void' };
    default:
      return state as InvitationState;
  }
}

/** An invitation of a person, good for 15 minutes. */
export function invite(id: string, person: string, roles: readonly Role[], secret: string, now: number): NewEvent {
  const data = { person, roles: [...roles], hash: invitationHash(secret), expires: now + LIMITS.invitationMs };
  return { record: invitationRecord(id), type: 'invited', data };
}

/** Opens a link, once. The event of a second opening voids it: nobody knows who was first. */
export function openInvitation(state: InvitationState | undefined, now: number): NewEvent | Refusal {
  if (state === undefined || state.state === 'void' || now >= state.expires) return gone();
  const record = invitationRecord(state.invitation_id);
  if (state.state === 'open') return { record, type: 'invitation-opened', data: {} };
  return { record, type: 'invitation-voided', data: {} };
}

/** Keeps the passkey that was made behind an opened link. */
export function keepPasskey(
  state: InvitationState | undefined,
  passkey: { readonly public_key: string; readonly credential: string },
  now: number,
): NewEvent | Refusal {
  if (state?.state !== 'opened' || now >= state.expires) return gone();
  if (passkeyAlgorithm(passkey.public_key) === undefined) {
    return new Refusal('invalid', 'the passkey is of no kind that is allowed', { path: 'public_key' });
  }
  const data: JsonObject = { ...passkey };
  return { record: invitationRecord(state.invitation_id), type: 'passkey-made', data };
}

/** Ends an invitation whose passkey was confirmed, or that somebody takes back. */
export function voidInvitation(id: string): NewEvent {
  return { record: invitationRecord(id), type: 'invitation-voided', data: {} };
}

function gone(): Refusal {
  const next = 'ask for another one: countersign approver invite NAME';
  return new Refusal('invitation', 'the invitation is over, or was opened before', { next });
}
