/**
 * What cannot be loaded is unknown: for every page, each route that it reads fails in turn. The page then says
 * so, and shows no zero and no empty place that was not there before.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { PAGES } from '../../../src/http/web/pages.ts';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { startOutside } from './support/outside.ts';
import { fillSample, pathsOf, type Sample } from './support/sample.ts';

setDefaultTimeout(120_000);

/** Pages that read nothing of the API, or show only where to go. */
const WITHOUT_DATA = /^\/(?:sign-in|link|v1|go|docs)\b/;
/** The session decides whether there is a page at all. */
const SESSION = /^\/v1\/auth\//;
/** The events bring what cannot be read, so they fail with every route. A page says below all that it waits for them. */
const EVENTS = '/v1/management/events';
/** Only the names of keys come from this list here. Without it, their ids are shown. */
const NAMES_ONLY = /^\/(?:usage|playground|tasks|batches|billing|actors\/fleet|$)/;
const LIST_OF_KEYS = '/v1/management/api-keys';
const STATUSES = [500, 503];
/** A page that says the same for so long has read everything. */
const STILL_MS = 3_000;
const SAYS_SO = /Weir is not well|unknown|could not be read|cannot be read/i;
const ZERO = /\$0(?:\.0+)?(?!\.?\d)|\b0 (?:requests?|calls?|tasks?|keys?|tokens?|models?)\b/g;

const outside = startOutside();
let world: DashboardWorld;
let sample: Sample;
beforeAll(async () => {
  world = await startDashboard({ env: outside.env });
  sample = await fillSample(world, outside);
  // Money that keys hold goes back when they rest. Until then the figures of two readings differ.
  const { base_url, management_token } = world.weir;
  await until('no money is held', async () => {
    await Bun.sleep(250);
    const answer = await fetch(`${base_url}/v1/management/balance`, {
      headers: { authorization: `Bearer ${management_token}` },
    });
    return ((await answer.json()) as { held: number }).held === 0;
  });
}, 120_000);
afterAll(async () => {
  await world.stop();
  await outside.stop();
});

/** Waits until no part of the page waits for data. */
async function waitUntilShown(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.animate-pulse') === null);
}

/** Waits until a page says that it could not read something. False if it does not. */
function saysSo(page: Page): Promise<boolean> {
  const says = (words: string) => new RegExp(words, 'i').test(document.body.textContent ?? '');
  return page.waitForFunction(says, SAYS_SO.source, { timeout: 30_000 }).then(
    () => true,
    () => false,
  );
}

/** What a page says that may be wrong if it could not read everything. */
async function claimsOf(page: Page): Promise<{ zeros: number; empty: number }> {
  const text = (await page.locator('main').textContent()) ?? '';
  const empty = await page.locator('main .border-dashed').count();
  return { zeros: text.match(ZERO)?.length ?? 0, empty };
}

/** The claims of a page when they no longer change: a comparison is read after all else. */
async function lastClaimsOf(page: Page): ReturnType<typeof claimsOf> {
  let last = await claimsOf(page);
  for (;;) {
    await page.waitForTimeout(STILL_MS);
    const next = await claimsOf(page);
    if (next.zeros === last.zeros && next.empty === last.empty) return next;
    last = next;
  }
}

/** What a page says wrongly if one of the routes that it reads fails. Each route fails in a tab of its own. */
async function problemsOf(pattern: string): Promise<string[]> {
  const path = pathsOf([pattern], sample)[0] ?? pattern;
  const { page } = await world.unopened();
  const context = page.context();
  const asked = new Set<string>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    const isRead = pathname.startsWith('/v1/') && pathname !== EVENTS;
    if (isRead && !SESSION.test(pathname)) asked.add(pathname);
  });
  await page.goto(world.weir.base_url + path);
  await waitUntilShown(page);
  const well = await lastClaimsOf(page);
  await page.close();
  const problems: string[] = [];
  const failures = [...asked].map(async (route, at) => {
    const broken = await context.newPage();
    const status = STATUSES[at % STATUSES.length] ?? 500;
    const error = { message: 'Weir is not well.', code: 'internal_error' };
    await broken.route(
      (url) => url.pathname === route || url.pathname === EVENTS,
      (request) => request.fulfill({ status, json: { error } }),
    );
    await broken.goto(world.weir.base_url + path);
    await waitUntilShown(broken);
    const isName = route === LIST_OF_KEYS && NAMES_ONLY.test(path);
    if (!isName && !(await saysSo(broken))) problems.push(`says nothing without ${route}`);
    const { zeros, empty } = await claimsOf(broken);
    if (zeros > well.zeros) problems.push(`more zeros without ${route}`);
    if (empty > well.empty) problems.push(`more empty places without ${route}`);
    await broken.close();
  });
  await Promise.all(failures);
  await context.close();
  return problems;
}

test.each(PAGES.filter((page) => !WITHOUT_DATA.test(page)))(
  'the page %s calls what it cannot load unknown, and never zero or empty',
  async (pattern) => {
    expect(await problemsOf(pattern)).toEqual([]);
  },
);
