/**
 * An entry of the outbox as it was stored: read strictly, because another version of this program may have written it.
 */
import * as z from 'zod';
import { PATTERNS, parseTrusted } from '../core/index.js';
import type { OutboxEntry } from '../ledger/index.js';
import { NOTIFY_LIMITS } from './limits.js';
import type { Notice } from './notice.js';
import { NOTICE_KINDS } from './schema.js';

const Text = z.string().max(512);
const Time = z.int().min(0);

const Stored = z.strictObject({
  v: z.literal(1),
  address: z.string().max(1_010),
  notice: z.strictObject({
    kind: z.enum(NOTICE_KINDS),
    what: z.enum([
      ...['approval', 'outcome_unknown', 'interrupted_launch', 'late_result', 'request', 'enrolment'],
      ...['confirmation', 'settled', 'delivery', 'test'],
    ] as [Notice['what'], ...Notice['what'][]]),
    id: z.string().regex(PATTERNS.recordId),
    occasion: Text,
    class: Text.nullable(),
    operation: Text,
    project: Text.nullable(),
    approvals: z.int().min(0),
    quorum: z.int().min(0),
    people: z.array(z.string().regex(PATTERNS.human)).max(NOTIFY_LIMITS.recipientsMax),
    at: Time,
    until: Time,
    by: Time.nullable(),
    settled: z
      .strictObject({
        state: z.enum(['confirmed', 'failed', 'unknown', 'cancelled']),
        how: z
          .string()
          .regex(/^[a-z_]{1,32}$/)
          .nullable(),
        attempt: z.int().min(0).nullable(),
        digest: z.string().regex(PATTERNS.sha256),
      })
      .nullable(),
  }),
});

/** What an entry says, and to which address; undefined for one that this version does not understand. */
export function readEntry({ body }: OutboxEntry): { readonly address: string; readonly notice: Notice } | undefined {
  try {
    return Stored.safeParse(parseTrusted(body)).data;
  } catch {
    // A text that is no JSON was not written by any version: there is nothing to deliver.
    return undefined;
  }
}
