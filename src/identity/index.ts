/** Who there is: the ledger, people, and keys. */
export { type AgentState, type AskBounds, agentKind, agentRecord, decideAsk } from './agent.js';
export { lockKey, readKeyFile, type UnlockedKey, unlockKey } from './key-file.js';
export {
  bootstrapKey,
  createLedger,
  decideRegistry,
  keyId,
  keyKind,
  ledgerKind,
  personKind,
  type RegistryFacts,
  restoreLedger,
} from './machine.js';
export {
  confirmationCode,
  isSameCode,
  type KeyState,
  LEDGER_RECORD,
  type LedgerState,
  type PersonState,
  RegistryChange,
  type Role,
} from './schema.js';
