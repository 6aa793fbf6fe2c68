import './styles.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRouter, RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/error.ts';
import './icons/icon.svg';
import { routeTree } from './routes.tsx';
import { registerFonts } from './shell/fonts.ts';
import { searchText } from './shell/search-text.ts';

// Radix makes a style for pages behind an open menu. The policy of the document admits it by its nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content;
if (nonce !== undefined) setNonce(nonce);

/** Attempts of a read that got no answer, or an answer that may change by itself. */
const MAX_ATTEMPTS = 3;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) =>
        failures < MAX_ATTEMPTS &&
        error instanceof ApiError &&
        (error.status === 0 || error.status >= 500),
      retryDelay: (failures) => Math.min(400 * 2 ** failures, 4_000),
    },
  },
});

registerFonts();

const router = createRouter({
  routeTree,
  context: { queries },
  defaultPreload: 'intent',
  stringifySearch: searchText,
  scrollRestoration: true,
  defaultPendingMs: 300,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

const root = document.getElementById('root');
if (!root) throw new Error('the document has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
