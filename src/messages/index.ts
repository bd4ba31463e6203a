/** Signed, typed messages between agents, and the threads in which they can not be rewritten. */
export { canonicalMessage, messageHash } from './canonical.js';
export { formatThreadKey, readThreadKey } from './key-file.js';
export { type EntriesPage, readEntries, readThread } from './read.js';
export {
  type Epistemic,
  EPISTEMICS,
  type Intent,
  INTENTS,
  type Message,
  MESSAGE_VERSION,
  type Provenance,
} from './schema.js';
export { AdmittedKeys, isTrusted, type SignatureVerdict, signMessage, verifySignature } from './sign.js';
export { type ThreadEntry, threadKind, threadProjection, type ThreadProjectionOptions, type ThreadState } from './stored.js';
export {
  THREAD_DEFECTS,
  type ThreadDefect,
  type ThreadDefectName,
  type ThreadOptions,
  type ThreadReport,
  ThreadVerifier,
  verifyThread,
} from './thread.js';
export { isBlank, validateMessage } from './validate.js';
export { decodeMessage, encodeMessage } from './wire.js';
