/** Signed, typed messages between agents, and the threads in which they can not be rewritten. */
export { canonicalMessage, messageHash } from './canonical.js';
export { formatThreadKey, readThreadKey } from './key-file.js';
export { type EntriesPage, readEntries, readThread, type ThreadSource } from './read.js';
export {
  EPISTEMICS,
  type Epistemic,
  INTENTS,
  type Intent,
  MESSAGE_VERSION,
  type Message,
  type Provenance,
} from './schema.js';
export { AdmittedKeys, isTrusted, type SignatureVerdict, signMessage, verifySignature } from './sign.js';
export {
  type ThreadEntry,
  type ThreadProjectionOptions,
  type ThreadState,
  threadKind,
  threadProjection,
} from './stored.js';
export {
  THREAD_DEFECTS,
  type ThreadDefect,
  type ThreadDefectName,
  type ThreadOptions,
  type ThreadReport,
  ThreadVerifier,
  verifyThread,
} from './thread.js';
export { validateMessage } from './validate.js';
export { decodeMessage, encodeMessage } from './wire.js';
