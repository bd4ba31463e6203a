/** Requests, receipts, and who may sign what. */

export { ActBarrier } from './act-barrier.js';
export { actEvents } from './act-events.js';
export {
  type Act,
  actDigest,
  actLines,
  admitAct,
  type ConfigChange,
  configChanges,
  type Remembered,
} from './act-schema.js';
export { type ActServices, actSummary, carryOut, type IssuedAct, requestAct, type Submitted } from './acts.js';
export { checkInView, namesIn, type ReadForReceipt, readForReceipt, receiptRecords, verifyReceipt } from './check.js';
export { isUsable, originOf, type WebauthnSettings } from './client-data.js';
export { FREEZE_RECORD, type Frozen, freezeKind, frozenIn, liftAdvice } from './freeze.js';
export { BESIDE_ACTIONS, expireRequest, openRequest, requestKind, signRequest, useRequest } from './machine.js';
export { carryOutPartAct, type PartAct, partActDocument, partActSummary, requestPartAct } from './part-act.js';
export { ProofVerifier } from './proof.js';
export { type RegisteredPasskey, type Registration, readRegistration } from './registration.js';
export {
  approversOf,
  askBoundsOf,
  countingMethods,
  type Deciders,
  excludedOf,
  methodsOf,
  type RuleSubject,
  raisedBarrier,
  resolversOf,
  ruleFor,
} from './rules.js';
export {
  type Approval,
  challengeOf,
  type OriginGrade,
  Receipt,
  RequestDocument,
  type RequestKind,
  type RequestState,
  type SummaryLines,
} from './schema.js';
export { actBySession, isBySession, sessionActOf, sessionEvents } from './session-acts.js';
export { signBatch, signWith } from './sign.js';
export { isStale, type People, peopleAmong, peopleOf, type Reader, signingOf } from './signers.js';
export {
  covers,
  coversContent,
  Grant,
  type GrantHold,
  type GrantSigner,
  type GrantState,
  grantIn,
  grantKey,
  grantKind,
  grantRecord,
  noRoom,
  reserveGrant,
  settleGrant,
  spanRefusal,
} from './standing.js';
export { grantLines } from './standing-lines.js';
export { parseSummary, renderSummary, summaryDigest } from './summary.js';
export type { Expected, Known } from './verify.js';
export { type Gesture, verifyGesture } from './webauthn.js';
