/**
 * The body of an answer, part by part, until a signal ends it. The platform's own way to do that forgets a signal once
 * memory was cleaned up behind the headers (seen on Node 20.20): the reader is cancelled by us.
 * Source: spec doors (client).
 */
export async function* partsOf(
  response: Response,
  signals: readonly (AbortSignal | undefined)[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const stop = () => void reader.cancel().catch(() => undefined);
  for (const signal of signals) signal?.addEventListener('abort', stop, { once: true });
  try {
    while (!signals.some((signal) => signal?.aborted)) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    for (const signal of signals) signal?.removeEventListener('abort', stop);
    stop();
  }
}
