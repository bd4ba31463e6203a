/**
 * Pages of a list: how many rows, in which order, and the cursor from one page to the next. The same on every backend.
 */
import { LIMITS, Refusal } from '../core/index.js';
import { isRecordId } from './kind.js';
import type { ListQuery, Page } from './ledger.js';
import type { RecordRow } from './store.js';

/** The number of rows that a page of this query has at most. */
export function pageLimit(query: ListQuery): number {
  return Math.max(1, Math.min(Math.floor(query.limit ?? LIMITS.pageRowsMax), LIMITS.pageRowsMax));
}

/** The place behind which a page begins: a record's id, and its due time in a list of those that wait. */
export interface Place {
  readonly due: number;
  readonly id: string;
}

/** The cursor behind a place in a list of those that wait. */
export function waitingCursor({ due, id }: Place): string {
  return `${String(due).padStart(16, '0')} ${id}`;
}

/** The place of a query's cursor. Refuses `invalid` for one that no page of such a query handed out. */
export function placeOf(query: ListQuery): Place | undefined {
  const { after, waiting } = query;
  if (after === undefined) return undefined;
  const match = waiting === true ? /^(\d{16}) (.+)$/.exec(after) : [after, '0', after];
  const id = match?.[2];
  if (id === undefined || !isRecordId(id)) {
    throw new Refusal('invalid', 'the cursor is not one of a page', { path: 'after' });
  }
  return { due: Number(match?.[1]), id };
}

/** The page of a query from its rows in order, of which there is one more than fits when another page follows. */
export function pageOf(query: ListQuery, found: readonly RecordRow[]): Page {
  const page = found.slice(0, pageLimit(query));
  const rows = page.map(({ ref, revision, headAt, columns }) => ({
    id: ref.id,
    revision,
    updated: headAt,
    ...columns,
  }));
  const last = page.at(-1);
  if (last === undefined || found.length === page.length) return { rows };
  const { id } = last.ref;
  return { rows, next: query.waiting === true ? waitingCursor({ due: last.columns.due ?? 0, id }) : id };
}
