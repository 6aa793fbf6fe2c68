/**
 * What holds for every page: it is accessible in both themes (axe: WCAG 2.2 and best practice), fits a
 * phone of 320 px, has no error in its console, and asks for little. Its document names all its scripts. The
 * screenshots of docs/screenshots are made here, with WEIR_SCREENSHOTS=docs/screenshots.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { PAGES } from '../../../src/http/web/pages.ts';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { startOutside } from './support/outside.ts';
import { axeFindings, expectFits } from './support/page-checks.ts';
import { fillSample, pathsOf, type Sample } from './support/sample.ts';
import { shoot } from './support/screenshots.ts';

setDefaultTimeout(60_000);

/** The most requests of a page that is opened without a cache. */
const MAX_REQUESTS = 25;

const outside = startOutside();
let world: DashboardWorld;
let sample: Sample;
beforeAll(async () => {
  world = await startDashboard({ env: { ...outside.env, WEIR_CACHE: 'on' } });
  sample = await fillSample(world, outside);
}, 120_000);
afterAll(async () => {
  await world.stop();
  await outside.stop();
});

const pathOf = (page: string): string => pathsOf([page], sample)[0] ?? page;

/** Waits until no part of a page waits for data. */
async function waitUntilShown(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      document.querySelector('h1') !== null && document.querySelector('.animate-pulse') === null,
  );
  await page.waitForTimeout(150);
}

/** The scripts that a page has loaded. Which chart it draws depends on what it shows. */
async function loadedBy(page: Page): Promise<string[]> {
  const loaded = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
  );
  return [...new Set(loaded.filter((path) => /(?<!\.layout-\w+)\.js$/.test(path)))].sort();
}

/** The cookies that a page sends. The document of a person who is signed in names one more script. */
async function cookiesOf(page: Page): Promise<string> {
  const cookies = await page.context().cookies();
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}

/** The scripts that a document names. */
const namedIn = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path ?? '').sort();

describe.each(PAGES.filter((page) => !/^\/(?:v1|go)\//.test(page)))('the page %s', (pattern) => {
  // Who is signed in sees no sign-in.
  const isSeen = !/^\/(?:sign-in|link)$/.test(pattern);

  test('is accessible in both themes, and fits a phone of 320 px', async () => {
    const path = pathOf(pattern);
    const { page, mistakes } = await world.open(path, { theme: 'light' });
    await waitUntilShown(page);
    // The document, and all that it loaded.
    const requests = await page.evaluate(() => 1 + performance.getEntriesByType('resource').length);
    const loaded = await loadedBy(page);
    // Who is signed in goes on from the sign-in to the overview.
    if (pattern !== '/sign-in') expect(requests).toBeLessThanOrEqual(MAX_REQUESTS);
    if (isSeen) {
      const document = await fetch(world.weir.base_url + path, {
        headers: { accept: 'text/html', cookie: await cookiesOf(page) },
      });
      expect(loaded).toEqual(namedIn(await document.text()));
    }
    expect(await page.title()).toMatch(/ · Weir$/);
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      expect(await axeFindings(page, theme)).toEqual([]);
      if (isSeen) await shoot(page, `${nameOf(pattern)}-${theme}`);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    await expectFits(page, 320);
    expect(mistakes).toEqual([]);
    await page.context().close();
  });
});

test('an id that nobody has looks like a page that is missing', async () => {
  const { page } = await world.open('/go/req-00000000-0000-7000-8000-000000000000');
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  await page.context().close();
});

test('any id opens its page', async () => {
  const { page } = await world.open(pathOf('/go/:id'));
  await page.waitForURL((url) => url.pathname === pathOf('/usage/requests/:id'));
  await page.context().close();
});

/** The name of a page's screenshot, e.g. `usage-requests-one`. */
function nameOf(pattern: string): string {
  const name = pattern
    .replace(/\/:\w+/g, '-one')
    .replace(/^\//, '')
    .replaceAll('/', '-');
  return name || 'overview';
}
