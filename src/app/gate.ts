/**
 * The gate as a program holds it: every verb of the product, for one caller. All doors call this; none has rules of
 * its own.
 *
 * Each method rejects with a `Refusal` (the request can't be granted, nothing changed) or a `Fault` (our side
 * failed), and with nothing else. Refusals are recorded.
 */
import {
  type ActionState,
  type Attached,
  actionKind,
  attachReceipt,
  type Caller,
  callLaunched,
  cancel,
  type DenialExtras,
  execute,
  explainProposal,
  fetchSigned,
  findOperation,
  type IssuedRequest,
  loadAction,
  type Proposal,
  type ProposedAction,
  parseReceipt,
  pinnedOperation,
  previewAction,
  propose,
  proposeLike,
  type Recovered,
  RefusalRecorder,
  type RefusedSubject,
  type RequestInput,
  readSummary,
  reconcile,
  recover,
  requestApproval,
  type Services,
  type Settled,
  storeReceipt,
} from '../actions/index.js';
import {
  type Act,
  actSummary,
  carryOut,
  type IssuedAct,
  type Receipt,
  requestAct,
  requestKind,
} from '../approvals/index.js';
import type { Preview } from '../connectors/index.js';
import { Fault, isOurs, LIMITS, Refusal } from '../core/index.js';
import { LEDGER_RECORD, type LedgerState, ledgerKind } from '../identity/index.js';
import type { Ledger, ListRow } from '../ledger/index.js';
import { type DecisionRow, listDecisions } from './decisions.js';
import { type ActionFilter, demandOpenable, demandSame, listActions, projectOf } from './gate-checks.js';
import { interruptOpen } from './restore.js';

export class Gate {
  readonly services: Services;
  readonly caller: Caller;
  readonly #refusals: RefusalRecorder;
  readonly #close: () => Promise<void>;
  readonly #admit: () => void;

  /** `admit` throws where the caller may no longer ask for anything. */
  constructor(services: Services, caller: Caller, close: () => Promise<void>, admit: () => void = () => undefined) {
    this.services = services;
    this.caller = caller;
    this.#refusals = new RefusalRecorder(services);
    this.#close = close;
    this.#admit = admit;
  }

  get ledger(): Ledger {
    return this.services.ledger;
  }

