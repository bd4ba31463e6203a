/**
 * The columns of the tables as SQLite hands them out, and the rows that the ledger reads from them.
 */

import type { TakenClaim } from '../batch.js';
import type { Columns, KindName } from '../kind.js';
import { payloadsOf } from '../payloads.js';
import type { EventRow, RecordRow } from '../store.js';

export interface EventColumns {
  readonly sequence: number;
  readonly kind: KindName;
  readonly id: string;
  readonly revision: number;
  readonly type: string;
  readonly at: number;
  readonly actor: string;
  readonly data: string;
  readonly payloads: string;
  readonly prev: string | null;
  readonly hash: string;
  readonly log_hash: string;
}

export interface RecordColumns {
  readonly kind: KindName;
  readonly id: string;
  readonly revision: number;
  readonly head: string;
  readonly head_at: number;
  readonly version: number;
  readonly document: string | null;
  readonly project: string | null;
  readonly status: string | null;
  readonly principal: string | null;
  readonly due: number | null;
  readonly lookup: string | null;
}

export interface ClaimColumns {
  readonly scope: string;
  readonly principal: string;
  readonly key: string;
  readonly command: string;
  readonly kind: KindName;
  readonly id: string;
  readonly revision: number;
}

export function eventRowOf(row: EventColumns): EventRow {
  return {
    sequence: row.sequence,
    logHash: row.log_hash,
    record: { kind: row.kind, id: row.id },
    revision: row.revision,
    type: row.type,
    at: row.at,
    actor: row.actor,
    dataText: row.data,
    payloads: payloadsOf(row.payloads),
    prev: row.prev,
    hash: row.hash,
  };
}

export function recordRowOf(row: RecordColumns): RecordRow {
  return {
    ref: { kind: row.kind, id: row.id },
    revision: row.revision,
    head: row.head,
    headAt: row.head_at,
    version: row.version,
    document: row.document ?? undefined,
    columns: columnsOf(row),
  };
}

function columnsOf(row: RecordColumns): Columns {
  const { project, status, principal, due, lookup } = row;
  return {
    ...(project === null ? {} : { project }),
    ...(status === null ? {} : { status }),
    ...(principal === null ? {} : { principal }),
    ...(due === null ? {} : { due }),
    ...(lookup === null ? {} : { lookup }),
  };
}

export function claimOf(row: ClaimColumns): TakenClaim {
  const { scope, principal, key, command, kind, id, revision } = row;
  return { scope, principal, key, command, record: { kind, id }, revision };
}
