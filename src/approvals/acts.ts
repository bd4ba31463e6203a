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
  type JsonObject,
  LIMITS,
  type Random,
  Refusal,
} from '../core/index.js';
import {
  decideRegistry,
  keyId,
  LEDGER_RECORD,
  ledgerKind,
  personKind,
  type RegistryFacts,
  restoreLedger,
} from '../identity/index.js';
import type { KindName, Ledger, ListRow, NewEvent, RecordRef, View } from '../ledger/index.js';
import { applyConfig, CONFIG_RECORD, configKind } from '../policy/index.js';
import { type Act, actDigest, actLines, admitAct } from './act-schema.js';
import { checkInView, receiptRecords, verifyReceipt } from './check.js';
import { openRequest, requestKind, signRequest } from './machine.js';
import type { Receipt, RequestDocument } from './schema.js';
import { renderSummary, summaryDigest } from './summary.js';
import type { Expected, ProofVerifier } from './verify.js';

export interface ActServices {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdMinter;
  readonly proofs: ProofVerifier;
}

export interface IssuedAct {
  readonly request: RequestDocument;
  readonly summary: readonly string[];
}

async function activeRows(ledger: Ledger, kind: KindName): Promise<readonly ListRow[]> {
  const rows: ListRow[] = [];
  for (let after: string | undefined; rows.length < LIMITS.unitRecordsMax; ) {
    const page = await ledger.list({ kind, statuses: ['active'], ...(after === undefined ? {} : { after }) });
    rows.push(...page.rows);
    if (page.next === undefined) break;
    after = page.next;
  }
  return rows;
}

/** People who may sign acts, with their active keys. */
async function operators(ledger: Ledger): Promise<RegistryFacts> {
  const keys = await activeRows(ledger, 'key');
  const found: { person: string; keys: string[] }[] = [];
  for (const { id } of await activeRows(ledger, 'person')) {
    const person = await ledger.read(personKind, id);
    if (!person?.state.roles.includes('operator')) continue;
    found.push({ person: id, keys: keys.filter((row) => row.principal === id).map((row) => row.id) });
  }
  return { operators: found };
}

/** A further key of a person is that person's to sign for; everything else is an operator's. */
async function signersOf(ledger: Ledger, act: Act, facts: RegistryFacts): Promise<readonly string[]> {
  if (act.kind === 'registry' && act.change.change === 'add-key') {
    const known = await ledger.read(personKind, act.change.person);
    if (known?.state.state === 'active') return [act.change.person];
  }
  const able = facts.operators.filter(({ keys }) => keys.length > 0);
  return able.map(({ person }) => person).sort();
}

/**
 * Issues the request for an act to `human:NAME`, or to the first who could sign it. Refuses `invalid`, `approvers`
 * where nobody could, and `approver_not_allowed` where this person can't.
 */
export async function requestAct(
  services: ActServices,
  requestedBy: string,
  asked: unknown,
  person?: string,
): Promise<IssuedAct> {
  const { ledger } = services;
  const act = admitAct(asked);
  await demandInLog(ledger, act);
  const signers = await signersOf(ledger, act, await operators(ledger));
  if (person !== undefined && signers.length > 0 && !signers.includes(person)) {
    throw new Refusal('approver_not_allowed', `${displayText(person)} may not sign this`);
  }
  const approver = person ?? signers[0];
  if (approver === undefined || signers.length === 0)
    throw new Refusal('approvers', 'nobody is registered who may sign this');
  const identity = await ledger.read(ledgerKind, LEDGER_RECORD.id);
  if (identity === undefined) throw new Refusal('not_initialized', 'the ledger was never set up');
  const summary = renderSummary(actLines(identity.state, act));
  const request_id = services.ids.mint('req');
  const nonce = base64urlEncode(services.random.bytes(32));
  const committed = await ledger.commit({
    actor: requestedBy,
    reads: [LEDGER_RECORD, CONFIG_RECORD],
    writes: [{ kind: 'request', id: request_id }],
    decide: (view) => {
      const stale = staleBase(view, act);
      if (stale !== undefined) return stale;
      const request: RequestDocument = {
        v: 1,
        kind: act.kind,
        aud: { ledger_id: identity.state.ledger_id, epoch: view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch ?? 0 },
        request_id,
        approver,
        subject: subjectOf(act),
        digest: actDigest(act),
        summary_digest: summaryDigest(summary),
        requested_by: requestedBy,
        nonce,
        iat: view.now,
        exp: view.now + LIMITS.requestTtlMsDefault,
      };
      return { events: [openRequest(request, act as unknown as Json)], outcome: request };
    },
  });
  return { request: committed.outcome, summary };
}

