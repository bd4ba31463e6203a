/**
 * Human acts as an audit of the log sees them: what changed people, keys, the configuration, freezes, standing
 * approvals or the epoch is, event by event, what the gate makes of an act that enough people signed. The rules that
 * carry an act out decide it once more.
 * Source: spec ledger (verify), authority (human authority).
 */
import {
  type Act,
  actDigest,
  actEvents,
  actLines,
  isBySession,
  type Receipt,
  renderSummary,
  sessionActOf,
  sessionEvents,
  signingOf,
  summaryDigest,
} from '../approvals/index.js';
import { canonicalize, isOurs, type Json, Refusal } from '../core/index.js';
import { keyKind, LEDGER_RECORD, ledgerKind } from '../identity/index.js';
import type { LedgerEvent, NewEvent } from '../ledger/index.js';
import { policyVersion, type TrustConfig } from '../policy/index.js';
import type { AuditWorld } from './audit-world.js';
import { RecoveryInspection } from './registry-inspection.js';
import type { RequestInspection } from './request-inspection.js';

/** Which kind of act changes a kind of record. */
const ACTS: Readonly<Record<string, Act['kind']>> = {
  ledger: 'restore',
  config: 'config',
  person: 'registry',
  key: 'registry',
  token: 'agent',
  freeze: 'freeze',
  grant: 'standing',
};

export class ActInspection {
  readonly recovery = new RecoveryInspection();
  readonly #world: AuditWorld;
  readonly #requests: RequestInspection;
  /** The events that have to follow: one act is one commit. */
  #left: readonly string[] = [];
  #requestId: string | undefined;
  /** Who and what was registered before there was a first approver. */
  readonly #first = new Set<string>();

  constructor(world: AuditWorld, requests: RequestInspection) {
    this.#world = world;
    this.#requests = requests;
  }

  /** What is wrong with an event that only an act makes. */
  async see(event: LedgerEvent): Promise<string | undefined> {
    const free = this.#withoutAct(event);
    if (free !== 'act') return free;
    const isFirst = this.#left.length === 0;
    if (isFirst && isBySession(event)) {
      const wrong = this.#beginSession(event);
      if (wrong !== undefined) return wrong;
    }
    const { request_id } = (event.data['authorization'] ?? {}) as { request_id?: string };
    if ((isFirst && !isBySession(event)) || request_id !== this.#requestId) {
      const begun = await this.#begin(event, request_id);
      if (begun !== undefined) return begun;
    }
    const [next, ...left] = this.#left;
    if (next !== textOf(event)) {
      this.#left = [];
      return 'what was signed leads to something else';
    }
    this.#left = left;
    return undefined;
  }

