/**
 * The columns of the tables in the order in which every statement names them, and the rows that the ledger reads from
 * them.
 */

import type { TakenClaim } from '../batch.js';
import type { Columns, KindName, RecordRef } from '../kind.js';
import { payloadsOf } from '../payloads.js';
import type { EventRow, RecordRow } from '../store.js';
import type { Row } from './connection.js';

export const EVENT_COLUMNS = 'e.kind, e.id, e.revision, e.type, e.at, e.actor, e.data, e.payloads, e.prev, e.hash';
export const RECORD_COLUMNS =
  'r.kind, r.id, r.revision, r.head, r.head_at, r.version, r.document, ' +
  'r.project, r.status, r.principal, r.due, r.lookup';
export const CLAIM_COLUMNS = 'c.scope, c.principal, c.key, c.command, c.kind, c.id, c.revision';

const EVENT_WIDTH = 10;

/** The row of a record without the columns of lists. */
export type RecordHead = Omit<RecordRow, 'columns'>;

/** A row of `EVENT_COLUMNS`, with the sequence and the log hash behind them where the log was asked. */
export function eventRowOf(row: Row): EventRow {
  const [kind, id, revision, type, at, actor, data, payloads, prev, hash] = row as [
    KindName,
    string,
    number,
    string,
    number,
    string,
    string,
    string,
    string | null,
    string,
  ];
  return {
    sequence: (row[EVENT_WIDTH] as number | undefined) ?? 0,
    logHash: (row[EVENT_WIDTH + 1] as string | undefined) ?? '',
    record: { kind, id },
    revision,
    type,
    at,
    actor,
    dataText: data,
    payloads: payloadsOf(payloads),
    prev,
    hash,
  };
}

/** What `STATEMENTS.load` tells of a record, behind its place: the record, and one of its events or none. */
export function loadedOf(ref: RecordRef, row: Row): { readonly record: RecordHead; readonly event?: EventRow } {
  const record: RecordHead = {
    ref,
    revision: row[1] as number,
    head: (row[2] ?? '') as string,
    headAt: row[3] as number,
    version: row[4] as number,
    document: (row[5] ?? undefined) as string | undefined,
  };
  if (row[6] === null) return { record };
  const event: EventRow = {
    sequence: 0,
    logHash: '',
    record: ref,
    revision: row[6] as number,
    type: row[7] as string,
    at: row[8] as number,
    actor: row[9] as string,
    dataText: row[10] as string,
    payloads: payloadsOf(row[11] as string),
    prev: row[12] as string | null,
    hash: row[13] as string,
  };
  return { record, event };
}

export function recordRowOf(row: Row): RecordRow {
  const [kind, id, revision, head, headAt, version, document, ...columns] = row as [
    KindName,
    string,
    number,
    string,
    number,
    number,
    string | null,
    ...(string | number | null)[],
  ];
  return {
    ref: { kind, id },
    revision,
    head,
    headAt,
    version,
    document: document ?? undefined,
    columns: columnsOf(columns),
  };
}

function columnsOf(values: readonly (string | number | null)[]): Columns {
  const names = ['project', 'status', 'principal', 'due', 'lookup'];
  const present = names.map((name, i) => [name, values[i]] as const).filter(([, value]) => value !== null);
  return Object.fromEntries(present) as Columns;
}

export function claimOf(row: Row): TakenClaim {
  const [scope, principal, key, command, kind, id, revision] = row as [
    string,
    string,
    string,
    string,
    KindName,
    string,
    number,
  ];
  return { scope, principal, key, command, record: { kind, id }, revision };
}
