/** What a page waits for when it is opened in a real browser: the document names all that it loads. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page, Route } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

/** The pages that begin their reads themselves, and the first read of each. */
const BEGINNING = [
  ['/', '/v1/management/usage/queries'],
  ['/usage', '/v1/management/usage/query'],
  ['/usage/requests', '/v1/management/requests'],
  ['/billing', '/v1/management/balance'],
  ['/playground', '/v1/management/models'],
  ['/docs', '/assets/docs-start-'],
  ['/access/tokens', '/v1/management/tokens'],
  ['/access/audit', '/v1/management/audit-log'],
] as const;

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
  const { page } = await world.open('/docs/architecture');
  await page.context().close();
}, 120_000);
afterAll(() => world.stop());

/**
 * Opens a page whose first script does not arrive yet. On a busy machine, a document may go out before Weir knows the
 * organization; the page then finds out by itself, and another one is opened.
 */
async function heldBack(path: string): Promise<{
  readonly page: Page;
  readonly asked: readonly string[];
  readonly html: string;
  readonly route: Route;
}> {
  const { page } = await world.unopened();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const held = Promise.withResolvers<Route>();
  await page.route(/\/assets\/main-[^/]+\.js$/, async (route) => {
    const script = /<script type="module" src="([^"]+)"/.exec(await first)?.[1];
    if (script !== undefined && route.request().url().endsWith(script)) held.resolve(route);
    else await route.continue();
  });
  const first = (async () => {
    const response = await page.goto(world.weir.base_url + path, { waitUntil: 'commit' });
    return (await response?.text()) ?? '';
  })();
  const html = await first;
  if (html.includes('name="weir-organization"')) {
    return { page, asked, html, route: await held.promise };
  }
  await page.context().close();
  return heldBack(path);
}

const shown = (page: Page) =>
  page.waitForFunction(
    () =>
      document.querySelector('h1') !== null && document.querySelector('.animate-pulse') === null,
  );

test.each([
  ['/', ['/v1/auth/session', '/v1/management/usage/queries', '/v1/management/balance']],
  ['/usage', ['/v1/auth/session', '/v1/management/usage/query', '/v1/management/views']],
  ['/billing', ['/v1/auth/session', '/v1/management/statements/', '/v1/management/balance']],
  ['/docs', ['/v1/auth/session', '/assets/docs-start-']],
] as const)(
  '%s asks for all that it needs while its first script is on its way',
  async (path, reads) => {
    const { page, asked, html, route } = await heldBack(path);
    const needed = [...html.matchAll(/<link rel="modulepreload" href="([^"]+)"/g)].map(
      ([, script]) => script ?? '',
    );
    for (const each of [...needed, ...reads]) {
      await until(`${each} is asked for`, async () => asked.some((one) => one.startsWith(each)));
    }
    await route.continue();
    await shown(page);
    // What was asked for early is not asked for again.
    for (const each of reads) {
      const times = asked.filter((one) => one.startsWith(each)).length;
      expect([each, times]).toEqual([each, each.endsWith('/usage/query') ? 2 : 1]);
    }
    await page.context().close();
  },
);

test.each(BEGINNING)('%s begins to read before it is drawn', async (path, read) => {
  const { page } = await world.unopened();
  await page.addInitScript(() => {
    const early: string[] = [];
    const send = window.fetch;
    const watched = (input: string, options?: RequestInit) => {
      if (document.querySelector('h1') === null) early.push(input);
      return send(input, options);
    };
    Object.assign(window, { early, fetch: watched });
  });
  await page.goto(world.weir.base_url + path);
  await shown(page);
  const early = await page.evaluate(() => (window as unknown as { early: string[] }).early);
  expect(early.some((url) => url.startsWith(read))).toBe(true);
  const sent = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => name),
  );
  // The page takes what was begun, and does not read it twice.
  const begun = early.filter((url) => url.startsWith('/v1/management/'));
  for (const url of begun) {
    const times = sent.filter((name) => name.endsWith(url)).length;
    expect([url, times <= (url.startsWith('/v1/management/requests') ? 2 : 1)]).toEqual([
      url,
      true,
    ]);
  }
  await page.context().close();
});

test.each([
  ['/machines', 'quota'],
  ['/machines/task', 'task'],
])('%s begins to load its chart before it is drawn', async (path, machine) => {
  const { page } = await world.unopened();
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.querySelector('h1') && !('drawn_ms' in window)) {
        Object.assign(window, { drawn_ms: performance.now() });
      }
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(world.weir.base_url + path);
  await shown(page);
  const [began_ms = Number.POSITIVE_INFINITY, drawn_ms] = await page.evaluate(
    (chart) => [
      performance.getEntriesByType('resource').find(({ name }) => name.includes(chart))?.startTime,
      (window as unknown as { drawn_ms: number }).drawn_ms,
    ],
    `/assets/${machine}.layout-`,
  );
  expect(began_ms).toBeLessThan(drawn_ms ?? 0);
  await page.context().close();
});

test('a link that is only pointed at loads its page and reads nothing', async () => {
  const { page } = await world.open('/docs');
  await page.getByRole('heading', { level: 1 }).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const script = page.waitForRequest(/\/assets\/page-[^/]+\.js$/);
  await page.getByRole('link', { name: 'Billing', exact: true }).hover();
  await script;
  await page.waitForTimeout(500);
  expect(asked.filter((path) => /statements|balance|usage/.test(path))).toEqual([]);
  await page.getByRole('link', { name: 'Billing', exact: true }).click();
  await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor();
  expect(asked.filter((path) => path.endsWith('/balance'))).toHaveLength(1);
  await page.context().close();
});
