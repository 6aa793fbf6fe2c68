/** What a browser loads and waits for when it opens a page of the dashboard. */
import type { BrowserContext, Page } from 'playwright-core';
import type { DashboardWorld } from '../test/support/dashboard.ts';
import { median } from './statistics.ts';

/** The pages that are measured: all that need no id. */
export const MEASURED_PAGES = [
  ...['/', '/playground', '/models', '/keys', '/usage', '/usage/requests', '/usage/calls'],
  ...['/tasks', '/batches', '/billing', '/access/people', '/access/tokens', '/access/audit'],
  ...['/machines', '/docs'],
];
const PATIENCE_MS = 20_000;

/** One page as a browser without a cache opens it, and as it is opened again from another page. */
export interface PageFigures {
  readonly path: string;
  /** Script, compressed, bytes. */
  readonly script_bytes: number;
  readonly requests: number;
  /** Until the first paint, and until the page shows its data, ms. */
  readonly paint_ms: number;
  readonly cold_ms: number;
  readonly warm_ms: number;
}

/** Measures a page several times, each time in a browser without a cache. Returns the median of each figure. */
export async function measureRounds(
  world: DashboardWorld,
  path: string,
  rounds: number,
): Promise<PageFigures> {
  const all: PageFigures[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await measurePage(world, path));
  const middle = (name: Exclude<keyof PageFigures, 'path'>) =>
    median(all.map((each) => each[name]));
  return {
    path,
    script_bytes: middle('script_bytes'),
    requests: middle('requests'),
    paint_ms: middle('paint_ms'),
    cold_ms: middle('cold_ms'),
    warm_ms: middle('warm_ms'),
  };
}

/** Opens a page in a browser without a cache, then leaves it and opens it again. */
async function measurePage(world: DashboardWorld, path: string): Promise<PageFigures> {
  const { page } = await world.open('/sign-in');
  // The owner is signed in, so the sign-in goes on to the overview. A new context has an empty cache.
  await page.waitForURL((url) => url.pathname !== '/sign-in');
  const context = await freshContext(world, page);
  await page.context().close();
  const opened = await context.newPage();
  const loaded = await countLoaded(opened);
  const started = performance.now();
  await opened.goto(world.weir.base_url + path, { waitUntil: 'commit' });
  await waitUntilShown(opened);
  const cold_ms = performance.now() - started;
  const { script_bytes, requests } = loaded();
  const paint_ms = await firstPaint(opened);
  const warm_ms = await openAgain(opened, path);
  await context.close();
  return { path, script_bytes, requests, paint_ms, cold_ms, warm_ms };
}

/** When the page was painted first, ms. Its data may be there before that, and it is painted with them. */
const firstPaint = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const observer = new PerformanceObserver((list) => {
          const [first] = list.getEntriesByName('first-contentful-paint');
          if (first) resolve(first.startTime);
        });
        observer.observe({ type: 'paint', buffered: true });
      }),
  );

async function freshContext(world: DashboardWorld, page: Page): Promise<BrowserContext> {
  const cookies = await page.context().cookies();
  const context = await world.browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.addCookies(cookies);
  return context;
}

/** Counts the requests of a page, and the bytes of its scripts as they were sent. */
async function countLoaded(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  const scripts = new Set<string>();
  let script_bytes = 0;
  let requests = 0;
  devtools.on('Network.responseReceived', ({ requestId, type }) => {
    requests += 1;
    if (type === 'Script') scripts.add(requestId);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) script_bytes += encodedDataLength;
  });
  return () => ({ script_bytes, requests });
}

/** Leaves the page by the navigation and comes back, ms until its data is shown. */
async function openAgain(page: Page, path: string): Promise<number> {
  const other = path === '/docs' ? '/keys' : '/docs';
  const title = await headingOf(page);
  await page.click(`nav a[href^="${other}"]`);
  await page.waitForURL((url) => url.pathname.startsWith(other));
  await waitUntilShown(page, title);
  return page.evaluate(
    async ({ to, wanted }) => {
      const started = performance.now();
      history.pushState({}, '', to);
      dispatchEvent(new PopStateEvent('popstate', { state: {} }));
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const isShown = () =>
        document.querySelector('h1')?.textContent === wanted &&
        document.querySelector('.animate-pulse') === null;
      do await frame();
      while (!isShown());
      return performance.now() - started;
    },
    { to: path, wanted: title },
  );
}

const headingOf = (page: Page) =>
  page.evaluate(() => document.querySelector('h1')?.textContent ?? '');

/**
 * Waits until the page has its heading, and no part waits for data. The heading of the page before, `not`,
 * stands until then.
 */
async function waitUntilShown(page: Page, not = ''): Promise<void> {
  await page.waitForFunction(
    (before) => {
      const heading = document.querySelector('h1')?.textContent ?? '';
      return !['', before].includes(heading) && document.querySelector('.animate-pulse') === null;
    },
    not,
    { timeout: PATIENCE_MS, polling: 'raf' },
  );
}
