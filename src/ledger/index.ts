/** The durable memory of the gate. */
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
export { MemoryStore } from './memory/memory-store.js';
export { SqliteStore } from './sqlite/sqlite-store.js';
export type { LocalStore } from './store.js';
