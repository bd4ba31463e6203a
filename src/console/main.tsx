/** Starts the console in its page. */
import './setup.js';
import './styles.css';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { toldOf } from './gate.js';
import { consoleRouter } from './router.js';

/** Whoever was signed out meanwhile is told so by any answer, and sees the door. */
const queryCache = new QueryCache({
  onError: (error, { queryKey }) => {
    if (queryKey[0] === 'identity' || toldOf(error).code !== 'unauthenticated') return;
    void client.invalidateQueries({ queryKey: ['identity'] });
  },
});
const client: QueryClient = new QueryClient({
  queryCache,
  defaultOptions: { queries: { retry: false, staleTime: 1_000, refetchOnWindowFocus: true } },
});
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={consoleRouter()} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
