import type { WebBuild } from './build.ts';

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

/** Returns the document of every page. What it shows depends on its path. */
export function documentOf({ manifest }: WebBuild, request: Request): Response {
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
<link rel="icon" href="/assets/${manifest.icon}" type="image/svg+xml">
<link rel="stylesheet" href="/assets/${manifest.style}">
<script type="module" src="/assets/${manifest.script}"></script>
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
