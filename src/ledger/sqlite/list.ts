/**
 * The statement of a list: built from the conditions that a query has, each value a parameter.
 */
import type { ListQuery } from '../ledger.js';
import type { Place } from '../page.js';

/** `place` is where the page before ended. */
export function listStatement(
  query: ListQuery,
  place: Place | undefined,
  limit: number,
): { text: string; values: (string | number)[] } {
  const conditions = ['kind = ?'];
  const values: (string | number)[] = [query.kind];
  const add = (condition: string, ...more: (string | number)[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (query.project !== undefined) add('project = ?', query.project);
  if (query.principal !== undefined) add('principal = ?', query.principal);
  if (query.statuses !== undefined) {
    const places = query.statuses.map(() => '?').join(', ');
    add(`status IN (${places})`, ...query.statuses);
  }
  if (query.waiting === true) {
    conditions.push('due IS NOT NULL');
    if (place !== undefined) add('(due, id) > (?, ?)', place.due, place.id);
  } else if (place !== undefined) {
    add('id < ?', place.id);
  }
  const order = query.waiting === true ? 'due, id' : 'id DESC';
  const text = `SELECT * FROM records WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ?`;
  values.push(limit);
  return { text, values };
}
