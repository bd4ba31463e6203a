/**
 * A request that the gate issues, and the receipt that a person's signature makes of it. Pure.
 * Each kind has a closed schema: a field that a kind doesn't use is absent.
 * Source: spec authority (request and receipt).
 */
import * as z from 'zod';
import { base64urlDecode, digest, hexToBytes, type Json, LIMITS, PATTERNS, type Principal } from '../core/index.js';

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
  z.strictObject({ ...common, kind: z.literal('agent') }),
  z.strictObject({ ...common, kind: z.literal('config') }),
  z.strictObject({ ...common, kind: z.literal('restore') }),
  z.strictObject({ ...common, kind: z.literal('freeze') }),
  z.strictObject({ ...common, kind: z.literal('standing') }),
  z.strictObject({ ...common, kind: z.literal('summary') }),
  z.strictObject({ ...common, kind: z.literal('finding') }),
  z.strictObject({ ...common, kind: z.literal('assume_duplicate') }),
]);
export type RequestDocument = z.infer<typeof RequestDocument>;
export type RequestKind = RequestDocument['kind'];

/** Bytes as base64url in their one spelling, from `min` to `max` of them. */
function bytesAs(min: number, max: number) {
  return z.string().refine((text) => {
    const length = text.length > 2 * max ? -1 : (base64urlDecode(text)?.length ?? -1);
    return length >= min && length <= max;
  });
}

/** The requests that one gesture signed, by their challenges, and which of them this receipt is for. */
const Batch = z
  .strictObject({
    challenges: z.array(Digest).min(1).max(LIMITS.batchRequestsMax),
    index: z.int().min(0),
  })
  .refine(({ challenges, index }) => index < challenges.length && new Set(challenges).size === challenges.length);

const signed = { v: z.literal(1), request: RequestDocument, credential_id: Digest, batch: Batch.exactOptional() };

/** What signed: each method has its own proof, and a key has one method. */
export const Receipt = z.discriminatedUnion('method', [
  z.strictObject({
    ...signed,
    method: z.literal('ed25519'),
    proof: z.strictObject({ signature: bytesAs(64, 64) }),
  }),
  z.strictObject({
    ...signed,
    method: z.literal('webauthn'),
    proof: z.strictObject({
      authenticator_data: bytesAs(37, LIMITS.authenticatorDataBytesMax),
      client_data: bytesAs(1, LIMITS.clientDataBytesMax),
      signature: bytesAs(1, LIMITS.signatureBytesMax),
    }),
  }),
]);
export type Receipt = z.infer<typeof Receipt>;
export type SoftwareReceipt = Extract<Receipt, { method: 'ed25519' }>;
export type PasskeyReceipt = Extract<Receipt, { method: 'webauthn' }>;

/** Where a passkey was used: on a page with a certificate, or on this machine itself. */
export type OriginGrade = 'https' | 'loopback';

/** The digest that a signature of one request covers. */
export function challengeDigest(request: RequestDocument): string {
  return digest(`countersign-approval/${request.kind}/1`, request as Json);
}

/** The 32 bytes of the digest that a signature of one request covers. */
export function challengeOf(request: RequestDocument): Uint8Array {
  return bytesOfDigest(challengeDigest(request));
}

/** The 32 bytes that one gesture signs for several requests, by their challenges in order. */
export function batchChallenge(challenges: readonly string[]): Uint8Array {
  return bytesOfDigest(digest('countersign-approval-batch/1', [...challenges]));
}

/** The 32 bytes that a receipt's signature covers; undefined where its batch does not hold its own request. */
export function signedBytes({ request, batch }: Receipt): Uint8Array | undefined {
  if (batch === undefined) return challengeOf(request);
  return batch.challenges[batch.index] === challengeDigest(request) ? batchChallenge(batch.challenges) : undefined;
}

function bytesOfDigest(text: string): Uint8Array {
  return hexToBytes(text.slice('sha256:'.length)) ?? new Uint8Array(0);
}

export type RequestState = {
  readonly request: RequestDocument;
  /** `used`: what it authorized was carried out. */
  readonly state: 'open' | 'signed' | 'used' | 'expired' | 'withdrawn';
  readonly receipt: Receipt | null;
  /** Of a passkey's receipt: where it was used. */
  readonly origin: OriginGrade | null;
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
