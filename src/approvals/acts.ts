/**
 * Human acts on people, keys and configuration: asked for, shown, signed, and carried out in one commit with the
 * signature.
 *
 * It promises that what is carried out is byte for byte what was signed, by somebody who may; it refuses a receipt for
 * anything else, one from an earlier epoch, and one that was used.
 * Source: spec authority (human authority; approvers and keys; trust configuration).
 */
import {
  base64urlEncode,
  type Clock,
  displayText,
  type IdMinter,
  type Json,
  LIMITS,
  type Random,
  Refusal,
} from '../core/index.js';
import { CONFIRM_FIRST, LEDGER_RECORD, ledgerKind } from '../identity/index.js';
import type { Ledger } from '../ledger/index.js';
import { CONFIG_RECORD } from '../policy/index.js';
import { actEvents, actRefusal, recordsOf, subjectOf } from './act-events.js';
import { type Act, actDigest, actLines, admitAct } from './act-schema.js';
import { checkInView, receiptRecords, verifyReceipt } from './check.js';
import { openRequest, requestKind, signRequest, useRequest } from './machine.js';
import type { ProofVerifier } from './proof.js';
import type { Receipt, RequestDocument } from './schema.js';
import { factRecords, isStale, type People, peopleOf, STALE_PEOPLE, signingOf } from './signers.js';
import { renderSummary, summaryDigest } from './summary.js';
import type { Expected } from './verify.js';

export interface ActServices {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdMinter;
  readonly proofs: ProofVerifier;
}

export interface IssuedAct {
  readonly request: RequestDocument;
  /** The same act for further people, where more than one has to sign it. */
  readonly also: readonly RequestDocument[];
  readonly summary: readonly string[];
}

/**
 * Issues the request for an act to `human:NAME`, or to the first who could sign it; and to others, where more than one
 * has to sign. Refuses `invalid`, `approvers` where nobody could, and `approver_not_allowed` where this person can't.
 */
export async function requestAct(
  services: ActServices,
  requestedBy: string,
  asked: unknown,
  person?: string,
): Promise<IssuedAct> {
  const act = admitAct(asked);
  return withFreshPeople(() => requestOnce(services, requestedBy, act, person));
}

/** Tries again where people, keys or the configuration changed meanwhile; refuses `busy` where they keep changing. */
async function withFreshPeople<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (error !== STALE_PEOPLE || attempts >= LIMITS.commitAttemptsMax) throw error;
    }
  }
}

async function requestOnce(
  services: ActServices,
  requestedBy: string,
  act: Act,
  person: string | undefined,
): Promise<IssuedAct> {
  const { ledger } = services;
  await demandInLog(ledger, act);
  const people = await peopleOf(ledger);
  const { signers, neededWith } = await signingOf(ledger, act, people);
  const identity = await ledger.read(ledgerKind, LEDGER_RECORD.id);
  if (identity === undefined) throw new Refusal('not_initialized', 'the ledger was never set up');
  if (signers.length === 0) {
    const next = identity.state.bootstrapped ? {} : { next: CONFIRM_FIRST };
    throw new Refusal('approvers', 'nobody is registered who may sign this', next);
  }
  if (person !== undefined && !signers.includes(person)) {
    throw new Refusal('approver_not_allowed', `${displayText(person)} may not sign this`);
  }
  const first = person ?? (signers[0] as string);
  const approvers = [first, ...signers.filter((name) => name !== first)].slice(0, neededWith(first));
  const summary = renderSummary(actLines(identity.state, act));
  const { ledger_id } = identity.state;
  const drafts = approvers.map((approver) => ({
    approver,
    request_id: services.ids.mint('req'),
    nonce: base64urlEncode(services.random.bytes(32)),
  }));
  const committed = await ledger.commit({
    actor: requestedBy,
    reads: [...recordsOf(act), ...factRecords(act, people)],
    writes: drafts.map(({ request_id }) => ({ kind: 'request', id: request_id })),
    decide: (view) => {
      if (isStale(view, people)) return STALE_PEOPLE;
      const refused = actRefusal(view, act, people, drafts);
      if (refused !== undefined) return refused;
      const requests = drafts.map(
        (draft): RequestDocument => ({
          v: 1,
          kind: act.kind,
          aud: { ledger_id, epoch: view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch ?? 0 },
          ...draft,
          subject: subjectOf(act),
          digest: actDigest(act),
          summary_digest: summaryDigest(summary),
          requested_by: requestedBy,
          iat: view.now,
          exp: view.now + LIMITS.requestTtlMsDefault,
        }),
      );
      const events = requests.map((request) => openRequest(request, act as unknown as Json));
      return { events, outcome: requests };
    },
  });
  const [request, ...also] = committed.outcome;
  return { request: request as RequestDocument, also, summary };
}

/** A restore accepts a log that this store has; the store is what it says it is, or nobody could sign for it. */
async function demandInLog(ledger: Ledger, act: Act): Promise<void> {
  if (act.kind !== 'restore' || act.sequence === 0) return;
  const [entry] = await ledger.log(act.sequence - 1);
  if (entry?.sequence === act.sequence && entry.logHash === act.log_hash) return;
  throw new Refusal('ledger_rolled_back', 'the store does not hold the log that would be accepted');
}

