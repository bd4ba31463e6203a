/** Packages: the action envelope of protocol 0.1, the only way in which a model changes one. */
export {
  type Applied,
  acceptEnvelope,
  applyEnvelope,
  type Checked,
  type Created,
  checkEnvelope,
  createPackage,
} from './apply.js';
export { confirmSummary, readConfirmation, requestConfirmation } from './confirm.js';
export { ACCEPTED, packageKind } from './evolve.js';
export { loadPackage, packageRecord, readContent } from './load.js';
export { placeOf } from './machine.js';
export type { OfferOptions } from './offers.js';
export { parseEnvelope } from './parse.js';
export { correctionFor, promptFor } from './prompt.js';
export { type Replay, replayPackage } from './replay.js';
export {
  type AcceptedData,
  type ActionName,
  type Artifact,
  type Envelope,
  type Manifest,
  type Outcome,
  PACKAGE_STATES,
  type PackageState,
  type PackageStateName,
} from './schema.js';
export { ManifestMemo, type PackageServices } from './services.js';
export { SummaryAct, summaryActDigest } from './summary-act.js';
export { type EnvelopeTool, toolsFor } from './tools.js';
