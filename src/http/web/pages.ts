/** The one path whose page only goes on to another path. */
const FORWARDED = '/v1/auth/links/:link';

/**
 * The pages of the dashboard: the paths that a browser may ask for, each with its module below `web/pages`.
 * `:name` is one part of a path. The dashboard's routes are tested against this list
 * (test/web/routes.test.ts).
 */
export const PAGE_MODULES = {
  '/': 'overview/page.tsx',
  '/sign-in': 'sign-in/page.tsx',
  [FORWARDED]: 'sign-in/link-page.tsx',
  '/link': 'sign-in/link-page.tsx',
  '/welcome': 'welcome/page.tsx',
  '/playground': 'playground/page.tsx',
  '/models': 'models/page.tsx',
  '/models/:model': 'models/model-page.tsx',
  '/tasks': 'tasks/page.tsx',
  '/tasks/:id': 'tasks/task-page.tsx',
  '/batches': 'batches/page.tsx',
  '/batches/:id': 'batches/batch-page.tsx',
  '/keys': 'keys/page.tsx',
  '/keys/:id': 'keys/key-page.tsx',
  '/usage': 'usage/explore/page.tsx',
  '/usage/requests': 'usage/requests/page.tsx',
  '/usage/requests/:id': 'usage/request/page.tsx',
  '/usage/calls': 'usage/calls/page.tsx',
  '/billing': 'billing/page.tsx',
  '/billing/:month': 'billing/statement-page.tsx',
  '/cache': 'cache/page.tsx',
  '/alerts': 'alerts/page.tsx',
  '/access/people': 'access/people/page.tsx',
  '/access/tokens': 'access/tokens/page.tsx',
  '/access/upstream-keys': 'access/upstream-keys/page.tsx',
  '/access/audit': 'access/audit/page.tsx',
  '/access/webhooks': 'access/webhooks/page.tsx',
  '/access/settings': 'access/settings/page.tsx',
  '/actors': 'actors/page.tsx',
  '/actors/recording': 'actors/recording/page.tsx',
  '/actors/compare': 'actors/compare/page.tsx',
  '/actors/fleet': 'actors/fleet/page.tsx',
  '/actors/request/:id': 'actors/request/page.tsx',
  '/actors/:kind/:id': 'actors/one/actor-page.tsx',
  '/machines': 'machines/page.tsx',
  '/machines/:machine': 'machines/page.tsx',
  '/docs': 'docs/page.tsx',
  '/docs/:page': 'docs/page.tsx',
  '/docs/decisions/:page': 'docs/page.tsx',
  '/docs/reference/:page': 'docs/page.tsx',
  '/go/:id': 'go/page.tsx',
} as const;

/** A path of `PAGE_MODULES`. */
export type PagePath = keyof typeof PAGE_MODULES;

export const PAGES = Object.keys(PAGE_MODULES) as readonly PagePath[];

/** The pages of people who are not signed in yet. */
const OUTSIDE: ReadonlySet<PagePath> = new Set(['/sign-in', FORWARDED, '/link']);

const PATTERNS = PAGES.map(
  (page) => [page, new RegExp(`^${page.replace(/:[a-z]+/g, '[^/]+')}$`)] as const,
);

/** Returns the page that a browser asks for: by a known path, and an `Accept` that names HTML. */
export function askedPageOf({ method, url, headers }: Request): PagePath | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (!headers.get('accept')?.includes('text/html')) return undefined;
  const { pathname } = new URL(url);
  return PATTERNS.find(([, pattern]) => pattern.test(pathname))?.[0];
}

/** True if a page shows something only to people who are signed in. */
export const needsSession = (page: PagePath): boolean => !OUTSIDE.has(page);
