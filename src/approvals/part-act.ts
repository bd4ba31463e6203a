/**
 * A human act that another part of the product defines (a package's summary): asked for, shown, signed, and carried
 * out in one commit with what that part decides. The part says what the act is, who may sign it and what follows; the
 * request, the receipt and their checks are the same as for every other act.
 * Source: spec authority (human authority; request and receipt).
 */
import { base64urlEncode, displayText, type Json, LIMITS, Refusal } from '../core/index.js';
import { LEDGER_RECORD, type LedgerState, ledgerKind } from '../identity/index.js';
import type { Committed, Ledger, View, Work } from '../ledger/index.js';
import { CONFIG_RECORD, METHODS } from '../policy/index.js';
import type { ActServices, IssuedAct } from './acts.js';
import { checkInView, receiptRecords, verifyReceipt } from './check.js';
import { openRequest, requestKind, signRequest } from './machine.js';
import type { Receipt, RequestDocument, RequestKind, SummaryLines } from './schema.js';
import { isStale, type People, peopleOf, STALE_PEOPLE } from './signers.js';
import { renderSummary, summaryDigest } from './summary.js';
import type { Expected } from './verify.js';

export interface PartAct {
  readonly kind: Extract<RequestKind, 'summary'>;
  /** The record that it is about. */
  readonly subject: string;
  /** Over exactly what the receipt is for. */
  readonly digest: string;
  /** Kept with the request, so that the act can be read again. */
  readonly document: Json;
  /** What is signed, behind the lines of the ledger. */
  readonly lines: SummaryLines;
}

/** Those who approve and have a key that can be used, sorted. */
function approversAmong({ approvers }: People): readonly string[] {
  return approvers
    .filter(({ keys }) => keys.length > 0)
    .map(({ person }) => person)
    .sort();
}

async function identityOf(ledger: Ledger): Promise<LedgerState> {
  const identity = await ledger.readVerified(ledgerKind, LEDGER_RECORD.id);
  if (identity === undefined) throw new Refusal('not_initialized', 'the ledger was never set up');
  return identity.state;
}

/** The text that is signed for an act, as it is now. */
export async function partActSummary(ledger: Ledger, act: PartAct): Promise<readonly string[]> {
  const { demo, name, ledger_id } = await identityOf(ledger);
  const head = [
    ...(demo ? [{ name: 'demo ledger', value: 'DEMO LEDGER' }] : []),
    { name: 'ledger', value: `${name} ${ledger_id}` },
  ];
  return renderSummary([...head, ...act.lines]);
}

/**
 * Issues the request for an act to `person`, or to the first approver. `holds` says in the commit whether it can
 * still be asked for. Refuses `approvers`, `approver_not_allowed`, and what `holds` answers.
 */
export async function requestPartAct(
  services: ActServices,
  requestedBy: string,
  act: PartAct,
  guard: { readonly reads: NonNullable<Work<Json>['reads']>; holds(view: View): Refusal | undefined },
  person?: string,
): Promise<IssuedAct> {
  const { ledger } = services;
  const approvers = approversAmong(await peopleOf(ledger));
  const approver = person ?? approvers[0];
  if (approver === undefined) throw new Refusal('approvers', 'nobody is registered who may sign this');
  if (!approvers.includes(approver)) {
    throw new Refusal('approver_not_allowed', `${displayText(approver)} may not sign this`);
  }
  const { ledger_id } = await identityOf(ledger);
  const summary = await partActSummary(ledger, act);
  const request_id = services.ids.mint('req');
  const nonce = base64urlEncode(services.random.bytes(32));
  const { outcome: request } = await ledger.commit({
    actor: requestedBy,
    reads: [LEDGER_RECORD, ...guard.reads],
    writes: [{ kind: 'request', id: request_id }],
    decide: (view) => {
      const refused = guard.holds(view);
      if (refused !== undefined) return refused;
      const document: RequestDocument = {
        v: 1,
        kind: act.kind,
        aud: { ledger_id, epoch: view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch ?? 0 },
        request_id,
        approver,
        subject: act.subject,
        digest: act.digest,
        summary_digest: summaryDigest(summary),
        requested_by: requestedBy,
        nonce,
        iat: view.now,
        exp: view.now + LIMITS.requestTtlMsDefault,
      };
      return { events: [openRequest(document, act.document)], outcome: document };
    },
  });
  return { request, also: [], summary };
}

/** The document that an open request of this kind holds. Refuses `unknown_request`, `kind` and `replay`. */
export async function partActDocument(ledger: Ledger, requestId: string, kind: PartAct['kind']): Promise<Json> {
  const stored = await ledger.readVerified(requestKind, requestId);
  if (stored === undefined) throw new Refusal('unknown_request', 'this gate did not issue the request');
  if (stored.state.request.kind !== kind) {
    throw new Refusal('kind', `the receipt is of kind ${stored.state.request.kind}`);
  }
  if (stored.state.state === 'used') throw new Refusal('replay', 'the request was signed already');
  return stored.state.act;
}

/**
 * Verifies the receipt and carries the act out, in one commit that uses its nonce up and holds what `work` decides. A
 * claim of the work that is taken answers what was recorded then, and the receipt stays unused.
 */
export async function carryOutPartAct<Outcome extends Json>(
  services: ActServices,
  receipt: Receipt,
  act: PartAct,
  work: Work<Outcome>,
): Promise<Committed<Outcome>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await carryOutOnce(services, receipt, act, work);
    } catch (error) {
      if (error !== STALE_PEOPLE || attempt >= LIMITS.commitAttemptsMax) throw error;
    }
  }
}

async function carryOutOnce<Outcome extends Json>(
  services: ActServices,
  receipt: Receipt,
  act: PartAct,
  work: Work<Outcome>,
): Promise<Committed<Outcome>> {
  const { ledger } = services;
  const { request } = receipt;
  const people = await peopleOf(ledger);
  const expected: Expected = {
    kind: act.kind,
    subject: act.subject,
    digest: act.digest,
    summaryDigest: summaryDigest(await partActSummary(ledger, act)),
    notBefore: 0,
    methods: METHODS,
    approvers: approversAmong(people),
    excluded: [],
  };
  await verifyReceipt(services, receipt, expected);
  const own = receiptRecords(receipt).filter(({ kind }) => kind !== 'request' && kind !== 'config');
  return ledger.commit({
    actor: request.approver,
    ...(work.claim === undefined ? {} : { claim: work.claim }),
    once: [{ scope: 'nonce', key: request.nonce }],
    reads: [LEDGER_RECORD, CONFIG_RECORD, ...own, ...(work.reads ?? [])],
    writes: [{ kind: 'request', id: request.request_id }, ...work.writes],
    decide: (view) => {
      if (isStale(view, people)) return STALE_PEOPLE;
      const wrong = checkInView(view, receipt, expected);
      if (wrong !== undefined) return wrong;
      if (view.get(requestKind, request.request_id)?.state.state !== 'open') {
        return new Refusal('replay', 'the request was signed already');
      }
      const decided = work.decide(view);
      if (decided instanceof Refusal) return decided;
      return { events: [signRequest(receipt, true), ...decided.events], outcome: decided.outcome };
    },
  });
}
