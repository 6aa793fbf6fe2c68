import { hasSessionCookie } from '../auth/cookies.ts';
import type { WebBuild } from './build.ts';
import { needsSession, type PagePath } from './pages.ts';

/** What may stand in an attribute as it is. */
const SAFE_ID = /^[\w-]+$/;
const THEME = /(?:^|;\s*)weir-theme=(light|dark)(?:;|$)/;

/**
 * What a page may do: load what Weir serves, and nothing else. `nonce` admits the styles that the
 * parts of the dashboard make at run time (Content Security Policy Level 3).
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

const SAFETY = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
  vary: 'accept',
};

/**
 * Returns what a page loads in any case, as links. The browser loads all of it beside the first script. Without
 * the links it would know of each file only when the script before it runs. A page must use what a link
 * names, or the browser warns.
 */
function linksOf({ manifest }: WebBuild, page: PagePath, request: Request): string {
  const scripts = (manifest.pages[page] ?? []).map(
    (name) => `<link rel="modulepreload" href="/assets/${name}">`,
  );
  const doc = manifest.docs[new URL(request.url).pathname];
  return [
    `<link rel="preload" as="font" type="font/woff2" crossorigin href="/assets/${manifest.font}">`,
    ...scripts,
    ...(isSignedIn(page, request) && doc !== undefined ? [readLink(`/assets/${doc}`)] : []),
  ].join('\n');
}

/**
 * What the reads of a page wait for. It goes out before all else. The script is no module: a module would run after the
 * first script of the pages, if that is there, too.
 */
function beginningOf(
  { manifest }: WebBuild,
  page: PagePath,
  request: Request,
  organization_id: string | undefined,
): string {
  if (!isSignedIn(page, request)) return '';
  const session = readLink('/v1/auth/session');
  if (organization_id === undefined || !SAFE_ID.test(organization_id)) return session;
  return `<meta name="weir-organization" content="${organization_id}">
<script src="/assets/${manifest.first}"></script>
${session}`;
}

const readLink = (path: string): string =>
  `<link rel="preload" as="fetch" crossorigin href="${path}">`;

const isSignedIn = (page: PagePath, request: Request): boolean =>
  needsSession(page) && hasSessionCookie(request);

/**
 * Returns the document of a page. All documents are the same but for their links, and the organization whose
 * data the page will show: its reads begin before anything can ask for the session.
 */
export function documentOf(
  build: WebBuild,
  page: PagePath,
  request: Request,
  organization_id?: string,
): Response {
  const { manifest } = build;
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64');
  // The reader's theme is known before the first paint, so no page flashes.
  const theme = THEME.exec(request.headers.get('cookie') ?? '')?.[1];
  const html = `<!doctype html>
<html lang="en"${theme === undefined ? '' : ` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<title>Weir</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="csp-nonce" content="${nonce}">
${beginningOf(build, page, request, organization_id)}
<link rel="icon" href="/assets/${manifest.icon}" type="image/svg+xml">
<link rel="stylesheet" href="/assets/${manifest.style}">
<script type="module" src="/assets/${manifest.script}"></script>
${linksOf(build, page, request)}
</head>
<body>
<div id="root"></div>
<noscript>The dashboard needs JavaScript. The API works without it.</noscript>
</body>
</html>
`;
  return new Response(html, {
    headers: {
      ...SAFETY,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(nonce),
    },
  });
}

/** Returns a page for the seconds in which the dashboard is built. It reloads itself. */
export function waitingPage(state: 'building' | 'failed'): Response {
  const text =
    state === 'building'
      ? 'The dashboard is being built. This page opens it in a few seconds.'
      : 'The dashboard could not be built. The log of Weir says why. The API works without it.';
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Weir</title><p>${text}</p>`;
  return new Response(html, {
    status: 503,
    headers: {
      ...SAFETY,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'retry-after': '1',
      ...(state === 'building' ? { refresh: '1' } : {}),
    },
  });
}
