/**
 * Who there is: the ledger itself, people, and the keys by which people sign. Pure.
 * A person arises only from a key that was confirmed; a name alone never is one.
 * Source: spec authority (approvers and keys, identity of the ledger).
 */

import * as z from 'zod';
import { base64urlDecode, LIMITS, PATTERNS, type Principal, sha256Hex } from '../core/index.js';

/** The one record of kind `ledger`. */
export const LEDGER_RECORD = { kind: 'ledger', id: 'ledger' } as const;

export type LedgerState = {
  readonly ledger_id: string;
  readonly name: string;
  /** Grows with each restore; requests and receipts of an earlier epoch are void. */
  readonly epoch: number;
  /** True for a ledger that a demonstration made: it never becomes an ordinary one. */
  readonly demo: boolean;
  readonly created_at: number;
  /** Whether the first approver was confirmed: from then on people change by receipt alone. */
  readonly bootstrapped: boolean;
  readonly restored_at: readonly number[];
  /** Each time the ceremony of the first approver was repeated; it stays for ever. */
  readonly recovered: readonly { readonly person: string; readonly at: number }[];
};

export type Role = 'viewer' | 'approver' | 'operator' | 'auditor';

export type PersonState = {
  readonly person: Principal;
  readonly roles: readonly Role[];
  readonly state: 'active' | 'removed';
  readonly added_at: number;
  /** Reminders pass this person over until then; who may sign, and how many have to, is not changed by it. */
  readonly away: Away | null;
};

export type Away = {
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Who is reminded instead, where the same rule lets them approve. */
  readonly delegate: Principal | null;
};

type KeyCommon = {
  /** `sha256:` and the hex of SHA-256 of the public key's raw bytes; also the credential id of its receipts. */
  readonly key_id: string;
  readonly person: Principal;
  readonly state: 'active' | 'revoked';
  readonly added_at: number;
  readonly revoked_at: number | null;
};

/** A file that a passphrase encrypts, instead of hardware. */
export type SoftwareKey = KeyCommon & {
  readonly method: 'ed25519';
  readonly software_key: true;
  /** 64 lower-case hex digits. */
  readonly public_key: string;
};

export type Passkey = KeyCommon & {
  readonly method: 'webauthn';
  readonly software_key: false;
  /** The COSE key as lower-case hex digits: see cose.ts. */
  readonly public_key: string;
  /** The authenticator's own id of it, base64url: what a page asks the browser for. It proves nothing. */
  readonly credential: string;
};

export type KeyState = SoftwareKey | Passkey;

const Person = z.string().regex(PATTERNS.human);
const Roles = z.array(z.enum(['viewer', 'approver', 'operator', 'auditor'])).max(4);
const Credential = z.string().refine((text) => {
  const length = text.length > 2 * LIMITS.passkeyIdBytesMax ? 0 : (base64urlDecode(text)?.length ?? 0);
  return length >= 16 && length <= LIMITS.passkeyIdBytesMax;
});

/** What a receipt of kind registry may authorize. */
export const RegistryChange = z.discriminatedUnion('change', [
  z.strictObject({
    change: z.literal('add-key'),
    person: Person,
    roles: Roles,
    public_key: z.string().regex(/^[0-9a-f]{64}$(?!\n)/),
  }),
  z.strictObject({
    change: z.literal('add-passkey'),
    person: Person,
    roles: Roles,
    credential: Credential,
    public_key: z.string().regex(/^(?:[0-9a-f]{84}|[0-9a-f]{154})$(?!\n)/),
  }),
  z.strictObject({ change: z.literal('revoke-key'), key_id: z.string().regex(PATTERNS.sha256) }),
  z.strictObject({ change: z.literal('remove-person'), person: Person }),
  /** `until: null` is being back. */
  z.strictObject({
    change: z.literal('away'),
    person: Person,
    until: z.int().min(0).nullable(),
    delegate: Person.nullable(),
  }),
]);
export type RegistryChange = z.infer<typeof RegistryChange>;
export type NewKey = Extract<RegistryChange, { change: 'add-key' | 'add-passkey' }>;

/** Whether somebody is away at a time. */
export function isAway({ away }: PersonState, now: number): boolean {
  return away !== null && now < away.until;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The code that a person types to confirm a key: 40 bits of SHA-256 over the ledger's id and the public key, as
 * `XXXX-XXXX` in Crockford base32. Both sides show it; a key of another ledger has another code.
 */
export function confirmationCode(ledgerId: string, publicKeyHex: string): string {
  const hex = sha256Hex(`countersign-code/1\0${ledgerId}\0${publicKeyHex}`);
  let bits = BigInt(`0x${hex.slice(0, 10)}`);
  let text = '';
  for (let i = 0; i < 8; i += 1) {
    text = CROCKFORD.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return `${text.slice(0, 4)}-${text.slice(4)}`;
}

/** Whether what a person typed is this code: case, spaces and the dash do not matter. */
export function isSameCode(typed: string, code: string): boolean {
  const plain = (text: string) => text.toUpperCase().replaceAll(/[\s-]/g, '');
  return plain(typed) === plain(code);
}
