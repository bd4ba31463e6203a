/**
 * The border of the library. What a program hands to a public function is copied to plain data, once, and each
 * parameter is what its name says; nothing but a `Refusal` or a `Fault` leaves.
 * Source: spec core (errors), doors (embedding).
 */
import * as z from 'zod';
import type { Log } from '../connectors/index.js';
import { type Code, Fault, isOurs, PATTERNS, type PlainLimits, plainCopy, Refusal } from '../core/index.js';

const Text = z.string();
const Key = z.string().regex(/^[!-~]{1,255}$/);
const Person = z.string().regex(PATTERNS.human).optional();

/** What a parameter of this name has to be, and the words for what is something else. What has no row is read later. */
const PARAMETERS = {
  actionId: [Text, 'an action is named by its id'],
  requestId: [Text, 'a request is named by its id'],
  packageId: [Text, 'a package is named by its id'],
  sha256: [Text, 'content is named by its 64 hex digits'],
  release: [
    z.strictObject({ project: Text, target: Text, message: Text.optional(), connector: Text.optional() }),
    'a release names its project and its target',
  ],
  path: [Text, 'a file is named by its path'],
  publicKeyHex: [Text, 'a public key is 64 hex digits'],
  id: [Text, 'an action or a decision is named by its id'],
  connector: [Text, 'a connector has a name'],
  operation: [Text, 'an operation has a name'],
  person: [Person, 'a person is named `human:NAME`'],
  words: [Text.optional(), 'the words are no text'],
  args: [z.record(z.string(), z.json()), 'arguments are an object of plain data'],
  timeoutMs: [z.number().min(0), 'a wait takes 0 or more milliseconds'],
  input: [
    z.strictObject({ approver: Person, decision: Text.optional(), ttlMs: z.unknown().optional() }),
    'a request names whom it asks as `human:NAME`, what they decide, and how long it lives',
  ],
  extras: [
    z.strictObject({ words: Text.nullish(), sendBack: z.boolean().optional() }),
    'a denial has words for the agent, and may send back',
  ],
  filter: [
    z.strictObject({
      project: z.string().regex(PATTERNS.project).optional(),
      states: z.array(Text).optional(),
      limit: z.unknown().optional(),
      after: Text.optional(),
    }),
    'a list is narrowed by project, states, limit and after',
  ],
  page: [
    z.strictObject({ person: Text.optional(), limit: z.unknown().optional(), after: Text.optional() }),
    'a page of an inbox is asked for by person, limit and after',
  ],
  bounds: [z.strictObject({ count: z.number(), until: z.number() }), 'a standing approval has a count and an end'],
  options: [
    z.strictObject({ idempotencyKey: Key.optional(), waitMs: z.number().min(0).optional() }),
    'a call takes an idempotency key, and going on takes milliseconds to wait',
  ],
} as const satisfies Readonly<Record<string, readonly [z.ZodType, string]>>;

/**
 * What can be no id of a record is the id of nothing: no store is asked for it. (PostgreSQL keeps no NUL in a text.)
 * INVARIANT: an id that no record has is answered as such (app.border.ids).
 */
const IDS = {
  actionId: ['unknown_action', 'there is no such action'],
  requestId: ['unknown_request', 'there is no such request'],
  packageId: ['PACKAGE_NOT_FOUND', 'there is no such package'],
  id: ['not_found', 'there is no such action or decision'],
} as const satisfies Readonly<Record<string, readonly [Code, string]>>;

function demandIds(admitted: object): void {
  for (const [name, [code, words]] of Object.entries(IDS)) {
    const id = (admitted as Readonly<Record<string, unknown>>)[name];
    if (typeof id === 'string' && !PATTERNS.recordId.test(id)) throw new Refusal(code, words);
  }
}

/** What a caller hands over, by the names of the parameters, as plain data. Refuses `invalid`, with the parameter. */
export function admit<Given extends object>(given: Given, limits?: PlainLimits): Given {
  const admitted = plainCopy(given, limits);
  for (const [name, value] of Object.entries(admitted)) {
    const row = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name as keyof typeof PARAMETERS] : undefined;
    const issue = row?.[0].safeParse(value).error?.issues[0];
    if (row === undefined || issue === undefined) continue;
    const field = issue.path[0];
    throw new Refusal('invalid', row[1], { path: field === undefined ? name : String(field) });
  }
  demandIds(admitted);
  return admitted;
}

/** A log of the program’s own: what it throws or rejects with stays in it, and changes nothing of what is done. */
export function guardedLog(log: Log): Log {
  return {
    write(level, what, cause) {
      try {
        Promise.resolve(log.write(level, what, cause)).catch(() => undefined);
      } catch {
        // Nobody can be told: telling is what failed.
      }
    },
  };
}

/** Does what a public function does with what it was given. Rejects with a `Refusal` or a `Fault`, and nothing else. */
export async function atBorder<Given extends object, T>(
  log: Log | undefined,
  given: Given,
  act: (admitted: Given) => Promise<T>,
  limits?: PlainLimits,
): Promise<T> {
  try {
    return await act(admit(given, limits));
  } catch (error) {
    const ours = isOurs(error) ? error : new Fault('internal', 'the gate failed', error);
    if (ours instanceof Fault) log?.write('error', 'the gate failed', ours);
    throw ours;
  }
}
