/** The documentation in a real browser: the API reference is found, and can be read on a phone. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { expectFits, expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

/** The width of the smallest phone, px. */
const PHONE_PX = 320;

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
}, 120_000);
afterAll(() => world.stop());

test('the list has the API reference after the first page, and before all others', async () => {
  const { page, mistakes } = await world.open('/docs');
  const links = page.getByRole('navigation', { name: 'Documentation' }).getByRole('link');
  await links.first().waitFor();
  const titles = await links.allTextContents();
  expect(titles.slice(0, 2)).toEqual(['Weir', 'API reference']);
  const last = titles.findLastIndex((title) => title.startsWith('API: '));
  expect(last).toBeGreaterThan(6);
  expect(titles.slice(2, last + 1).filter((title) => !title.startsWith('API: '))).toEqual([]);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a search finds a route, and leads to its parameters', async () => {
  const { page, mistakes } = await world.open('/docs');
  await page.getByLabel('Search the documentation').fill('GET /v1/management/requests');
  const name = 'API: Usage, billing, tasks of an organization › GET /v1/management/requests';
  await page.getByRole('link', { name, exact: true }).click();
  await page.waitForURL(/\/docs\/reference\/usage#get-v1managementrequests$/);
  const heading = page.getByRole('heading', { name: 'GET /v1/management/requests', exact: true });
  await heading.waitFor();
  expect(await heading.evaluate((element) => element.getBoundingClientRect().top)).toBeLessThan(
    300,
  );
  const row = page.getByRole('row', { name: /^errorCode query/ });
  expect(await row.textContent()).toContain('Only calls that ended with this error.');
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the list of all routes leads to a route of another page', async () => {
  const { page, mistakes } = await world.open('/docs/reference');
  await page.getByRole('link', { name: 'POST /v1/embeddings', exact: true }).click();
  await page.waitForURL(/\/docs\/reference\/calls#post-v1embeddings$/);
  await page.getByRole('heading', { name: 'POST /v1/embeddings', exact: true }).waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the browser lays out only the sections that can be seen', async () => {
  const { page, mistakes } = await world.open('/docs/operations');
  await page.locator('.prose h2').first().waitFor();
  const sections = await page
    .locator('.prose > section')
    .evaluateAll((all) =>
      all.map((each) => [
        getComputedStyle(each).contentVisibility,
        each.querySelectorAll('h2, h3').length,
        each.querySelector('p, td')?.checkVisibility({ contentVisibilityAuto: true }) ?? true,
      ]),
    );
  expect(sections.length).toBeGreaterThan(5);
  expect(sections.every(([visibility, headings]) => visibility === 'auto' && headings === 1)).toBe(
    true,
  );
  expect(sections.at(-1)?.[2]).toBe(false);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the first sections are drawn at once, and the others after the first paint', async () => {
  const { page, mistakes } = await world.open('/docs');
  await page.addInitScript(() => {
    const counts: number[] = [];
    Object.assign(window, { counts });
    new MutationObserver(() => {
      if (document.querySelector('.prose') === null) return;
      counts.push(document.querySelectorAll('.prose > section').length);
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(`${world.weir.base_url}/docs/operations`);
  const last = page.getByRole('heading', { level: 2 }).last();
  await page.waitForFunction(() => document.querySelectorAll('.prose').length === 2);
  const counts = await page.evaluate(() => (window as unknown as { counts: number[] }).counts);
  const all = await page.locator('.prose > section').count();
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts[0]).toBeLessThan(all / 2);
  expect(counts.at(-1)).toBe(all);
  // A link to a heading that was not drawn at first leads there, also in a new document.
  const id = await last.getAttribute('id');
  await page.goto('about:blank');
  await page.goto(`${world.weir.base_url}/docs/operations#${id}`);
  await page.waitForFunction((heading) => {
    const top = document.getElementById(heading)?.getBoundingClientRect().top;
    return top !== undefined && top >= 0 && top < innerHeight;
  }, id ?? '');
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a page of the reference can be read in both themes', async () => {
  // axe needs a minute for the largest pages, whose HTML is of the same kind.
  const { page, mistakes } = await world.open('/docs/reference/sign-in');
  await page.locator('.prose h2').first().waitFor();
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the longest page fits a phone: its tables scroll in themselves', async () => {
  const { page, mistakes } = await world.open('/docs/reference/operator');
  await page.setViewportSize({ width: PHONE_PX, height: 640 });
  await page.locator('.prose h2').first().waitFor();
  await expectFits(page, PHONE_PX);
  expect(mistakes).toEqual([]);
  await page.context().close();
});
