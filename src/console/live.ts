/**
 * Keeps what is shown up to date: the gate's event stream says that something happened to an action, and what the pages
 * hold is asked for again. A lost stream is opened anew by the browser, from where it left off.
 */
import type { QueryClient } from '@tanstack/react-query';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ROUTES } from '../api/index.js';

/** Several events in a row are one question. */
const GATHER_MS = 150;
/** Where the browser gave up on the stream. */
const AGAIN_MS = 5_000;

/**
 * Asks again for what the pages hold, once for several events. What is being asked for already may be answered as it
 * was before the event: that answer is awaited, never cut off, and asked for once more.
 */
function refresher(client: QueryClient) {
  let isWanted = false;
  let isRunning = false;
  let isOver = false;
  const pause = () => new Promise((resolve) => window.setTimeout(resolve, GATHER_MS));
  const ask = () => client.invalidateQueries({}, { cancelRefetch: false });
  const run = async () => {
    isRunning = true;
    while (isWanted && !isOver) {
      await pause();
      isWanted = false;
      if (client.isFetching() > 0) await ask();
      await ask();
    }
    isRunning = false;
  };
  const refresh = () => {
    isWanted = true;
    if (!isRunning) void run();
  };
  const end = () => {
    isOver = true;
  };
  return { refresh, end };
}

function watch(client: QueryClient): () => void {
  let source: EventSource | undefined;
  let again: number | undefined;
  const { refresh, end } = refresher(client);
  const open = () => {
    source = new EventSource(ROUTES.events.path);
    source.addEventListener('action', refresh);
    // What happened before the stream was open is in no event.
    source.onopen = refresh;
    source.onerror = () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      refresh();
      again = window.setTimeout(open, AGAIN_MS);
    };
  };
  // A browser has few connections to one address: tabs that nobody looks at hold none.
  const look = () => {
    if (document.visibilityState === 'hidden') {
      source?.close();
      source = undefined;
    } else if (source === undefined) {
      open();
    }
  };
  open();
  document.addEventListener('visibilitychange', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    source?.close();
    end();
    window.clearTimeout(again);
  };
}

/** Live for as long as somebody is signed in. */
export function useLive(): void {
  const client = useQueryClient();
  useEffect(() => watch(client), [client]);
}
