/**
 * The arguments, the operations and the configuration of `shell-noop`.
 *
 * It promises: one closed schema for all operations; only `refund` demands money. It refuses unknown fields, an amount
 * without its currency, and a currency without its amount.
 * Source: spec actions (connectors; amount, currency).
 */
import * as z from 'zod';
import { LIMITS, PATTERNS } from '../../core/index.js';
import type { ActionClass } from '../connector.js';
import { absolutePath } from '../operation.js';

/** Each operation and the floor of its class. */
export const OPERATIONS = {
  read: 'read',
  note: 'reversible',
  send: 'irreversible',
  merge: 'irreversible',
  refund: 'costly',
  label: 'costly',
} as const satisfies Readonly<Record<string, ActionClass>>;

export type OperationName = keyof typeof OPERATIONS;

/** Characters of `text`. */
export const TEXT_CHARS_MAX = 65_536;

const fields = {
  text: z.string().max(TEXT_CHARS_MAX).optional(),
  /** The account that the call is about. Where it is given, it is the action's target. */
  account: z.string().min(1).max(LIMITS.targetCharsMax).optional(),
  /** How the call behaves: without an effect, with a lost answer, or never coming back. */
  simulate: z.enum(['fail', 'lose-response', 'hang']).optional(),
};
const amount = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const currency = z.string().regex(PATTERNS.currency);

const plainArgs = z
  .strictObject({ ...fields, amount: amount.optional(), currency: currency.optional() })
  .refine((args) => (args.amount === undefined) === (args.currency === undefined), { path: ['currency'] });

/** The same fields with both money fields demanded. */
const moneyArgs = z.strictObject({ ...fields, amount, currency });

export type NoopArgs = z.infer<typeof plainArgs>;

/** The schema of one operation's arguments. */
export function argsOf(operation: OperationName): z.ZodType<NoopArgs> {
  return operation === 'refund' ? moneyArgs : plainArgs;
}

/** The connector's part of the trust configuration: a folder that exists, by its absolute path. */
export const shellNoopConfig = z.strictObject({ dir: absolutePath });