  /** Whether an act was carried out in part, when the log goes on or ends. */
  unfinished(): string | undefined {
    if (this.#left.length === 0) return undefined;
    this.#left = [];
    return 'an act was carried out in part';
  }

  /**
   * What needs no signature: the beginning of a ledger, its first approver, a recovery at the terminal. `act` for
   * everything else.
   */
  #withoutAct(event: LedgerEvent): string | undefined {
    const ledger = this.#world.state(ledgerKind, LEDGER_RECORD.id);
    switch (event.type) {
      case 'ledger-created':
        return ledger === undefined ? undefined : 'the ledger began already';
      case 'bootstrap-completed':
        if (ledger?.bootstrapped === true) return 'there was a first approver already';
        return this.#first.size === 2 && this.#first.has(`person ${String(event.data['person'])}`)
          ? undefined
          : 'the first approver is not one person with one key';
      case 'ledger-recovered':
        this.recovery.begin(event);
        return undefined;
      case 'configuration-applied':
        if (this.#world.config !== undefined) return 'act';
        return isOfVersion(event) ? undefined : 'the configuration is not the one of its version';
      default:
    }
    if (event.record.kind !== 'person' && event.record.kind !== 'key') return 'act';
    const isKnown = event.type === 'key-added' && this.#world.state(keyKind, event.record.id) !== undefined;
    if (isKnown) return 'the key was registered already';
    if (ledger?.bootstrapped === true) return this.recovery.covers(event) ? undefined : 'act';
    this.#first.add(`${event.record.kind} ${event.record.id}`);
    return undefined;
  }

  /** Decides once more what a person did who was signed in and signed nothing. */
  #beginSession(event: LedgerEvent): string | undefined {
    const act = sessionActOf(event);
    if (act === undefined) return 'no session does this';
    const events = sessionEvents(this.#world.viewAt(event.at), act, event.actor, this.#world.people());
    if (events instanceof Refusal) return `a session could not do this: ${events.message}`;
    this.#left = events.map(textOf);
    this.#requestId = undefined;
    return undefined;
  }

  /** Decides the act of a receipt once more: its events are what has to follow. */
  async #begin(event: LedgerEvent, requestId: string | undefined): Promise<string | undefined> {
    const kind = event.type === 'registry-changed' ? 'registry' : ACTS[event.record.kind];
    const main = this.#requests.signed(requestId);
    const act = main?.act as unknown as Act | null | undefined;
    const { also = [] } = (event.data['authorization'] ?? {}) as { also?: readonly { readonly request_id: string }[] };
    const others = also.map(({ request_id }) => this.#requests.signed(request_id)?.receipt);
    const receipts = [main?.receipt, ...others].filter((one): one is Receipt => one !== undefined);
    if (!act || act.kind !== kind || !receipts.every((one) => this.#isFor(one, act))) {
      return `no receipt of kind ${kind} stands behind this`;
    }
    const wrong = await this.#unfit(act, receipts);
    if (wrong !== undefined) return wrong;
    const events = actEvents(this.#world.viewAt(event.at), act, this.#world.people(), receipts);
    if (events instanceof Refusal) return `what was signed could not be carried out: ${events.message}`;
    if (!this.#requests.usedUp(requestId, receipts)) return 'an act did not use up the nonces of its receipts';
    if (event.actor !== receipts[0]?.request.approver) return 'somebody else carried this out';
    for (const { request } of receipts) this.#requests.use(request.request_id);
    this.#left = events.map(textOf);
    this.#requestId = requestId;
    return undefined;
  }

  #isFor({ request }: Receipt, act: Act): boolean {
    const ledger = this.#world.state(ledgerKind, LEDGER_RECORD.id);
    if (ledger === undefined || request.kind !== act.kind || request.digest !== actDigest(act)) return false;
    return request.summary_digest === summaryDigest(renderSummary(actLines(ledger, act)));
  }

  /** Why these people could not have this act carried out. */
  async #unfit(act: Act, receipts: readonly Receipt[]): Promise<string | undefined> {
    try {
      const { signers, methods, neededWith } = await signingOf(this.#world, act, this.#world.people());
      for (const receipt of receipts) {
        const lapse = this.#requests.lapse(receipt);
        if (lapse !== undefined) return `an act stands on a receipt ${lapse}`;
        const may = signers.includes(receipt.request.approver) && methods.includes(receipt.method);
        if (!may) return 'somebody signed this who may not';
      }
      const [first] = receipts;
      const people = new Set(receipts.map(({ request }) => request.approver));
      const needed = first === undefined ? 1 : neededWith(first.request.approver);
      return people.size >= needed ? undefined : 'too few people signed this';
    } catch (error) {
      if (isOurs(error)) return `what was signed could not be carried out: ${error.message}`;
      throw error;
    }
  }
}

function isOfVersion({ data }: LedgerEvent): boolean {
  const { version, config } = data as unknown as { readonly version: string; readonly config: TrustConfig };
  return policyVersion(config) === version;
}

/** An event without what the ledger adds to it. */
export function textOf({ record, type, data }: NewEvent | LedgerEvent): string {
  const { claims: _, ...own } = data;
  return canonicalize([record.kind, record.id, type, own] as Json);
}
