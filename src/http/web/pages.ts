/**
 * The pages of the dashboard, as the paths that a browser may ask for. `:name` is one part of a path.
 * The dashboard's routes are tested against this list (test/web/routes.test.ts).
 */
export const PAGES = [
  '/',
  '/sign-in',
  '/v1/auth/links/:link',
  '/link',
  '/welcome',
  '/playground',
  '/models',
  '/models/:model',
  '/tasks',
  '/tasks/:id',
  '/batches',
  '/batches/:id',
  '/keys',
  '/keys/:id',
  '/usage',
  '/usage/requests',
  '/usage/requests/:id',
  '/usage/calls',
  '/billing',
  '/billing/:month',
  '/access/people',
  '/access/tokens',
  '/access/audit',
  '/access/webhooks',
  '/access/settings',
  '/actors',
  '/actors/recording',
  '/actors/compare',
  '/actors/fleet',
  '/actors/request/:id',
  '/actors/:kind/:id',
  '/machines',
  '/machines/:machine',
  '/docs',
  '/docs/:page',
  '/docs/decisions/:page',
  '/docs/reference/:page',
  '/go/:id',
] as const;

const PATTERNS = PAGES.map((page) => new RegExp(`^${page.replace(/:[a-z]+/g, '[^/]+')}$`));

/** True if a browser asks for a page: a known path, and an `Accept` that names HTML. */
export function asksForPage({ method, url, headers }: Request): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (!headers.get('accept')?.includes('text/html')) return false;
  const { pathname } = new URL(url);
  return PATTERNS.some((pattern) => pattern.test(pathname));
}
