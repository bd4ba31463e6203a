/**
 * The core: what every other folder stands on. Pure: no file, socket, clock or random source of its own.
 */
export { canonicalize } from './canonical.js';
export { ACTION_CLASSES, type ActionClass } from './classes.js';
export {
  deriveKey,
  equalBytes,
  hmacSha256,
  importPrivateKey,
  importPrivateKeyPem,
  importPublicKey,
  isP256Point,
  type PrivateKey,
  type PublicKey,
  publicKeyBytes,
  seal,
  sha256,
  sha256Hex,
  signBytes,
  unseal,
  verifyBytes,
  verifyBytesAsync,
} from './crypto/index.js';
export { type Defect, defectClause, defectIn } from './defects.js';
export { type ApprovalKind, contentRef, type Domain, digest, digestBytes } from './digest.js';
export {
  assert,
  assertNever,
  CODES,
  type Code,
  type CodeRow,
  type Details,
  Fault,
  isOurs,
  isPathMistake,
  NoEffect,
  Refusal,
} from './errors.js';
export { FAILPOINTS, type Failpoint, type FailpointName } from './failpoints.js';
export { frozen } from './frozen.js';
export {
  type ActionId,
  type DecisionId,
  IdMinter,
  isActionId,
  PATTERNS,
  type Principal,
  type RequestId,
  type UlidPrefix,
} from './ids.js';
export {
  isJsonObject,
  JSON_REASONS,
  type Json,
  type JsonLimits,
  type JsonObject,
  type JsonProblem,
  type JsonReason,
  type JsonResult,
  jsonPath,
  parseJson,
  parseTrusted,
  readJson,
  sameJson,
} from './json/index.js';
export { admitKey } from './keys.js';
export { LIMITS } from './limits.js';
export { type Money, moneyText, parseMoney } from './money.js';
export { isPlainTarget, matchesPattern, matchesWidely } from './pattern.js';
export { type PlainLimits, plainCopy } from './plain.js';
export { hasHighEntropy, MASK, redact, secretPath } from './secrets.js';
export { asciiJson, displayText, parseDisplayText, type TextFlag, textFlags } from './text.js';
export {
  beforeRing,
  type Clock,
  DURATION,
  DURATION_WORDS,
  isoTime,
  parseDuration,
  type Random,
  type Timer,
} from './time.js';
export { codeFact, type SpanFacts, type SpanOptions, type Tracing, traced } from './tracing.js';
export {
  base64urlDecode,
  base64urlEncode,
  bytesToHex,
  hexToBytes,
  isWellFormed,
  utf8Decode,
  utf8Encode,
  utf8Length,
} from './utf8.js';
