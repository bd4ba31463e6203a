/**
 * The statement of a list: built from the conditions that a query has, each value a parameter.
 */
import { Refusal } from '../../core/index.js';
import type { ListQuery } from '../ledger.js';

/** Refuses `invalid` for a cursor that no page handed out. */
export function listStatement(query: ListQuery, limit: number): { text: string; values: (string | number)[] } {
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
    if (query.after !== undefined) {
      const match = /^(\d{16}) ([!-~]{1,256})$/.exec(query.after);
      if (match === null) throw new Refusal('invalid', 'the cursor is not one of a page', { path: 'after' });
      add('(due, id) > (?, ?)', Number(match[1]), match[2] as string);
    }
  } else if (query.after !== undefined) {
    add('id < ?', query.after);
  }
  const order = query.waiting === true ? 'due, id' : 'id DESC';
  const text = `SELECT * FROM records WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ?`;
  values.push(limit);
  return { text, values };
}
