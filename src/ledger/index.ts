/** The durable memory of the gate. */
export { demandSame, Fingerprint, type Items, itemsOf, writeItems } from './copy.js';
export {
  type AnyKind,
  type Columns,
  isRecordId,
  type Kind,
  type KindName,
  type Kinds,
  type LedgerEvent,
  type RecordRef,
  recordName,
  registerKinds,
} from './kind.js';
export type {
  Claim,
  Committed,
  Decided,
  Defect,
  Ledger,
  ListQuery,
  ListRow,
  LogEntry,
  LogHead,
  LookupRow,
  NewEvent,
  NewPayload,
  Page,
  Projection,
  ProjectionView,
  Snapshot,
  VerifyReport,
  View,
  Work,
} from './ledger.js';
export { LocalLedger, type LocalLedgerOptions } from './local-ledger.js';
export { recordIn } from './local-reader.js';
export { MemoryStore } from './memory/memory-store.js';
export type {
  NewOutboxEntry,
  Outbox,
  OutboxCount,
  OutboxEntry,
  OutboxMove,
  OutboxResult,
  OutboxState,
} from './outbox.js';
export { OverReads } from './over-reads.js';
export { waitingCursor } from './page.js';
export type { Leftover, PostgresLedger } from './postgres/index.js';
export { SqliteStore } from './sqlite/sqlite-store.js';
export { headOf, type LocalStore } from './store.js';

/** The store on a server. It is loaded by whoever uses it: the embedded store pays nothing for it. */
export const loadPostgres = () => import('./postgres/index.js');