/** The lines of a request's act, rendered anew from what the request holds. */
export async function actSummary(ledger: Ledger, requestId: string): Promise<readonly string[]> {
  const request = await ledger.readVerified(requestKind, requestId);
  const identity = await ledger.read(ledgerKind, LEDGER_RECORD.id);
  if (request === undefined || identity === undefined || request.state.act === null) {
    throw new Refusal('unknown_request', 'there is no such request');
  }
  return renderSummary(actLines(identity.state, request.state.act as unknown as Act));
}

export interface Submitted {
  readonly act: Act;
  /** Signatures of other people that the act still waits for; 0 once it was carried out. */
  readonly missing: number;
}

/**
 * Verifies the receipt and carries the act out, in one commit that uses its nonce up; or keeps it with its request,
 * where another person has to sign the same act as well. Refuses `busy` where people, keys or the configuration keep
 * changing meanwhile.
 */
export function carryOut(services: ActServices, receipt: Receipt): Promise<Submitted> {
  return withFreshPeople(() => carryOutOnce(services, receipt));
}

async function carryOutOnce(services: ActServices, receipt: Receipt): Promise<Submitted> {
  const { ledger } = services;
  const { request } = receipt;
  const stored = await ledger.readVerified(requestKind, request.request_id);
  if (stored === undefined || stored.state.act === null) {
    throw new Refusal('unknown_request', 'this gate did not issue the request');
  }
  const act = admitAct(stored.state.act);
  await demandInLog(ledger, act);
  const people = await peopleOf(ledger);
  const { signers, methods, neededWith } = await signingOf(ledger, act, people);
  const needed = neededWith(request.approver);
  const expected: Expected = {
    kind: act.kind,
    subject: subjectOf(act),
    digest: actDigest(act),
    summaryDigest: summaryDigest(await actSummary(ledger, request.request_id)),
    notBefore: 0,
    methods,
    approvers: signers,
    excluded: [],
  };
  await verifyReceipt(services, receipt, expected);
  const others = needed === 1 ? [] : await signedByOthers(services, receipt, expected);
  const receipts = [receipt, ...others.slice(0, needed - 1)];
  if (receipts.length < needed) {
    await keep(services, receipt, expected, people);
    return { act, missing: needed - receipts.length };
  }
  await ledger.commit({
    actor: request.approver,
    once: receipts.map((one) => ({ scope: 'nonce', key: one.request.nonce })),
    reads: factRecords(act, people),
    writes: [...recordsOf(act), ...receipts.flatMap(receiptRecords)],
    decide: (view) => {
      if (isStale(view, people)) return STALE_PEOPLE;
      for (const one of receipts) {
        const wrong = checkInView(view, one, expected);
        if (wrong !== undefined) return wrong;
      }
      if (view.get(requestKind, request.request_id)?.state.state !== 'open') {
        return new Refusal('replay', 'the request was signed already');
      }
      const events = actEvents(view, act, people, receipts);
      if (events instanceof Refusal) return events;
      const used = receipts.slice(1).map((one) => useRequest(one.request.request_id));
      return { events: [signRequest(receipt, true), ...used, ...events], outcome: null };
    },
  });
  return { act, missing: 0 };
}

/** Receipts of other people for the same act, each verified again: the newest of each person. */
async function signedByOthers(services: ActServices, receipt: Receipt, expected: Expected): Promise<Receipt[]> {
  const { ledger, clock } = services;
  const found = new Map<string, Receipt>();
  for (const { id, status } of await ledger.lookup('request', expected.subject)) {
    const known = status === 'signed' ? (await ledger.readVerified(requestKind, id))?.state : undefined;
    const other = known?.receipt;
    if (!other || other.request.digest !== expected.digest || other.request.kind !== expected.kind) continue;
    const isFresh = clock.now() < (known?.signed_at ?? 0) + LIMITS.requestTtlMsMax;
    if (!isFresh || other.request.approver === receipt.request.approver) continue;
    const good = await verifyReceipt(services, other, expected).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal) return false;
        throw error;
      },
    );
    if (good) found.set(other.request.approver, other);
  }
  return [...found.values()];
}

/** Keeps a verified receipt with its request until the others have signed. */
async function keep({ ledger }: ActServices, receipt: Receipt, expected: Expected, people: People): Promise<void> {
  await ledger.commit({
    actor: receipt.request.approver,
    reads: [LEDGER_RECORD, CONFIG_RECORD, ...receiptRecords(receipt).filter(({ kind }) => kind !== 'request')],
    writes: [{ kind: 'request', id: receipt.request.request_id }],
    decide: (view) => {
      if (isStale(view, people)) return STALE_PEOPLE;
      const wrong = checkInView(view, receipt, expected);
      if (wrong !== undefined) return wrong;
      if (view.get(requestKind, receipt.request.request_id)?.state.state !== 'open') {
        return new Refusal('replay', 'the request was signed already');
      }
      return { events: [signRequest(receipt, false)], outcome: null };
    },
  });
}
