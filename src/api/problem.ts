/**
 * A refusal or a fault as RFC 9457 problem details, and back. Pure. Neither carries a secret or an offending value.
 * Source: spec doors (HTTP API), core (errors).
 */
import * as z from 'zod';
import { CODES, type Code, Fault, Refusal } from '../core/index.js';

export const PROBLEM_TYPE = 'application/problem+json';

export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().optional(),
  code: z.string(),
  next: z.string().optional(),
  path: z.string().optional(),
  /** Small facts for a program: ids, counts, states. */
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
});
export type Problem = z.infer<typeof Problem>;

/** The cause of a fault stays on this side. */
export function problemOf(error: Refusal | Fault): Problem {
  const { code } = error;
  const row = CODES[code];
  const isRefusal = error instanceof Refusal;
  return {
    type: `urn:countersign:${code}`,
    title: row.meaning,
    status: row.http,
    ...(isRefusal ? { detail: error.message } : {}),
    code,
    next: (isRefusal ? error.next : undefined) ?? row.next,
    ...(isRefusal && error.path !== undefined ? { path: error.path } : {}),
    ...(isRefusal && error.details !== undefined ? { details: copyOf(error.details) } : {}),
  };
}

function copyOf(details: NonNullable<Refusal['details']>): NonNullable<Problem['details']> {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );
}

/** The error that a problem tells of; a fault for what is none. */
export function errorOf(value: unknown): Refusal | Fault {
  const problem = Problem.safeParse(value).data;
  if (problem === undefined || !Object.hasOwn(CODES, problem.code)) {
    return new Fault('internal', 'the server answered what is no answer of a gate');
  }
  const code = problem.code as Code;
  const message = problem.detail ?? problem.title;
  if (CODES[code].exit === 70) return new Fault(code, message);
  return new Refusal(code, message, {
    ...(problem.next === undefined ? {} : { next: problem.next }),
    ...(problem.path === undefined ? {} : { path: problem.path }),
    ...(problem.details === undefined ? {} : { details: problem.details }),
  });
}
