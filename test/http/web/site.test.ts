/** How Weir serves the dashboard: a build in another process, pages, and files that never change. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

const HTML = { accept: 'text/html,application/xhtml+xml' };

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true, env: { WEIR_DASHBOARD: 'on' } });
});
afterAll(() => weir.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(weir.base_url + path, { headers, decompress: false });

/** The cookie and the organization of a person who signs in by the link of the start. */
async function firstPerson(): Promise<{ cookie: string; organization_id: string }> {
  const link = /^Sign-in link +\S+(\/v1\/auth\/links\/\S+)$/m.exec(weir.output())?.[1] ?? '';
  const answer = await fetch(weir.base_url + link, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', name: 'Ada', password: 'correct horse' }),
  });
  const { organizations } = (await answer.json()) as { organizations: { id: string }[] };
  const cookie = answer.headers.getSetCookie().map((each) => each.split(';')[0]);
  return { cookie: cookie.join('; '), organization_id: organizations[0]?.id ?? '' };
}

/** The document, once the dashboard is built. Until then a page waits for it. */
async function documentText(path = '/'): Promise<{ response: Response; html: string }> {
  for (;;) {
    const response = await get(path, HTML);
    const html = await response.text();
    if (response.status === 200) return { response, html };
    expect(response.status).toBe(503);
    expect(response.headers.get('refresh')).toBe('1');
    expect(html).toContain('being built');
    await Bun.sleep(50);
  }
}

describe('a page', () => {
  test('is served to a browser with a policy that admits only what Weir serves', async () => {
    const { response, html } = await documentText('/usage/requests');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(html).not.toMatch(/<script(?![^>]*src=)/);
    expect(html).not.toMatch(/(?:src|href)="(?!\/assets\/)/);
  });

  test('names the scripts that it loads, so that the browser asks for all of them at once', async () => {
    const linked = ({ html }: { html: string }) =>
      [...html.matchAll(/<link rel="modulepreload" href="([^"]+)">/g)].map(([, path]) => path);
    const overview = linked(await documentText('/'));
    const explorer = linked(await documentText('/usage'));
    expect(overview).toHaveLength(1);
    expect(explorer.length).toBeGreaterThan(2);
    expect(explorer).not.toContain(overview[0]);
    for (const path of [...overview, ...explorer]) {
      const response = await get(path ?? '');
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        ...[path, 200, 'text/javascript; charset=utf-8'],
      ]);
    }
  });

  test('names the session, if there may be one and the page reads it', async () => {
    const cookie = 'weir.session_token=abc';
    const read = (path: string) => `<link rel="preload" as="fetch" crossorigin href="${path}">`;
    const linksOf = async (path: string, headers: Record<string, string> = {}) => {
      await documentText(path);
      return (await get(path, { ...HTML, ...headers })).text();
    };
    expect(await linksOf('/keys', { cookie })).toContain(read('/v1/auth/session'));
    expect(await linksOf('/keys')).not.toContain('/v1/auth/session');
    for (const path of ['/sign-in', '/link', '/v1/auth/links/lk-unknown']) {
      expect([path, (await linksOf(path, { cookie })).includes('/v1/auth/session')]).toEqual([
        ...[path, false],
      ]);
    }
  });

  test('names the organization of who is signed in, and begins to read for it', async () => {
    await documentText('/keys');
    const owner = await firstPerson();
    const htmlOf = async (path: string, cookie: string) =>
      (await get(path, { ...HTML, cookie })).text();
    const html = await htmlOf('/keys', owner.cookie);
    const named = /<meta name="weir-organization" content="([^"]+)">/.exec(html)?.[1];
    expect(named).toBe(owner.organization_id);
    const script = /<script src="(\/assets\/first-[^"]+\.js)">/.exec(html)?.[1] ?? '';
    expect((await get(script)).status).toBe(200);
    expect(html.indexOf(script)).toBeLessThan(html.indexOf('stylesheet'));
    // Whoever is in no such organization gets one of their own.
    expect(await htmlOf('/keys?org=org_other', owner.cookie)).toContain(owner.organization_id);
    for (const [path, cookie] of [
      ['/keys', 'weir.session_token=abc'],
      ['/sign-in', owner.cookie],
    ] as const) {
      const other = await htmlOf(path, cookie);
      expect([path, /weir-organization|first-/.exec(other)]).toEqual([path, null]);
    }
  });

  test('names its text, if it is a page of the documentation', async () => {
    const cookie = 'weir.session_token=abc';
    const docOf = async (path: string) => {
      await documentText(path);
      const html = await (await get(path, { ...HTML, cookie })).text();
      return /as="fetch" crossorigin href="(\/assets\/docs-[^"]+)"/.exec(html)?.[1];
    };
    const start = await docOf('/docs');
    expect((await get(start ?? '')).status).toBe(200);
    expect(start).toContain('docs-start-');
    expect(await docOf('/docs/start')).toBe(start ?? '');
    expect(await docOf('/docs/architecture')).toContain('docs-architecture-');
    expect(await docOf('/docs/decisions/dashboard')).toContain('docs-decisions-dashboard-');
    expect(await docOf('/docs/nothing')).toBeUndefined();
    expect(await docOf('/keys')).toBeUndefined();
  });

  test('has another nonce each time', async () => {
    const nonceOf = ({ html }: { html: string }) => /csp-nonce" content="([^"]+)"/.exec(html)?.[1];
    const [first, second] = [nonceOf(await documentText()), nonceOf(await documentText())];
    expect(first).toHaveLength(24);
    expect(first).not.toBe(second ?? '');
  });

  test('knows the theme before the first paint, and takes no other value', async () => {
    await documentText();
    const themed = async (theme: string) =>
      (await get('/', { ...HTML, cookie: `weir-theme=${theme}` })).text();
    expect(await themed('dark')).toContain('<html lang="en" data-theme="dark">');
    expect(await themed('"><script>')).toContain('<html lang="en">');
  });

  test('is not served to a program, nor for an unknown path or another method', async () => {
    await documentText();
    for (const [path, headers] of [
      ['/', {}],
      ['/', { accept: '*/*' }],
      ['/nothing', HTML],
      ['/v1/nothing', HTML],
      ['/usage/requests/a/b', HTML],
    ] as const) {
      const response = await get(path, headers);
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        ...[path, 404, 'application/json'],
      ]);
    }
    const posted = await fetch(weir.base_url, { method: 'POST', headers: HTML });
    expect(posted.status).toBe(404);
  });

  test('stands behind a one-time link in a browser, and a program gets the link itself', async () => {
    await documentText();
    const page = await get('/v1/auth/links/lk-unknown', HTML);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect((await get('/v1/auth/links/lk-unknown')).status).toBe(404);
  });
});

