/**
 * The console's calls of the HTTP API: a name of a route is a call, its answer is compared with the contract, and what
 * was refused arrives as the gate's own `Refusal`. The session is the browser's cookie; no page ever holds a secret of
 * it.
 */
import {
  type AnswerOf,
  type CallInput,
  type CallName,
  errorOf,
  fillPath,
  Refusal,
  ROUTES,
  readJson,
} from '../api/index.js';

/** An answer holds a page of rows, or one action with its arguments. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** Calls a route. Rejects with a `Refusal`, or a `Fault` of the gate. */
export async function call<const Name extends CallName>(name: Name, input: CallInput<Name>): Promise<AnswerOf<Name>> {
  const given = input as Readonly<Record<string, unknown>>;
  const route = ROUTES[name];
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries((given['query'] ?? {}) as object)) {
    if (value !== undefined) query.set(key, String(value));
  }
  const path = fillPath(route.path, given as Readonly<Record<string, string>>);
  const response = await fetch(query.size === 0 ? path : `${path}?${query}`, {
    method: route.method,
    credentials: 'same-origin',
    redirect: 'error',
    ...(route.method === 'POST'
      ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(given['body'] ?? {}) }
      : {}),
  }).catch(() => {
    throw new Refusal('busy', 'the gate gave no answer', { next: 'look whether it runs, then try again' });
  });
  const read = readJson(await response.text(), { bytesMax: ANSWER_BYTES_MAX });
  const value = read.ok ? read.value : undefined;
  if (!response.ok) throw errorOf(value);
  const parsed = route.answer.safeParse(value);
  if (!parsed.success) throw errorOf(undefined);
  return parsed.data as AnswerOf<Name>;
}

export type Identity = AnswerOf<'identity'>;

/** What went wrong, in words for people: what happened, and what to do next. */
export function toldOf(error: unknown): {
  readonly code: string;
  readonly text: string;
  readonly next: string | undefined;
} {
  if (error instanceof Refusal) return { code: error.code, text: error.message, next: plainNext(error) };
  const { code, message } = error as { code?: string; message?: string };
  if (typeof code === 'string') return { code, text: message ?? 'the gate failed', next: undefined };
  return { code: 'page', text: 'something went wrong on this page', next: 'load it again' };
}

/** A command to type is no help on a page. */
function plainNext({ next }: Refusal): string | undefined {
  return next === undefined || next.includes('`') || next.startsWith('countersign ') ? undefined : next;
}
