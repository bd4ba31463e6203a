/**
 * What the events of a log mean, read in order: whether every receipt was good by the registry as it stood at its
 * place, whether every launch had its authority, and whether people, keys, configuration, freezes and standing
 * approvals changed by signatures alone. Nothing is believed that the rules of the gate can decide once more. It keeps
 * the registry, what is open, and which effects people denied: memory does not grow with what is done otherwise.
 * Source: spec ledger (verify), authority (request and receipt).
 */
import { LIMITS } from '../core/index.js';
import type { Defect, LedgerEvent } from '../ledger/index.js';
import { ActInspection } from './act-inspection.js';
import { ActionInspection, type AuditSource } from './action-inspection.js';
import { AuditWorld } from './audit-world.js';
import { commentDefect } from './comment-inspection.js';
import { confirmationDefect } from './package-inspection.js';
import { RequestInspection } from './request-inspection.js';

const DEFECTS_MAX = 100;
/** What a launch or an outcome makes of a grant; everything else of one is an act. */
const TAKINGS: readonly string[] = ['grant-reserved', 'grant-settled', 'grant-released'];

/** Whose records people change by what they sign. */
const ACT_KINDS: readonly string[] = ['ledger', 'config', 'person', 'key', 'token', 'freeze', 'grant'];

export class Inspection {
  readonly defects: Defect[] = [];
  readonly #world = new AuditWorld();
  readonly #requests = new RequestInspection(this.#world);
  readonly #acts = new ActInspection(this.#world, this.#requests);
  readonly #actions: ActionInspection;
  readonly #source: AuditSource;
  #latest = 0;

  constructor(source: AuditSource) {
    this.#source = source;
    this.#actions = new ActionInspection(this.#world, this.#requests, source);
  }

  get receipts() {
    return this.#requests.receipts;
  }

  get launches() {
    return this.#actions.launches;
  }

  get recoveries() {
    return this.#acts.recovery.recoveries;
  }

  async see(event: LedgerEvent): Promise<void> {
    // Gates that share a database write side by side, and take their places in the log a moment later.
    if (event.at < this.#latest - LIMITS.statementMsMax) this.#wrong(event, 'the time of the log goes back');
    this.#latest = Math.max(this.#latest, event.at);
    if (!this.#isOfAct(event)) this.#wrong(event, this.#acts.unfinished());
    if (event.record.kind !== 'effect') this.#wrong(event, this.#actions.unnoted());
    this.#wrong(event, this.#requests.unfinished(event));
    if (event.record.kind === 'effect') return this.#wrong(event, await this.#actions.effect(event));
    const isTaking = event.record.kind === 'budget' || TAKINGS.includes(event.type);
    if (isTaking) return this.#wrong(event, this.#actions.pend(event));
    if (event.record.kind === 'request') return this.#wrong(event, await this.#requests.see(event));
    if (event.record.kind === 'comment') return this.#wrong(event, await commentDefect(this.#source, event));
    if (event.record.kind === 'package') {
      return this.#wrong(event, confirmationDefect(this.#world, this.#requests, event));
    }
    if (event.record.kind === 'action') {
      for (const what of await this.#actions.see(event)) this.#wrong(event, what);
    } else if (this.#isOfAct(event)) {
      this.#wrong(event, await this.#acts.see(event));
      this.#world.fold(event);
      if (event.type === 'ledger-restored' || event.type === 'ledger-recovered') this.#requests.clear();
    }
  }

  /** Whether an event may belong to the act whose events were begun. */
  #isOfAct({ record, type }: LedgerEvent): boolean {
    return ACT_KINDS.includes(record.kind) && !TAKINGS.includes(type);
  }

  /** The log ends here: `last` is its last event. */
  finish(last: LedgerEvent): void {
    this.#wrong(last, this.#actions.unnoted());
    this.#wrong(last, this.#requests.unfinished());
    this.#wrong(last, this.#acts.unfinished());
    this.#wrong(last, this.#actions.unfinished());
  }

  #wrong(event: LedgerEvent, what: string | undefined): void {
    if (what === undefined || this.defects.length >= DEFECTS_MAX) return;
    const where = `${event.record.kind}/${event.record.id}#${event.revision}`;
    this.defects.push({ where, what });
  }
}
