/** Who there is: the ledger, people, and keys. */
export { type AgentState, type AskBounds, agentKind, agentRecord, decideAsk } from './agent.js';
export { type PasskeyAlgorithm, passkeyAlgorithm } from './cose.js';
export {
  type InvitationState,
  invitationHash,
  invitationKind,
  invitationRecord,
  invite,
  keepPasskey,
  openInvitation,
  voidInvitation,
} from './invitation.js';
export { lockKey, readKeyFile, type UnlockedKey, unlockKey } from './key-file.js';
export { createLedger, keyId, keyKind, ledgerKind, personKind, registryChanged, restoreLedger } from './machine.js';
export {
  awayRefusal,
  bootstrapKey,
  CONFIRM_FIRST,
  changedRecords,
  decideRegistry,
  type RegistryFacts,
  recoverLedger,
  recoveryRecords,
} from './registry.js';
export {
  confirmationCode,
  isAway,
  isSameCode,
  type KeyState,
  LEDGER_RECORD,
  type LedgerState,
  type Passkey,
  type PersonState,
  RegistryChange,
  type Role,
  type SoftwareKey,
} from './schema.js';
export {
  AgentChange,
  changedTokens,
  decideAgent,
  isInScope,
  readToken,
  TokenScope,
  type TokenState,
  tokenHash,
  tokenKind,
  tokenRefusal,
  tokenText,
  type Verb,
} from './token.js';
