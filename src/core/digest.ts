/**
 * Digests: `sha256:` and 64 lower-case hex digits, made under a domain that says what kind of value is meant.
 * A digest made under one domain never verifies under another, because the domain is hashed first and ends in a zero
 * byte, which stands in no domain. The list of domains is closed.
 * Source: spec core (digests).
 */
import { canonicalize } from './canonical.js';
import { sha256Hex } from './crypto/index.js';
import { assert, Refusal } from './errors.js';
import type { Json } from './json/index.js';
import { isWellFormed } from './utf8.js';

/** The kinds of human acts; each has a receipt of its own. */
export const APPROVAL_KINDS = [
  'action',
  'assume_duplicate',
  'finding',
  'standing',
  'summary',
  'phase',
  'tool',
  'plugin',
  'registry',
  'agent',
  'config',
  'freeze',
  'erase',
  'restore',
] as const;

export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

const PLAIN_DOMAINS = [
  'ameesh-action/1',
  'countersign-event/1',
  'countersign-binding/1',
  'countersign-summary/1',
  'countersign-effect/1',
  'countersign-approval-batch/1',
  'countersign-ack/1',
  'countersign-command/1',
  'countersign-token/1',
  'countersign-config/1',
  'countersign-operation/1',
  'countersign-facts/1',
  'countersign-pipeline/1',
] as const;

/** What a digest is about: a name and a version. */
export type Domain = (typeof PLAIN_DOMAINS)[number] | `countersign-approval/${ApprovalKind}/1`;

/** Every domain there is. */
export const DOMAINS: readonly Domain[] = [
  ...PLAIN_DOMAINS,
  ...APPROVAL_KINDS.map((kind) => `countersign-approval/${kind}/1` as const),
];

/** Digest of a value: SHA-256 of the domain, a zero byte and the canonical text. Refuses as `canonicalize` does. */
export function digest(domain: Domain, value: Json): string {
  return `sha256:${sha256Hex(`${domain}\u0000${canonicalize(value)}`)}`;
}

/**
 * Digest of a text that `canonicalize` has made already; equal to `digest` of its value. The text is not checked
 * further than that it has a UTF-8 form.
 */
export function digestBytes(domain: Domain, canonicalText: string): string {
  assert(isWellFormed(canonicalText), 'canonical text is well-formed');
  return `sha256:${sha256Hex(`${domain}\u0000${canonicalText}`)}`;
}

/**
 * The address of a blob: SHA-256 of its raw bytes, of a string's UTF-8. Throws the `Refusal` `invalid` for a string
 * with a lone surrogate, which has no bytes.
 */
export function contentRef(content: string | Uint8Array): string {
  if (typeof content === 'string' && !isWellFormed(content)) {
    throw new Refusal('invalid', 'text holds half of a surrogate pair');
  }
  return `sha256:${sha256Hex(content)}`;
}
