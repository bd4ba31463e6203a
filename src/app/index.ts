/**
 * Countersign as a library: `open()` a gate, put tools behind it, ask and decide.
 */
export type { ActionState, Attempt, Proposal, Settled } from '../actions/index.js';
export { CLASS_WORDS } from '../actions/index.js';
export {
  type Act,
  challengeOf,
  configChanges,
  Receipt,
  type RequestDocument,
  signBatch,
  signWith,
} from '../approvals/index.js';
export type { Connector, Log, LogLevel, Operation, Outcome } from '../connectors/index.js';
export { Fault, NoEffect, Refusal } from '../core/index.js';
export { confirmationCode, keyKind, personKind, readKeyFile, type UnlockedKey, unlockKey } from '../identity/index.js';
export type { VerifyReport } from '../ledger/index.js';
export { type Message, readEntries, readThread, verifyThread } from '../messages/index.js';
export type { Applied, Created, Envelope, Manifest, PackageState, Replay } from '../packages/index.js';
export { correctionFor, parseEnvelope, promptFor, toolsFor } from '../packages/index.js';
export { policyVersion, type TrustConfig } from '../policy/index.js';
export { type AuditReport, auditLedger } from './audit.js';
export { backupTo, placeBackup } from './backup.js';
export { systemClock } from './clock.js';
export { readEnvironment } from './config.js';
export type { DecisionRow } from './decisions.js';
export { examine, type Finding } from './doctor.js';
export { explainDecision } from './explain.js';
export { Gate } from './gate.js';
export { checkHome, type Home, homeAt } from './home.js';
export { initialize, keyPath, makeKey } from './init.js';
export { makeLog } from './log.js';
export { type CountersignGate, type OpenOptions, open } from './open.js';
export { listPeople } from './people.js';
export { type CheckedReceipt, checkReceiptOffline, checkReceiptOnline } from './receipt-check.js';
export { type RecipeOptions, trustRecipe } from './recipe.js';
export { sightOf } from './scope.js';
export { listTokens } from './tokens.js';
export type { GateTool, ToolResult } from './tool.js';
export type { ToolDefinition } from './tool-definition.js';
export { parseTrustConfig, readTrustFile } from './trust-file.js';
