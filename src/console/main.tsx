/** Starts the console in its page. */
import './setup.js';
import './styles.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { consoleRouter } from './router.js';

const client = new QueryClient({
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
