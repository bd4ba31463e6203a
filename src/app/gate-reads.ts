/**
 * What one can read at the gate: actions, their summaries, requests, decisions that wait. Nothing here writes. What a
 * caller hands over is copied at the border, and nothing but a `Refusal` or a `Fault` leaves.
 */
import {
  type ActionState,
  actionKind,
  type Comment,
  commentsOf,
  compensationOf,
  evidenceOfAttempt,
  findOperation,
  isResolution,
  loadAction,
  previewAction,
  readResolution,
  readSummary,
  type Services,
  tellingAttempt,
} from '../actions/index.js';
import {
  actSummary,
  FREEZE_RECORD,
  type Frozen,
  freezeKind,
  type Grant,
  type IssuedAct,
  type Receipt,
  type RequestKind,
  requestKind,
} from '../approvals/index.js';
import type { Preview } from '../connectors/index.js';
import { isActionId, type Json, LIMITS, Refusal } from '../core/index.js';
import { LEDGER_RECORD, type LedgerState, ledgerKind } from '../identity/index.js';
import type { Ledger, ListRow } from '../ledger/index.js';
import { ManifestMemo, readConfirmation } from '../packages/index.js';
import { Attendance, attending } from './attendance.js';
import { atBorder } from './border.js';
import { byUrgency, type DecisionPage, type DecisionQuery, type DecisionRow, listDecisions } from './decisions.js';
import { type ActionFilter, demandSame, listActions } from './gate-checks.js';
import { type Seen, seenOfRequest } from './scope.js';
import { listGrants, narrowestGrant, type StandingRow } from './standing.js';

/** Which page of what waits. */
export type InboxQuery = Partial<DecisionQuery>;

export class GateReads {
  readonly services: Services;

  constructor(services: Services) {
    this.services = services;
  }

  get ledger(): Ledger {
    return this.services.ledger;
  }

  show(actionId: string): Promise<ActionState> {
    return this.#look({ actionId }, (asked) => this.#stateOf(asked.actionId));
  }

