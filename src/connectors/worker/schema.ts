/**
 * The configuration of `worker`: operations that the operator declared, whose functions live in processes of an
 * application. Pure.
 *
 * It refuses facts that name no fitting argument, and arguments whose lines could not be told apart.
 * Source: spec actions (connectors: worker), doors (workers).
 */
import * as z from 'zod';
import { ACTION_CLASSES, LIMITS, PATTERNS } from '../../core/index.js';
import { Field, FieldName, lineNameOf } from '../http/fields.js';
import { DeclaredDedupe, Duration, Facts, factMistakes } from '../http/schema.js';

export const Declared = z
  .strictObject({
    /** A worker that registers another version is let in for nothing. */
    version: z.string().regex(/^[!-~]{1,64}$/),
    args: z.record(FieldName, Field).default({}),
    class: z.enum(ACTION_CLASSES),
    /** Which arguments are the action's target and money. Without a target it is the operation's name. */
    facts: Facts.default({}),
    timeout: Duration.refine((ms) => ms <= LIMITS.callMsMax, 'a call takes a day at most').default(60_000),
    /** How long the function knows a repeated key; absent where it does not. */
    dedupe: DeclaredDedupe.optional(),
    /** Whether a worker can tell what became of a call. */
    reconcile: z.boolean().default(false),
  })
  .superRefine((declared, context) => {
    for (const [path, message] of factMistakes(declared)) context.addIssue({ code: 'custom', path: [path], message });
    const lines = new Set(Object.keys(declared.args).map(lineNameOf));
    if (lines.size === Object.keys(declared.args).length) return;
    context.addIssue({ code: 'custom', path: ['args'], message: 'arguments differ by more than the case of letters' });
  });
export type Declared = z.infer<typeof Declared>;

export const workerConfig = z.strictObject({
  operations: z
    .record(z.string().regex(PATTERNS.operation), Declared)
    .refine((all) => Object.keys(all).length <= LIMITS.workerOperationsMax, 'too many operations'),
});
