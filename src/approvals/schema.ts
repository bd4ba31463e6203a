/**
 * A request that the gate issues, and the receipt that a person's signature makes of it. Pure.
 * Each kind has a closed schema: a field that a kind doesn't use is absent.
 * Source: spec authority (request and receipt).
 */
import * as z from 'zod';
import { base64urlDecode, digest, hexToBytes, type Json, PATTERNS, type Principal } from '../core/index.js';

const Digest = z.string().regex(PATTERNS.sha256);
const Time = z.int().min(0);

const common = {
  v: z.literal(1),
  aud: z.strictObject({ ledger_id: z.string().regex(PATTERNS.ledgerId), epoch: z.int().min(0) }),
  request_id: z.string().regex(PATTERNS.request),
  approver: z.string().regex(PATTERNS.human),
  /** The record that the receipt is for. */
  subject: z.string().regex(PATTERNS.recordId),
  digest: Digest,
  summary_digest: Digest,
  requested_by: z.string().regex(PATTERNS.principal),
  nonce: z.string().refine((text) => {
    const length = base64urlDecode(text)?.length ?? 0;
    return length >= 16 && length <= 64;
  }),
  /** Milliseconds since the epoch. */
  iat: Time,
  exp: Time,
};

export const RequestDocument = z.discriminatedUnion('kind', [
  z.strictObject({ ...common, kind: z.literal('action'), binding: Digest, decision: z.enum(['approve', 'deny']) }),
  z.strictObject({ ...common, kind: z.literal('registry') }),
  z.strictObject({ ...common, kind: z.literal('config') }),
  z.strictObject({ ...common, kind: z.literal('restore') }),
  z.strictObject({ ...common, kind: z.literal('freeze') }),
  z.strictObject({ ...common, kind: z.literal('standing') }),
  z.strictObject({ ...common, kind: z.literal('finding') }),
  z.strictObject({ ...common, kind: z.literal('assume_duplicate') }),
]);
export type RequestDocument = z.infer<typeof RequestDocument>;
export type RequestKind = RequestDocument['kind'];

export const Receipt = z.strictObject({
  v: z.literal(1),
  request: RequestDocument,
  method: z.enum(['ed25519']),
  credential_id: Digest,
  proof: z.strictObject({ signature: z.string().refine((text) => base64urlDecode(text)?.length === 64) }),
});
export type Receipt = z.infer<typeof Receipt>;

/** The 32 bytes that a signature covers. */
export function challengeOf(request: RequestDocument): Uint8Array {
  const bytes = hexToBytes(digest(`countersign-approval/${request.kind}/1`, request as Json).slice('sha256:'.length));
  return bytes ?? new Uint8Array(0);
}

export type RequestState = {
  readonly request: RequestDocument;
  /** `used`: what it authorized was carried out. */
  readonly state: 'open' | 'signed' | 'used' | 'expired';
  readonly receipt: Receipt | null;
  /** When the receipt reached the gate. */
  readonly signed_at: number | null;
  /** Of kinds other than action: what is to be carried out, and the lines that are signed. */
  readonly act: Json;
};

/** The text that a person signs: names of lower-case words, values in displayable text. */
export type SummaryLines = readonly { readonly name: string; readonly value: string }[];

export type Approval = {
  readonly request_id: string;
  readonly approver: Principal;
  readonly credential_id: string;
  readonly nonce: string;
};
