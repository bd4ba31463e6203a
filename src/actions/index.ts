/** The gate: actions from proposal to outcome. */
export { type Attached, attachReceipt, type DenialExtras, fetchSigned, parseReceipt, storeReceipt } from './approve.js';
export { settledBounds } from './bounds.js';
export { type Comment, comment, commentKind, commentsOf } from './comments.js';
export { approveByGrant, coverIn, takeCover } from './cover.js';
export {
  type EffectState,
  effectKind,
  effectLaunched,
  effectRecord,
  mayHaveHappened,
  mayHaveRunSince,
  sameEffect,
} from './effect.js';
export { evidenceOf, evidenceOfAttempt } from './evidence.js';
export { actionKind, isOpen, tellingAttempt } from './evolve.js';
export { questionOf } from './judge.js';
export { callLaunched, execute, retry } from './launch.js';
export { editAction, proposeLike } from './like.js';
export { findOperation, type LoadedAction, loadAction, pinnedOperation, previewAction } from './load.js';
export { type ActionCommand, decideAction, type Launch, needsPerson } from './machine.js';
export type { Settlement } from './machine-settle.js';
export { ActionMemo } from './memo.js';
export { explainProposal, type ProposedAction, propose } from './propose.js';
export { type Recovered, recover } from './recover.js';
export { RefusalRecorder, type RefusalState, type RefusedSubject, refusalKind } from './refusals.js';
export { CLASS_WORDS, type Summary, threadText } from './render.js';
export { isBound, isDigested, unlikeMachine } from './replay.js';
export { type IssuedRequest, type RequestInput, readSummary, requestApproval } from './request.js';
export {
  isResolution,
  methodsOfResolution,
  type Resolution,
  readResolution,
  requestResolution,
  resolutionDigest,
  resolve,
} from './resolution.js';
export {
  type ActionContent,
  type ActionState,
  type ActionStateName,
  type Attempt,
  type Flag,
  Proposal,
} from './schema.js';
export type { ActiveTrust, Caller, Services, WorkItemFacts } from './services.js';
export { cancel, reconcile, type Settled, settle } from './settle.js';
export { compensationOf, proposeUndo } from './undo.js';
