/** How long a worker waits before it comes again. */
export const BACKOFF_MS = [200, 500, 1_000, 2_000, 5_000] as const;

/** Resolves after a while, or with the end of a signal. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
