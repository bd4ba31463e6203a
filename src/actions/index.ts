/** The gate: actions from proposal to outcome. */
export { type Attached, attachReceipt, type DenialExtras, fetchSigned, parseReceipt, storeReceipt } from './approve.js';
export { approveByGrant } from './cover.js';
export { actionKind } from './evolve.js';
export { questionOf } from './judge.js';
export { callLaunched, execute, retry } from './launch.js';
export { editAction, proposeLike } from './like.js';
export { findOperation, type LoadedAction, loadAction, pinnedOperation, previewAction } from './load.js';
export { type ActionCommand, decideAction, type Launch, needsPerson, type Settlement } from './machine.js';
export { ActionMemo } from './memo.js';
export { explainProposal, type ProposedAction, propose } from './propose.js';
export { RefusalRecorder, type RefusalState, type RefusedSubject, refusalKind } from './refusals.js';
export { CLASS_WORDS, type Summary, threadText } from './render.js';
export { type IssuedRequest, type RequestInput, readSummary, requestApproval } from './request.js';
export { isResolution, type Resolution, readResolution, requestResolution, resolve } from './resolution.js';
export {
  type ActionContent,
  type ActionState,
  type ActionStateName,
  type Attempt,
  CLASSES,
  type Flag,
  Proposal,
} from './schema.js';
export type { ActiveTrust, Caller, Services, WorkItemFacts } from './services.js';
export { cancel, type Recovered, reconcile, recover, type Settled } from './settle.js';
export { proposeUndo } from './undo.js';
