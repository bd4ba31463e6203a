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

function watch(client: QueryClient): () => void {
  let source: EventSource | undefined;
  let gathered: number | undefined;
  let again: number | undefined;
  const refresh = () => {
    if (gathered !== undefined) return;
    gathered = window.setTimeout(() => {
      gathered = undefined;
      void client.invalidateQueries();
    }, GATHER_MS);
  };
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
    window.clearTimeout(gathered);
    window.clearTimeout(again);
  };
}

/** Live for as long as somebody is signed in. */
export function useLive(): void {
  const client = useQueryClient();
  useEffect(() => watch(client), [client]);
}
