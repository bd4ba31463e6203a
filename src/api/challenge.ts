/**
 * What a passkey signs for a request, as text: a page hashes it with SHA-256 and hands the 32 bytes to the browser.
 * Pure, and without a hash of its own, because a browser has its own.
 * Source: spec authority (request and receipt).
 */
import { canonicalize, type JsonObject, Refusal } from '../core/index.js';

/** The text whose SHA-256 is the challenge of a request. Refuses `format` for what is no request. */
export function challengeText(request: JsonObject): string {
  const { kind } = request;
  if (typeof kind !== 'string' || !/^[a-z_]{1,32}$/.test(kind)) {
    throw new Refusal('format', 'this is no request of a gate');
  }
  return `countersign-approval/${kind}/1\u0000${canonicalize(request)}`;
}

/** The text whose SHA-256 one gesture signs for several requests, by their challenges as `sha256:…`, in order. */
export function batchText(challenges: readonly string[]): string {
  return `countersign-approval-batch/1\u0000${canonicalize([...challenges])}`;
}
