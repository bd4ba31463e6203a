/**
 * What an act changes once it is signed: the records that its commit holds, and the events that it appends. Pure.
 * Source: spec authority (human authority).
 */
import { type JsonObject, Refusal } from '../core/index.js';
import {
  changedRecords,
  changedTokens,
  decideAgent,
  decideRegistry,
  LEDGER_RECORD,
  ledgerKind,
  registryChanged,
  restoreLedger,
} from '../identity/index.js';
import type { NewEvent, RecordRef, View } from '../ledger/index.js';
import { applyConfig, CONFIG_RECORD, configKind } from '../policy/index.js';
import { type Act, epochBehind } from './act-schema.js';
import { decideFreeze, FREEZE_RECORD, freezeKind } from './freeze.js';
import type { RequestDocument } from './schema.js';
import { domainRefusal, lastKeys, type People } from './signers.js';
import { decideStanding, grantKind, grantRecord } from './standing.js';

function staleBase(view: View, act: Act): Refusal | undefined {
  if (act.kind !== 'config' || view.get(configKind, CONFIG_RECORD.id)?.state.version === act.base) return undefined;
  const next = 'ask again with `countersign config apply`';
  return new Refusal('policy_changed', 'the configuration changed since this was asked for', { next });
}

function configRefusal(view: View, act: Extract<Act, { kind: 'config' }>, facts: People): Refusal | undefined {
  const domain = view.get(configKind, CONFIG_RECORD.id)?.state.domain;
  return staleBase(view, act) ?? domainRefusal(domain, act, facts) ?? lastKeys(view, act, facts);
}

export function subjectOf(act: Act): string {
  switch (act.kind) {
    case 'registry':
      return act.change.change === 'revoke-key' ? act.change.key_id : act.change.person;
    case 'agent':
      return act.change.token_id;
    case 'config':
      return CONFIG_RECORD.id;
    case 'restore':
      return LEDGER_RECORD.id;
    case 'freeze':
      return FREEZE_RECORD.id;
    case 'standing':
      return act.change.grant_id;
  }
}

/**
 * Why an act could not be carried out even if these people signed it now.
 * INVARIANT: nobody is asked to sign for what could not be carried out (authority.acts.feasible).
 */
export function actRefusal(
  view: View,
  act: Act,
  facts: People,
  requests: readonly Signed['request'][],
): Refusal | undefined {
  const signed = requests.map((request) => ({ request, credential_id: '' }));
  const events = actEvents(view, act, facts, signed);
  return events instanceof Refusal ? events : undefined;
}

/** Everything that the act may change or that its checks look at; people and keys change under a lock of the ledger. */
export function recordsOf(act: Act): RecordRef[] {
  const records: RecordRef[] = [LEDGER_RECORD, CONFIG_RECORD];
  if (act.kind === 'freeze') records.push(FREEZE_RECORD);
  if (act.kind === 'standing') records.push(grantRecord(act.change.grant_id));
  if (act.kind === 'agent') records.push(...changedTokens(act.change));
  if (act.kind === 'registry') records.push(...changedRecords(act.change));
  return records;
}

/** Who signed, with which key and by which request. */
export interface Signed {
  readonly request: Pick<RequestDocument, 'request_id' | 'approver'>;
  readonly credential_id: string;
}

export function actEvents(
  view: View,
  act: Act,
  facts: People,
  receipts: readonly Signed[],
): readonly NewEvent[] | Refusal {
  const { request_id, approver } = (receipts[0] as Signed).request;
  const also = receipts.slice(1).map(({ request }) => ({ request_id: request.request_id, approver: request.approver }));
  const authorization: JsonObject = { request_id, approver, ...(also.length === 0 ? {} : { also }) };
  switch (act.kind) {
    case 'registry': {
      const events = decideRegistry(view, act.change, facts, approver, authorization);
      if (events instanceof Refusal || act.change.change === 'away') return events;
      return [...events, registryChanged(authorization)];
    }
    case 'agent':
      return decideAgent(view, act.change, authorization);
    case 'config':
      return configRefusal(view, act, facts) ?? [applyConfig(act.config, authorization)];
    case 'restore': {
      const { sequence, log_hash, remembered } = act;
      const epoch = epochBehind(view.get(ledgerKind, LEDGER_RECORD.id)?.state ?? { epoch: 0 }, remembered);
      return [restoreLedger({ ...authorization, sequence, log_hash }, epoch)];
    }
    case 'freeze': {
      const event = decideFreeze(view.get(freezeKind, FREEZE_RECORD.id)?.state, act.op, act.scope, authorization);
      return event instanceof Refusal ? event : [event];
    }
    case 'standing': {
      const known = view.get(grantKind, act.change.grant_id)?.state;
      const signers = receipts.map(({ request, credential_id }) => ({
        person: request.approver,
        key_id: credential_id,
      }));
      const epoch = view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch ?? 0;
      const event = decideStanding(known, act.change, { signers, epoch }, authorization, view.now);
      return event instanceof Refusal ? event : [event];
    }
  }
}
