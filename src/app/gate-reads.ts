/**
 * What one can read at the gate: actions, their summaries, requests, decisions that wait. Nothing here writes.
 */
import {
  type ActionState,
  actionKind,
  findOperation,
  isResolution,
  loadAction,
  previewAction,
  readResolution,
  readSummary,
  type Services,
} from '../actions/index.js';
import { actSummary, type Grant, type IssuedAct, type Receipt, requestKind } from '../approvals/index.js';
import type { Preview } from '../connectors/index.js';
import { Fault, isOurs, LIMITS, Refusal } from '../core/index.js';
import { LEDGER_RECORD, type LedgerState, ledgerKind } from '../identity/index.js';
import type { Ledger, ListRow } from '../ledger/index.js';
import { ManifestMemo, readConfirmation } from '../packages/index.js';
import { type DecisionRow, listDecisions } from './decisions.js';
import { type ActionFilter, demandSame, listActions } from './gate-checks.js';
import { listGrants, narrowestGrant, type StandingRow } from './standing.js';

export class GateReads {
  readonly services: Services;

  constructor(services: Services) {
    this.services = services;
  }

  get ledger(): Ledger {
    return this.services.ledger;
  }

  async show(actionId: string): Promise<ActionState> {
    const snapshot = await this.ours(() => this.ledger.read(actionKind, actionId));
    if (snapshot === undefined) throw new Refusal('unknown_action', 'there is no such action');
    return snapshot.state;
  }

  /** The arguments of an action, checked against its digest. */
  async args(actionId: string): Promise<string> {
    return (await this.ours(() => loadAction(this.services, actionId))).argsText;
  }

  async list(filter: ActionFilter = {}): Promise<{ rows: readonly ListRow[]; next?: string }> {
    return this.ours(() => listActions(this.ledger, filter));
  }

  /** The text that a person signs, and the connector's own view of the change. */
  async summary(actionId: string): Promise<{ lines: readonly string[]; preview?: Preview }> {
    const { rendered } = await this.ours(() => readSummary(this.services, actionId));
    const preview = await this.ours(() => previewAction(this.services, actionId));
    return { lines: rendered, ...(preview === undefined ? {} : { preview }) };
  }

  /** The receipt that approves an action; undefined while there is none. */
  async receiptOf(actionId: string): Promise<Receipt | undefined> {
    const { approvals } = await this.show(actionId);
    const requestId = approvals.at(-1)?.request_id;
    if (requestId === undefined) return undefined;
    const request = await this.ours(() => this.ledger.readVerified(requestKind, requestId));
    return request?.state.receipt ?? undefined;
  }

  decisions(person?: string): Promise<readonly DecisionRow[]> {
    return this.ours(() => listDecisions(this.ledger, this.services.clock.now(), person));
  }

  /** A request with the lines that its signer has to see. */
  async requestDetails(requestId: string): Promise<Omit<IssuedAct, 'also'> & { state: string; preview?: Preview }> {
    const request = await this.ours(() => this.ledger.readVerified(requestKind, requestId));
    if (request === undefined) throw new Refusal('unknown_request', 'there is no such request');
    const { request: document, state } = request.state;
    if (isResolution(document.kind)) {
      const { summary } = await this.ours(() => readResolution(this.services, requestId));
      demandSame(summary, document.summary_digest);
      return { request: document, state, summary };
    }
    if (document.kind === 'summary') {
      const parts = { ledger: this.ledger, manifests: new ManifestMemo() };
      const { summary } = await this.ours(() => readConfirmation(parts, requestId));
      demandSame(summary, document.summary_digest);
      return { request: document, state, summary };
    }
    if (document.kind !== 'action') {
      const act = await this.ours(() => actSummary(this.ledger, requestId));
      demandSame(act, document.summary_digest);
      return { request: document, state, summary: act };
    }
    const { lines, preview } = await this.summary(document.subject);
    demandSame(lines, document.summary_digest);
    return { request: document, state, summary: lines, ...(preview === undefined ? {} : { preview }) };
  }

  async identity(): Promise<LedgerState> {
    const snapshot = await this.ours(() => this.ledger.read(ledgerKind, LEDGER_RECORD.id));
    if (snapshot === undefined) throw new Refusal('not_initialized', 'the ledger was never set up');
    return snapshot.state;
  }

  /** Waits until `until` holds or the time is over; answers the state that the action has then. */
  async wait(actionId: string, until: (state: ActionState) => boolean, timeoutMs: number): Promise<ActionState> {
    if (!(timeoutMs >= 0)) throw new Refusal('invalid', 'a wait takes 0 or more milliseconds', { path: 'timeoutMs' });
    const signal = AbortSignal.timeout(Math.ceil(Math.min(timeoutMs, LIMITS.waitMsMax)));
    const { sequence } = await this.ours(() => this.ledger.head());
    let state = await this.show(actionId);
    if (until(state)) return state;
    for await (const { event } of this.ledger.watch(sequence, signal)) {
      if (event.record.kind !== 'action' || event.record.id !== actionId) continue;
      state = await this.show(actionId);
      if (until(state)) return state;
    }
    return state;
  }

  /** Standing approvals, the newest first. */
  grants(): Promise<readonly StandingRow[]> {
    return this.ours(() => listGrants(this.ledger));
  }

  /** The narrowest standing approval that an action fits. */
  narrowestGrant(actionId: string, bounds: { readonly count: number; readonly until: number }): Promise<Grant> {
    return this.ours(() => narrowestGrant(this.services, actionId, bounds));
  }

  /** The operation behind a name, for those who describe it. */
  operation(connector: string, operation: string) {
    return this.ours(() => findOperation(this.services, connector, operation));
  }

  /** Nothing but a Refusal or a Fault leaves. */
  protected async ours<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const ours = isOurs(error) ? error : new Fault('internal', 'the gate failed', error);
      if (ours instanceof Fault) this.services.log?.write('error', 'the gate failed', ours);
      throw ours;
    }
  }
}