describe('a file', () => {
  test('never changes, and is sent compressed', async () => {
    const { html } = await documentText();
    // A face is compressed already.
    for (const path of html.match(/\/assets\/[^"]+(?<!woff2)(?=")/g) ?? []) {
      const plain = await get(path, { 'accept-encoding': 'identity' });
      const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
      const gzip = await get(path, { 'accept-encoding': 'gzip' });
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(brotli.headers.get('content-encoding')).toBe('br');
      expect(brotli.headers.get('vary')).toBe('accept-encoding');
      const text = Buffer.from(await plain.bytes()).toString('hex');
      expect(brotliDecompressSync(await brotli.bytes()).toString('hex')).toBe(text);
      expect(gunzipSync(await gzip.bytes()).toString('hex')).toBe(text);
    }
  });

  test('that the build has not is refused, whatever its name', async () => {
    await documentText();
    for (const name of ['none.js', 'manifest.json', '..%2f..%2fpackage.json', 'constructor']) {
      expect([name, (await get(`/assets/${name}`)).status]).toEqual([name, 404]);
    }
  });
});

test('the sign-in page can ask how people sign in', async () => {
  expect(await (await get('/v1/auth/methods')).json()).toEqual({
    ...{ object: 'sign_in_methods', password: true, oidc: false, mail: false },
  });
});

test('a replica without a dashboard serves only the API', async () => {
  const plain = await startWeir({ shared_database: true });
  try {
    const response = await fetch(plain.base_url, { headers: HTML });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'application/json',
    ]);
    expect((await fetch(`${plain.base_url}/assets/none.js`)).status).toBe(404);
    expect(plain.output()).not.toContain('Dashboard');
  } finally {
    await plain.stop();
  }
});
