/**
 * What waits, of every kind, in the one order of the store: the soonest first, from a place on. Actions, requests that
 * are about no action, and packages lie side by side in it, so that one place goes on in all of them.
 *
 * It reads rows of the index alone, a page of each kind at a time. Source: spec actions (decisions).
 */
import { BESIDE_ACTIONS } from '../approvals/index.js';
import { LIMITS, Refusal } from '../core/index.js';
import { isRecordId, type Ledger, type ListQuery, type ListRow, waitingCursor } from '../ledger/index.js';

const KINDS = [
  { kind: 'action' },
  { kind: 'request', project: BESIDE_ACTIONS },
  { kind: 'package' },
] as const satisfies readonly ListQuery[];

type WaitingKind = (typeof KINDS)[number]['kind'];

export interface Waits {
  readonly kind: WaitingKind;
  readonly row: ListRow;
}

/** Rows of one kind, fetched as they are needed. */
class Rows {
  readonly #ledger: Ledger;
  readonly #query: ListQuery & { readonly kind: WaitingKind };
  #rows: readonly ListRow[] = [];
  #at = 0;
  #next: string | undefined;
  #isOver = false;

  constructor(ledger: Ledger, query: ListQuery & { readonly kind: WaitingKind }, after: string | undefined) {
    this.#ledger = ledger;
    this.#query = query;
    this.#next = after;
  }

  async first(): Promise<Waits | undefined> {
    while (this.#at >= this.#rows.length && !this.#isOver) {
      const after = this.#next === undefined ? {} : { after: this.#next };
      const { rows, next } = await this.#ledger.list({ ...this.#query, ...after });
      // The embedded store answers at once: others get their turn between the pages.
      if (next !== undefined) await new Promise((resolve) => setImmediate(resolve));
      [this.#rows, this.#at, this.#next, this.#isOver] = [rows, 0, next, next === undefined];
    }
    const row = this.#rows[this.#at];
    return row === undefined ? undefined : { kind: this.#query.kind, row };
  }

  take(): void {
    this.#at += 1;
  }
}

/** Behind every id at a time. */
const LAST_ID = '~';

/** The cursor behind everything that ended by `now`. */
export function behindEnded(now: number): string {
  return waitingCursor({ due: now, id: LAST_ID });
}

/**
 * Everything that waits behind a place, the soonest first. `rowsAtOnce`: how many of a kind are fetched together.
 * Requests that ended before `now` wait for nobody, however many there are: they are passed over.
 */
export async function* walkWaiting(
  ledger: Ledger,
  now: number,
  rowsAtOnce: number,
  after: string | undefined,
): AsyncGenerator<Waits> {
  const limit = Math.min(Math.max(rowsAtOnce, LIMITS.inboxRowsDefault), LIMITS.pageRowsMax);
  const from = after === undefined ? undefined : placeIn(after);
  const ended = behindEnded(now);
  const all = KINDS.map((query) => {
    const isPast = query.kind === 'request' && (from === undefined || from < ended);
    return new Rows(ledger, { ...query, waiting: true, limit }, isPast ? ended : from);
  });
  for (;;) {
    let soonest: { readonly rows: Rows; readonly waits: Waits } | undefined;
    for (const rows of all) {
      const waits = await rows.first();
      if (waits !== undefined && (soonest === undefined || isBefore(waits.row, soonest.waits.row))) {
        soonest = { rows, waits };
      }
    }
    if (soonest === undefined) return;
    soonest.rows.take();
    yield soonest.waits;
  }
}

/** By time, then by id, as the store has them; no two kinds share an id. */
function isBefore(a: ListRow, b: ListRow): boolean {
  const [dueA, dueB] = [a.due ?? 0, b.due ?? 0];
  return dueA === dueB ? a.id < b.id : dueA < dueB;
}

/** The place behind a row, as a page hands it out: `TIME.ID`. */
export function placeAfter({ due = 0, id }: ListRow): string {
  return `${due}.${id}`;
}

/** The cursor of the store for a place. Refuses `invalid` for what no page handed out. */
function placeIn(after: string): string {
  const [, due = '', id = ''] = /^(0|[1-9]\d{0,15})\.(.+)$/s.exec(after) ?? [];
  const at = Number(due);
  if (due !== '' && Number.isSafeInteger(at) && isRecordId(id)) return waitingCursor({ due: at, id });
  throw new Refusal('invalid', 'the cursor is not one of a page', { path: 'after' });
}