/** A restore accepts a log that this store has; the store is what it says it is, or nobody could sign for it. */
async function demandInLog(ledger: Ledger, act: Act): Promise<void> {
  if (act.kind !== 'restore' || act.sequence === 0) return;
  const [entry] = await ledger.log(act.sequence - 1);
  if (entry?.sequence === act.sequence && entry.logHash === act.log_hash) return;
  throw new Refusal('ledger_rolled_back', 'the store does not hold the log that would be accepted');
}

function staleBase(view: View, act: Act): Refusal | undefined {
  if (act.kind !== 'config' || view.get(configKind, CONFIG_RECORD.id)?.state.version === act.base) return undefined;
  return new Refusal('policy_changed', 'the configuration changed since this was asked for');
}

function subjectOf(act: Act): string {
  switch (act.kind) {
    case 'registry':
      return act.change.change === 'revoke-key' ? act.change.key_id : act.change.person;
    case 'config':
      return CONFIG_RECORD.id;
    case 'restore':
      return LEDGER_RECORD.id;
  }
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

/** Verifies the receipt and carries the act out, in one commit that uses its nonce up. */
export async function carryOut(services: ActServices, receipt: Receipt): Promise<Act> {
  const { ledger } = services;
  const { request } = receipt;
  const stored = await ledger.readVerified(requestKind, request.request_id);
  if (stored === undefined || stored.state.act === null) {
    throw new Refusal('unknown_request', 'this gate did not issue the request');
  }
  const act = admitAct(stored.state.act);
  await demandInLog(ledger, act);
  const facts = await operators(ledger);
  const expected: Expected = {
    kind: act.kind,
    subject: subjectOf(act),
    digest: actDigest(act),
    summaryDigest: summaryDigest(await actSummary(ledger, request.request_id)),
    notBefore: 0,
    methods: ['ed25519'],
    approvers: await signersOf(ledger, act, facts),
    excluded: [],
  };
  await verifyReceipt(services, receipt, expected);
  await ledger.commit({
    actor: request.approver,
    once: [{ scope: 'nonce', key: request.nonce }],
    reads: act.kind === 'registry' ? operatorRecords(facts) : [],
    writes: recordsOf(act, receipt),
    decide: (view) => {
      const wrong = checkInView(view, receipt, expected);
      if (wrong !== undefined) return wrong;
      if (view.get(requestKind, request.request_id)?.state.state !== 'open') {
        return new Refusal('replay', 'the request was signed already');
      }
      const events = actEvents(view, act, facts, request);
      if (events instanceof Refusal) return events;
      return { events: [signRequest(receipt, true), ...events], outcome: null };
    },
  });
  return act;
}

/** The operators and their keys, so that whether one is left is judged by what stands in the same commit. */
function operatorRecords({ operators: known }: RegistryFacts): RecordRef[] {
  return known.flatMap(({ person, keys }): RecordRef[] => [
    { kind: 'person', id: person },
    ...keys.map((id) => ({ kind: 'key', id }) as const),
  ]);
}

/** Everything that the act may change or that its checks look at; people and keys change under a lock of the ledger. */
function recordsOf(act: Act, receipt: Receipt): RecordRef[] {
  const records: RecordRef[] = [LEDGER_RECORD, CONFIG_RECORD, ...receiptRecords(receipt)];
  if (act.kind === 'registry') {
    if (act.change.change !== 'revoke-key') records.push({ kind: 'person', id: act.change.person });
    if (act.change.change === 'revoke-key') records.push({ kind: 'key', id: act.change.key_id });
    if (act.change.change === 'add-key') records.push({ kind: 'key', id: keyId(act.change.public_key) });
  }
  return records;
}

function actEvents(
  view: View,
  act: Act,
  facts: RegistryFacts,
  { request_id, approver }: RequestDocument,
): readonly NewEvent[] | Refusal {
  const authorization: JsonObject = { request_id, approver };
  switch (act.kind) {
    case 'registry':
      return decideRegistry(view, act.change, facts, approver, authorization);
    case 'config':
      return staleBase(view, act) ?? [applyConfig(act.config, authorization)];
    case 'restore':
      return [restoreLedger({ ...authorization, sequence: act.sequence, log_hash: act.log_hash })];
  }
}
