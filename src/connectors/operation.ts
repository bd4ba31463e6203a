/**
 * What every connector's operations have in common: the digest that pins what will run, and the reading of arguments.
 *
 * It promises: the digest changes with the connector's name, its code version, the operation's name and its schema, and
 * with nothing else; arguments that the schema refuses never reach a connector's code.
 * Source: spec actions (binding: operation_digest), reliability T1.
 */
import * as z from 'zod';
import { toJSONSchema, type ZodType } from 'zod';
import { digest, type Json, Refusal } from '../core/index.js';

/** What an operation's digest is made of. */
export interface OperationPin {
  readonly connector: string;
  /** Raised whenever the connector's code does something else for the same arguments. */
  readonly codeVersion: string;
  readonly operation: string;
  readonly args: ZodType;
}

/** `sha256:…` over the connector's name and code version, the operation and the JSON Schema of its arguments. */
export function operationDigest(pin: OperationPin): string {
  return digest('countersign-operation/1', {
    connector: pin.connector,
    code_version: pin.codeVersion,
    operation: pin.operation,
    schema: toJSONSchema(pin.args) as Json,
  });
}

/** The digest of an operation, made when it is first asked for: most commands ask for none. */
export function lazyDigest(pin: OperationPin): () => string {
  let made: string | undefined;
  return () => {
    made ??= operationDigest(pin);
    return made;
  };
}

/** The arguments in their typed form. Throws the `Refusal` `invalid`, whose path names the first defect's field. */
export function parseArgs<Value>(schema: ZodType<Value>, args: Readonly<Record<string, Json>>): Value {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const path = ['args', ...(parsed.error.issues[0]?.path ?? [])].map(String).join('.');
  throw new Refusal('invalid', 'the arguments do not fit the operation', { path });
}

/** An absolute path in a connector's configuration: no control character, at most 4,096 characters. */
export const absolutePath: ZodType<string> = z
  .string()
  .max(4_096)
  .regex(/^\/[^\p{Cc}]*$(?!\n)/u, 'must be an absolute path');

/** Whether a call may still begin something: its deadline is ahead and nobody has called it off. */
export function mayBegin(call: { readonly deadline: number; readonly signal: AbortSignal }, now: number): boolean {
  return !call.signal.aborted && now < call.deadline;
}
