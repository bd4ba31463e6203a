/**
 * The life of a request: open, then signed, then used; or it expires, or a passkey fails at it. Pure.
 * Storing a receipt changes nothing else; the commit in which it first counts marks the request used.
 */
import type { Code, Json } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent } from '../ledger/index.js';
import { originOf } from './client-data.js';
import type { OriginGrade, Receipt, RequestDocument, RequestState } from './schema.js';

/** The place of open requests that are about no action, where lists look for them. */
export const BESIDE_ACTIONS = 'beside-actions';

export const requestKind: Kind<RequestState> = {
  name: 'request',
  version: 2,
  evolve: (state, event) => evolve(state, event),
  columns: (state) => ({
    status: state.state,
    principal: state.request.approver,
    // What waits beside actions is found without a look at every request about an action.
    ...(state.state === 'open' && state.request.kind !== 'action' ? { project: BESIDE_ACTIONS } : {}),
    ...(state.state === 'open' ? { due: state.request.exp, lookup: state.request.subject } : {}),
    ...(state.state === 'signed' ? { lookup: state.request.subject } : {}),
  }),
};

function evolve(state: RequestState | undefined, event: LedgerEvent): RequestState {
  switch (event.type) {
    case 'request-opened': {
      const { request, act } = event.data as unknown as { request: RequestDocument; act: Json };
      return { request, state: 'open', receipt: null, origin: null, signed_at: null, act };
    }
    case 'request-signed': {
      const {
        receipt,
        used,
        origin = null,
      } = event.data as unknown as {
        readonly receipt: Receipt;
        readonly used: boolean;
        readonly origin?: OriginGrade;
      };
      return { ...(state as RequestState), state: used ? 'used' : 'signed', receipt, origin, signed_at: event.at };
    }
    case 'request-expired':
      return { ...(state as RequestState), state: 'expired' };
    case 'request-withdrawn':
      return { ...(state as RequestState), state: 'withdrawn' };
    case 'request-used':
      return { ...(state as RequestState), state: 'used' };
    default:
      return state as RequestState;
  }
}

/** `act` is what a receipt of another kind than action authorizes, with its lines; null for an action. */
export function openRequest(request: RequestDocument, act: Json): NewEvent {
  const record = { kind: 'request', id: request.request_id } as const;
  return { record, type: 'request-opened', data: { request: request as Json, act } };
}

/** `used` where the same commit carries out what the receipt authorizes. Where a passkey was used is noted with it. */
export function signRequest(receipt: Receipt, used: boolean): NewEvent {
  const record = { kind: 'request', id: receipt.request.request_id } as const;
  const origin = receipt.method === 'webauthn' ? originOf(receipt) : undefined;
  const data = { receipt: receipt as Json, used, ...(origin === undefined ? {} : { origin }) };
  return { record, type: 'request-signed', data };
}

/** Ends a request at which a passkey failed; undefined where it is not open any more. */
export function withdrawRequest(state: RequestState | undefined, code: Code): NewEvent | undefined {
  if (state?.state !== 'open') return undefined;
  return { record: { kind: 'request', id: state.request.request_id }, type: 'request-withdrawn', data: { code } };
}

export function useRequest(requestId: string): NewEvent {
  return { record: { kind: 'request', id: requestId }, type: 'request-used', data: {} };
}

/** Ends a request that nobody signed in time; undefined where there is nothing to end. */
export function expireRequest(state: RequestState | undefined, now: number): NewEvent | undefined {
  if (state?.state !== 'open' || now < state.request.exp) return undefined;
  return { record: { kind: 'request', id: state.request.request_id }, type: 'request-expired', data: {} };
}
