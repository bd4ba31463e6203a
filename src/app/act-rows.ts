/**
 * Requests for human acts and resolutions that wait for their signature, each with how many people have to sign the
 * same, and how many have.
 * Source: spec actions (decisions), authority (approvers and keys).
 */
import { BESIDE_ACTIONS, type RequestDocument, type RequestState, requestKind } from '../approvals/index.js';
import { LIMITS } from '../core/index.js';
import type { Ledger, ListRow } from '../ledger/index.js';
import type { DecisionRow } from './decisions.js';
import { behindEnded } from './inbox-walk.js';
import { Moot } from './moot.js';

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
  const state = (await ledger.read(requestKind, id))?.state;
  if (state === undefined || state.request.kind === 'action') return undefined;
  const { request } = state;
  if (person !== undefined && request.approver !== person) return undefined;
  if (await asking.moot.is(state)) return undefined;
  return {
    what: 'request',
    id,
    project: null,
    operation: wordOf(state),
    target: request.subject,
    class: null,
    ...(await asking.of(request)),
    approvers: [request.approver],
    due,
    next: `countersign approver sign ${id}`,
  };
}

/** What is asked for, in a word or two: `config`, `registry away`, `freeze lift`, `standing revoke`. */
function wordOf({ request: { kind }, act }: RequestState): string {
  const said = act as {
    readonly op?: unknown;
    readonly change?: { readonly change?: unknown; readonly op?: unknown };
  } | null;
  const more = said?.op ?? said?.change?.change ?? said?.change?.op;
  return typeof more === 'string' ? `${kind} ${more}` : kind;
}

/** Who else was asked to sign the same, read once for each subject. */
export class Asking {
  readonly #ledger: Ledger;
  readonly #now: number;
  readonly #known = new Map<string, readonly RequestState[]>();
  readonly moot: Moot;

  constructor(ledger: Ledger, now: number) {
    this.#ledger = ledger;
    this.#now = now;
    this.moot = new Moot(ledger, now);
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