  /** Proposes an action; nothing runs yet. The same open action of the same caller is joined. */
  propose(proposal: Proposal): Promise<{ action_id: string; joined: boolean; state: string }> {
    return this.#guard({ verb: 'propose', ...projectOf(proposal) }, async () => {
      const { action_id, joined } = await propose(this.services, this.caller, proposal);
      return { action_id, joined, state: (await this.show(action_id)).state };
    });
  }

  /** Proposes and, where policy allows it, launches in the same commit. Else the action waits. */
  proposeAndLaunch(proposal: Proposal): Promise<{ proposed: ProposedAction; settled?: Settled }> {
    return this.#guard({ verb: 'propose', ...projectOf(proposal) }, async () => {
      const barrier = this.services.launchBarrier();
      if (barrier !== undefined) throw barrier;
      const proposed = await propose(this.services, this.caller, proposal, { launch: true });
      if (proposed.launched === undefined) return { proposed };
      const loaded = await loadAction(this.services, proposed.action_id);
      const operation = await pinnedOperation(this.services, loaded.content);
      return {
        proposed,
        settled: await callLaunched(this.services, loaded, operation, proposed.launched, proposed.monotonic),
      };
    });
  }

  /** What would be decided, who could approve, and the connector's view. Nothing is written. */
  explain(proposal: Proposal) {
    return this.#guard({ verb: 'explain', ...projectOf(proposal) }, () =>
      explainProposal(this.services, this.caller, proposal),
    );
  }

  /** Proposes again what an action of any caller asked for, flagged where its effect may have happened. */
  proposeLike(actionId: string): Promise<{ action_id: string; joined: boolean; state: string }> {
    return this.#guard({ verb: 'propose', action_id: actionId }, async () => {
      const { action_id, joined } = await proposeLike(this.services, this.caller, actionId);
      return { action_id, joined, state: (await this.show(action_id)).state };
    });
  }

  async show(actionId: string): Promise<ActionState> {
    const snapshot = await this.#ours(() => this.ledger.read(actionKind, actionId));
    if (snapshot === undefined) throw new Refusal('unknown_action', 'there is no such action');
    return snapshot.state;
  }

  /** The arguments of an action, checked against its digest. */
  async args(actionId: string): Promise<string> {
    return (await this.#ours(() => loadAction(this.services, actionId))).argsText;
  }

  async list(filter: ActionFilter = {}): Promise<{ rows: readonly ListRow[]; next?: string }> {
    return this.#ours(() => listActions(this.ledger, filter));
  }

  /** The text that a person signs, and the connector's own view of the change. */
  async summary(actionId: string): Promise<{ lines: readonly string[]; preview?: Preview }> {
    const { rendered } = await this.#ours(() => readSummary(this.services, actionId));
    const preview = await this.#ours(() => previewAction(this.services, actionId));
    return { lines: rendered, ...(preview === undefined ? {} : { preview }) };
  }

  /** Asks a person: issues the request that their key signs. */
  request(actionId: string, input: RequestInput = {}): Promise<IssuedRequest> {
    return this.#guard({ verb: 'request', action_id: actionId }, () =>
      requestApproval(this.services, this.caller, actionId, input),
    );
  }

  /**
   * Keeps a signed receipt with its request, or carries the signed act out once as many people have signed as have to;
   * an action is not changed.
   */
  submit(value: unknown): Promise<{ request_id: string; act?: Act; missing?: number }> {
    return this.#guard({ verb: 'sign' }, async () => {
      const receipt = parseReceipt(value);
      if (receipt.request.kind === 'action') return storeReceipt(this.services, this.caller, receipt);
      const { act, missing } = await carryOut(this.services, receipt);
      const { request_id } = receipt.request;
      if (missing > 0) return { request_id, missing };
      if (act.kind === 'config') await this.#reload();
      if (act.kind === 'restore') await interruptOpen(this.services);
      return { request_id, act };
    });
  }

  /** After a change was carried out: where it takes this caller's leave away, the next verb says so, not this one. */
  async #reload(): Promise<void> {
    try {
      await this.services.reloadTrust();
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'forbidden') throw error;
    }
  }

  /** Lets a receipt that the caller holds count toward the action: it approves, or denies. */
  approve(actionId: string, receipt: unknown, extras: DenialExtras = {}): Promise<Attached> {
    return this.#guard({ verb: 'approve', action_id: actionId }, () =>
      attachReceipt(this.services, this.caller, actionId, receipt, extras),
    );
  }

  /** Fetches the signed receipts of an action's requests and attaches them; undefined while none is signed. */
  fetchReceipt(actionId: string): Promise<Attached | undefined> {
    return this.#guard({ verb: 'fetch-receipt', action_id: actionId }, async () => {
      await this.show(actionId);
      return fetchSigned(this.services, this.caller, actionId);
    });
  }

  /** Launches an approved action, once, and tells what became of it. */
  execute(actionId: string): Promise<Settled> {
    return this.#guard({ verb: 'execute', action_id: actionId }, () => execute(this.services, this.caller, actionId));
  }

  /** Asks the connector what became of an unknown outcome. */
  reconcile(actionId: string): Promise<Settled> {
    return this.#guard({ verb: 'reconcile', action_id: actionId }, () =>
      reconcile(this.services, this.caller, actionId),
    );
  }

  /** Ends overdue launches as unknown and overdue proposals as expired; calls nothing. */
  recover(): Promise<Recovered> {
    return this.#guard({ verb: 'recover' }, async () => {
      await interruptOpen(this.services);
      return recover(this.services, this.caller);
    });
  }

  cancel(actionId: string, words?: string): Promise<void> {
    return this.#guard({ verb: 'cancel', action_id: actionId }, () =>
      cancel(this.services, this.caller, actionId, words),
    );
  }

  /** The receipt that approves an action; undefined while there is none. */
  async receiptOf(actionId: string): Promise<Receipt | undefined> {
    const { approvals } = await this.show(actionId);
    const requestId = approvals.at(-1)?.request_id;
    if (requestId === undefined) return undefined;
    const request = await this.#ours(() => this.ledger.readVerified(requestKind, requestId));
    return request?.state.receipt ?? undefined;
  }

  decisions(person?: string): Promise<readonly DecisionRow[]> {
    return this.#ours(() => listDecisions(this.ledger, this.services.clock.now(), person));
  }

  /** A request with the lines that its signer has to see. */
  async requestDetails(requestId: string): Promise<Omit<IssuedAct, 'also'> & { state: string; preview?: Preview }> {
    const request = await this.#ours(() => this.ledger.readVerified(requestKind, requestId));
    if (request === undefined) throw new Refusal('unknown_request', 'there is no such request');
    const { request: document, state } = request.state;
    if (document.kind !== 'action') {
      const act = await this.#ours(() => actSummary(this.ledger, requestId));
      demandSame(act, document.summary_digest);
      return { request: document, state, summary: act };
    }
    const { lines, preview } = await this.summary(document.subject);
    demandSame(lines, document.summary_digest);
    return { request: document, state, summary: lines, ...(preview === undefined ? {} : { preview }) };
  }

  /** Asks `person`, or the first operator, for an act on people, keys, configuration or the store. */
  requestAct(act: Act, person?: string): Promise<IssuedAct> {
    return this.#guard({ verb: 'request an act' }, async () => {
      demandOpenable(act);
      return requestAct(this.services, this.caller.principal, act, person);
    });
  }

  async identity(): Promise<LedgerState> {
    const snapshot = await this.#ours(() => this.ledger.read(ledgerKind, LEDGER_RECORD.id));
    if (snapshot === undefined) throw new Refusal('not_initialized', 'the ledger was never set up');
    return snapshot.state;
  }

  /** Waits until `until` holds or the time is over; answers the state that the action has then. */
  async wait(actionId: string, until: (state: ActionState) => boolean, timeoutMs: number): Promise<ActionState> {
    if (!(timeoutMs >= 0)) throw new Refusal('invalid', 'a wait takes 0 or more milliseconds', { path: 'timeoutMs' });
    const signal = AbortSignal.timeout(Math.ceil(Math.min(timeoutMs, LIMITS.waitMsMax)));
    const { sequence } = await this.#ours(() => this.ledger.head());
    let state = await this.show(actionId);
    if (until(state)) return state;
    for await (const { event } of this.ledger.watch(sequence, signal)) {
      if (event.record.kind !== 'action' || event.record.id !== actionId) continue;
      state = await this.show(actionId);
      if (until(state)) return state;
    }
    return state;
  }

  /** The operation behind a name, for those who describe it. */
  operation(connector: string, operation: string) {
    return this.#ours(() => findOperation(this.services, connector, operation));
  }

  /** Records a refusal that a door made by itself, before it came to the gate. */
  async refused(refusal: Refusal, subject: RefusedSubject): Promise<void> {
    await this.#refusals.record(this.caller, refusal, subject);
  }

  async close(): Promise<void> {
    await this.#refusals.flush();
    await this.#close();
  }

  async #guard<T>(subject: RefusedSubject, act: () => Promise<T>): Promise<T> {
    try {
      this.#admit();
      return await this.#ours(act);
    } catch (error) {
      if (error instanceof Refusal) this.services.log?.write('debug', `${subject.verb} was refused`, error);
      if (error instanceof Refusal && error.code !== 'busy') await this.#refusals.record(this.caller, error, subject);
      throw error;
    }
  }

  /** Nothing but a Refusal or a Fault leaves. */
  async #ours<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const ours = isOurs(error) ? error : new Fault('internal', 'the gate failed', error);
      if (ours instanceof Fault) this.services.log?.write('error', 'the gate failed', ours);
      throw ours;
    }
  }
}