  /** Whether somebody waits for what becomes of an action, or its agent listens, as far as anybody knows. */
  isAwaited(actionId: string): Promise<boolean> {
    return this.#look({ actionId }, async (asked) => {
      const { content } = await this.#stateOf(asked.actionId);
      const waiting = await attending(this.ledger);
      return waiting.has(asked.actionId) || waiting.has(content.proposed_by);
    });
  }

  /** The arguments of an action, checked against its digest. */
  args(actionId: string): Promise<string> {
    return this.#look({ actionId }, async (asked) => (await loadAction(this.services, asked.actionId)).argsText);
  }

  /** What the connector answered, or a person found out: of the attempt that tells how the action ended. */
  evidence(actionId: string): Promise<Json | undefined> {
    return this.#look({ actionId }, async (asked) => {
      const attempt = tellingAttempt(await this.#stateOf(asked.actionId));
      return attempt === undefined ? undefined : evidenceOfAttempt(this.ledger, asked.actionId, attempt);
    });
  }

  /** What people and the proposer said about an action, the oldest first. */
  comments(actionId: string): Promise<readonly Comment[]> {
    return this.#look({ actionId }, async (asked) => {
      await this.#stateOf(asked.actionId);
      return commentsOf(this.services, asked.actionId);
    });
  }

  /** What would undo a confirmed action, as its connector left it; undefined where it left nothing. */
  undoing(actionId: string) {
    return this.#look({ actionId }, async (asked) =>
      compensationOf(this.services, await this.#stateOf(asked.actionId)),
    );
  }

  list(filter: ActionFilter = {}): Promise<{ rows: readonly ListRow[]; next?: string }> {
    return this.#look({ filter }, (asked) => listActions(this.ledger, asked.filter));
  }

  /** The text that a person signs, and the connector's own view of the change. */
  summary(actionId: string): Promise<{ lines: readonly string[]; preview?: Preview }> {
    return this.#look({ actionId }, (asked) => this.#summaryOf(asked.actionId));
  }

  /** The receipt that approves an action; undefined while there is none. */
  receiptOf(actionId: string): Promise<Receipt | undefined> {
    return this.#look({ actionId }, async (asked) => {
      const { approvals } = await this.#stateOf(asked.actionId);
      const requestId = approvals.at(-1)?.request_id;
      if (requestId === undefined) return undefined;
      return (await this.ledger.readVerified(requestKind, requestId))?.state.receipt ?? undefined;
    });
  }

  /** What people signed for an action and nobody has attached yet, the oldest first. */
  signedReceipts(actionId: string): Promise<readonly Receipt[]> {
    return this.#look({ actionId }, async (asked) => {
      await this.#stateOf(asked.actionId);
      const found: Receipt[] = [];
      for (const { id, status } of await this.ledger.lookup('request', asked.actionId)) {
        const request = status === 'signed' ? await this.ledger.readVerified(requestKind, id) : undefined;
        if (request?.state.receipt) found.push(request.state.receipt);
        if (found.length === LIMITS.receiptsFetchedMax) break;
      }
      return found;
    });
  }

  /** All that waits, the most urgent first, as far as a bounded number of pages goes. `inbox` goes on. */
  async decisions(person?: string): Promise<readonly DecisionRow[]> {
    const rows: DecisionRow[] = [];
    let after: string | undefined;
    for (let pages = 0; pages < LIMITS.inboxPagesMax && rows.length < LIMITS.inboxRowsMax; pages += 1) {
      const page = await this.inbox({ person, after, limit: LIMITS.inboxRowsMax - rows.length });
      rows.push(...page.rows);
      after = page.next;
      if (after === undefined) break;
    }
    return rows.sort(byUrgency);
  }

  /** A page of what waits, most urgent first, and where the next one begins. */
  inbox(page: InboxQuery = {}): Promise<DecisionPage> {
    return this.#look({ page }, async (asked) => {
      const { limit = LIMITS.inboxRowsDefault, ...rest } = asked.page;
      if (Number.isSafeInteger(limit) && limit >= 1 && limit <= LIMITS.inboxRowsMax) {
        return listDecisions(this.services, { ...rest, limit });
      }
      throw new Refusal('invalid', `a page has 1 to ${LIMITS.inboxRowsMax} rows`, { path: 'limit' });
    });
  }

  /** A request with the lines that its signer has to see. */
  requestDetails(requestId: string): Promise<Omit<IssuedAct, 'also'> & { state: string; preview?: Preview }> {
    return this.#look({ requestId }, async (asked) => {
      const request = await this.ledger.readVerified(requestKind, asked.requestId);
      if (request === undefined) throw new Refusal('unknown_request', 'there is no such request');
      const { request: document, state } = request.state;
      if (document.kind === 'action') {
        const { lines, preview } = await this.#summaryOf(document.subject);
        demandSame(lines, document.summary_digest);
        return { request: document, state, summary: lines, ...(preview === undefined ? {} : { preview }) };
      }
      const summary = await this.#linesOf(document.kind, asked.requestId);
      demandSame(summary, document.summary_digest);
      return { request: document, state, summary };
    });
  }

  /** What a caller can look at of a request: the action that it is about, or who asked for it. Nothing is rendered. */
  requestSeen(requestId: string): Promise<Seen & { readonly action_id?: string }> {
    return this.#look({ requestId }, async (asked) => {
      const state = (await this.ledger.read(requestKind, asked.requestId))?.state;
      if (state === undefined) throw new Refusal('unknown_request', 'there is no such request');
      const { subject, requested_by } = state.request;
      return isActionId(subject) ? { action_id: subject } : seenOfRequest(requested_by, state.act);
    });
  }

  /** What is signed for a request of another kind than action, rendered anew. */
  async #linesOf(kind: RequestKind, requestId: string): Promise<readonly string[]> {
    if (isResolution(kind)) return (await readResolution(this.services, requestId)).summary;
    if (kind !== 'summary') return actSummary(this.ledger, requestId);
    return (await readConfirmation({ ledger: this.ledger, manifests: new ManifestMemo() }, requestId)).summary;
  }

  identity(): Promise<LedgerState> {
    return this.#look({}, async () => {
      const snapshot = await this.ledger.read(ledgerKind, LEDGER_RECORD.id);
      if (snapshot === undefined) throw new Refusal('not_initialized', 'the ledger was never set up');
      return snapshot.state;
    });
  }

  /** Waits until `until` holds or the time is over; answers the state that the action has then. */
  wait(actionId: string, until: (state: ActionState) => boolean, timeoutMs: number): Promise<ActionState> {
    return this.#look({ actionId, timeoutMs }, async (asked) => {
      const holds = this.#questionOf(until);
      const signal = AbortSignal.timeout(Math.ceil(Math.min(asked.timeoutMs, LIMITS.waitMsMax)));
      const { sequence } = await this.ledger.head();
      let state = await this.#stateOf(asked.actionId);
      if (holds(state)) return state;
      const attendance = new Attendance(this.services, asked.actionId);
      try {
        for await (const { event } of this.ledger.watch(sequence, signal)) {
          if (event.record.kind !== 'action' || event.record.id !== asked.actionId) continue;
          state = await this.#stateOf(asked.actionId);
          if (holds(state)) return state;
        }
        return state;
      } finally {
        await attendance.leave();
      }
    });
  }

  /** What is frozen. */
  frozen(): Promise<readonly Frozen[]> {
    return this.#look({}, async () => (await this.ledger.read(freezeKind, FREEZE_RECORD.id))?.state.frozen ?? []);
  }

  /** Standing approvals, the newest first. */
  grants(): Promise<readonly StandingRow[]> {
    return this.#look({}, () => listGrants(this.ledger));
  }

  /** The narrowest standing approval that an action fits. */
  narrowestGrant(actionId: string, bounds: { readonly count: number; readonly until: number }): Promise<Grant> {
    return this.#look({ actionId, bounds }, (asked) => narrowestGrant(this.services, asked.actionId, asked.bounds));
  }

  /** The operation behind a name, for those who describe it. */
  operation(connector: string, operation: string) {
    return this.#look({ connector, operation }, (asked) =>
      findOperation(this.services, asked.connector, asked.operation),
    );
  }

  #look<Given extends object, T>(given: Given, act: (admitted: Given) => Promise<T>): Promise<T> {
    return atBorder(this.services.log, given, act);
  }

  async #stateOf(actionId: string): Promise<ActionState> {
    const snapshot = await this.ledger.read(actionKind, actionId);
    if (snapshot === undefined) throw new Refusal('unknown_action', 'there is no such action');
    return snapshot.state;
  }

  async #summaryOf(actionId: string): Promise<{ lines: readonly string[]; preview?: Preview }> {
    const { rendered } = await readSummary(this.services, actionId);
    const preview = await previewAction(this.services, actionId);
    return { lines: rendered, ...(preview === undefined ? {} : { preview }) };
  }

  /** What a wait asks of each state. What the caller's own function throws is for the log. */
  #questionOf(until: unknown): (state: ActionState) => boolean {
    if (typeof until !== 'function') throw new Refusal('invalid', 'a wait takes a function', { path: 'until' });
    return (state) => {
      try {
        return Boolean(until(state));
      } catch (error) {
        this.services.log?.write('warn', 'what a wait asks for threw', error);
        throw new Refusal('invalid', 'what the wait asks for threw', { path: 'until' });
      }
    };
  }
}
