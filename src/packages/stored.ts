/**
 * An envelope as its event keeps it: its content apart under a digest, and the digest that its idempotency goes by.
 * Pure.
 * Source: spec packages (idempotency; manifest).
 */
import { contentRef, digest, type Json, utf8Length } from '../core/index.js';
import type { NewPayload } from '../ledger/index.js';
import type { Envelope, StoredEnvelope } from './schema.js';

/** The scope of the claims by which an action_id is used once in a package. */
export const CLAIM_SCOPE = 'package';

/** All of an envelope but the revision that it expected: absent and null differ. */
export function envelopeDigest(envelope: Envelope): string {
  const { protocol_version, action, package_id, action_id, basis, payload } = envelope;
  const content = { protocol_version, action, package_id, action_id, basis, payload };
  return digest('countersign-command/1', content as unknown as Json);
}

/** The envelope without its content, and the payload that holds that. */
export function setApart(envelope: Envelope): {
  readonly stored: StoredEnvelope;
  readonly payloads: readonly NewPayload[];
} {
  if (!('content' in envelope.payload)) return { stored: envelope as StoredEnvelope, payloads: [] };
  const { content, ...rest } = envelope.payload;
  const ref = contentRef(content);
  const address = { content_sha256: bareDigest(ref), content_size: utf8Length(content) };
  const stored = { ...envelope, payload: { ...rest, ...address } } as StoredEnvelope;
  return { stored, payloads: [{ ref, bytes: content }] };
}

/** The reverse of `setApart`, for the content of a stored envelope. */
export function putTogether(stored: StoredEnvelope, content: string | undefined): Envelope {
  if (!('content_sha256' in stored.payload)) return stored as Envelope;
  const { content_sha256: _, content_size: __, ...rest } = stored.payload;
  return { ...stored, payload: { ...rest, content: content ?? '' } } as unknown as Envelope;
}

/** The address of the content of a stored envelope; undefined where it has none. */
export function contentOf({ payload }: StoredEnvelope): { readonly ref: string; readonly size: number } | undefined {
  if (!('content_sha256' in payload)) return undefined;
  return { ref: `sha256:${payload.content_sha256}`, size: payload.content_size };
}

function bareDigest(ref: string): string {
  return ref.slice('sha256:'.length);
}
