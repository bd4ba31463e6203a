/**
 * Requests for human acts and resolutions that wait for their signature, each with how many people have to sign the
 * same, and how many have.
 * Source: spec actions (decisions), authority (approvers and keys).
 */
import { actionKind, isResolution } from '../actions/index.js';
import { BESIDE_ACTIONS, type RequestDocument, type RequestState, requestKind } from '../approvals/index.js';
import { LIMITS } from '../core/index.js';
import type { Ledger, ListRow } from '../ledger/index.js';
import type { DecisionRow } from './decisions.js';
import { behindEnded } from './inbox-walk.js';

/** At most `rowsMax`; `person` narrows to what is asked of them. */
export async function actRows(
  ledger: Ledger,
  now: number,
  rowsMax: number,
  person?: string,
): Promise<readonly DecisionRow[]> {
  const asking = new Asking(ledger, now);
  const rows: DecisionRow[] = [];
  for (let after = behindEnded(now); rows.length < rowsMax; ) {
    const asked = { kind: 'request', project: BESIDE_ACTIONS, waiting: true } as const;
    const page = await ledger.list({ ...asked, after });
    for (const row of page.rows) {
      const found = await actRow(ledger, asking, row, now, person);
      if (found !== undefined) rows.push(found);
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  return rows;
}

/** The row of one request; undefined where nobody has to sign it, or another than `person`. */
export async function actRow(
  ledger: Ledger,
  asking: Asking,
  { id, due = 0 }: ListRow,
  now: number,
  person: string | undefined,
): Promise<DecisionRow | undefined> {
  if (due <= now) return undefined;
  const request = (await ledger.read(requestKind, id))?.state.request;
  if (request === undefined || request.kind === 'action') return undefined;
  if (person !== undefined && request.approver !== person) return undefined;
  if (await isMoot(ledger, request)) return undefined;
  return {
    what: 'request',
    id,
    project: null,
    operation: request.kind,
    target: request.subject,
    class: null,
    ...(await asking.of(request)),
    approvers: [request.approver],
    due,
    next: `countersign approver sign ${id}`,
  };
}

/** Whether what would be signed for is decided already: nobody is asked to sign in vain. */
async function isMoot(ledger: Ledger, { kind, subject }: RequestDocument): Promise<boolean> {
  if (!isResolution(kind)) return false;
  const action = (await ledger.read(actionKind, subject))?.state;
  if (action === undefined) return false;
  if (kind === 'assume_duplicate') return action.state !== 'unknown' || action.replaced_by !== null;
  return action.state !== 'unknown' && action.late_result === null;
}

/** Who else was asked to sign the same, read once for each subject. */
export class Asking {
  readonly #ledger: Ledger;
  readonly #now: number;
  readonly #known = new Map<string, readonly RequestState[]>();

  constructor(ledger: Ledger, now: number) {
    this.#ledger = ledger;
    this.#now = now;
  }

  /** An act is asked of as many people, in one commit, as have to sign it. */
  async of(request: RequestDocument): Promise<{ readonly approvals: number; readonly quorum: number }> {
    const same = (await this.#openOn(request.subject)).filter(
      (one) => one.request.kind === request.kind && one.request.digest === request.digest,
    );
    const isFresh = ({ state, signed_at }: RequestState) =>
      state === 'signed' && this.#now < (signed_at ?? 0) + LIMITS.requestTtlMsMax;
    const together = same.filter(
      (one) => one.request.iat === request.iat && one.request.requested_by === request.requested_by,
    );
    const people = (states: readonly RequestState[]) => new Set(states.map((one) => one.request.approver)).size;
    return { approvals: people(same.filter(isFresh)), quorum: Math.max(1, people(together)) };
  }

  async #openOn(subject: string): Promise<readonly RequestState[]> {
    const known = this.#known.get(subject);
    if (known !== undefined) return known;
    const found: RequestState[] = [];
    for (const { id } of await this.#ledger.lookup('request', subject)) {
      const state = (await this.#ledger.read(requestKind, id))?.state;
      if (state !== undefined) found.push(state);
    }
    this.#known.set(subject, found);
    return found;
  }
}
