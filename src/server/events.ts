/**
 * What happens, as server-sent events: each about an action that the caller sees, with the place in the log behind
 * which to go on. The token is looked at again before each; the stream ends with it.
 * Source: spec doors (HTTP API: events).
 */
import { type CountersignGate, type Gate, sightOf } from '../app/index.js';
import { Attendance } from '../app/internal.js';
import { beforeRing, LIMITS } from '../core/index.js';

/** Records under the id of an action, whose events are told. */
const TOLD: readonly string[] = ['action', 'comment'];

/** A stream without news says so this often: proxies drop silent ones. */
const BEAT_MS = 15_000;

export interface EventStreamOptions {
  readonly owner: CountersignGate;
  /** The caller once more, or a refusal where the token ended. */
  again(): Promise<Gate>;
  /** The sequence behind which to begin; the end of the log when absent. */
  readonly after: number | undefined;
  readonly signal: AbortSignal;
}

/** The text of the stream, piece by piece. It ends with the caller's leave, the client, or after a day. */
export async function* eventStream(options: EventStreamOptions): AsyncGenerator<string, void, undefined> {
  const { owner, again } = options;
  const { ledger } = owner;
  const from = options.after ?? (await ledger.head()).sequence;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal, AbortSignal.timeout(LIMITS.waitMsMax)]);
  const entries = ledger.watch(from, signal)[Symbol.asyncIterator]();
  let attendance: Attendance | undefined;
  try {
    yield `: watching behind ${from}\n\n`;
    let next = watched(entries);
    const { principal, session } = (await again()).caller;
    // A person who looks is nobody whom an answer is kept for.
    if (session !== true) attendance = new Attendance(owner.services, principal, signal);
    for (;;) {
      const came = (await beforeRing(owner.services.timer(BEAT_MS), next))?.answer;
      const gate = await again();
      if (came === undefined) {
        yield ': still here\n\n';
        continue;
      }
      if (came.done === true) return;
      next = watched(entries);
      const { sequence, event } = came.value;
      const text = TOLD.includes(event.record.kind) ? await tellOf(gate, sequence, event) : undefined;
      if (text !== undefined) yield text;
    }
  } finally {
    // First, so that nothing waits for an event that may never come.
    over.abort();
    await Promise.allSettled([entries.return?.(undefined), attendance?.leave()]);
  }
}

/** The next entry; an error of the store is told where it is awaited, and is nobody's before that. */
function watched<Entry>(entries: AsyncIterator<Entry>): Promise<IteratorResult<Entry>> {
  const next = entries.next();
  next.catch(() => undefined);
  return next;
}

async function tellOf(
  gate: Gate,
  sequence: number,
  event: { readonly record: { readonly id: string }; readonly type: string; readonly at: number },
): Promise<string | undefined> {
  const { content, state } = await gate.show(event.record.id);
  const sight = sightOf(gate.caller, content);
  if (sight === 'none') return undefined;
  const data = {
    action_id: event.record.id,
    what: event.type,
    at: event.at,
    state,
    ...(sight === 'all' ? { project: content.project } : {}),
  };
  return `id: ${sequence}\nevent: action\ndata: ${JSON.stringify(data)}\n\n`;
}
