/**
 * The statement of a list: built from the conditions that a query has, each value a parameter. Queries with the same
 * conditions share one plan.
 */
import type { ListQuery } from '../ledger.js';
import type { Place } from '../page.js';
import { textArray } from './arrays.js';
import type { Statement, Value } from './connection.js';
import { RECORD_COLUMNS } from './rows.js';

/** `place` is where the page before ended. */
export function listStatement(
  query: ListQuery,
  place: Place | undefined,
  limit: number,
): { readonly statement: Statement; readonly values: readonly Value[] } {
  const values: Value[] = [];
  const names: string[] = [];
  const conditions: string[] = [];
  const parameter = (value: Value) => `$${values.push(value)}`;
  const add = (name: string, condition: string) => {
    names.push(name);
    conditions.push(condition);
  };
  add('kind', `r.kind = ${parameter(query.kind)}`);
  if (query.project !== undefined) add('project', `r.project = ${parameter(query.project)}`);
  if (query.principal !== undefined) add('principal', `r.principal = ${parameter(query.principal)}`);
  if (query.statuses !== undefined) add('statuses', `r.status = ANY (${parameter(textArray(query.statuses))}::text[])`);
  const waiting = query.waiting === true;
  if (waiting) add('waiting', 'r.due IS NOT NULL');
  if (place !== undefined && waiting) {
    add('behind', `(r.due, r.id) > (${parameter(place.due)}::bigint, ${parameter(place.id)})`);
  } else if (place !== undefined) {
    add('behind', `r.id < ${parameter(place.id)}`);
  }
  const order = waiting ? 'r.due, r.id' : 'r.id DESC';
  const text =
    `SELECT ${RECORD_COLUMNS} FROM countersign.records r WHERE ${conditions.join(' AND ')} ` +
    `ORDER BY ${order} LIMIT ${parameter(limit)}`;
  return { statement: { name: `list by ${names.join(' ')}`, text }, values };
}
