/** What is around every page: sign-in, ⌘K, the theme, and one event stream for all tabs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { mistakesOf } from '../../support/chromium.ts';
import { type DashboardWorld, PASSWORD, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

const EVENTS = '/v1/management/events';

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
}, 120_000);
afterAll(() => world.stop());

/** Opens a path in a browser in which nobody is signed in. */
async function openSignedOut(path: string): Promise<Page> {
  const page = await (await world.browser.newContext()).newPage();
  await page.goto(world.weir.base_url + path);
  return page;
}

/** Makes a call that costs something. */
async function call(): Promise<void> {
  const { status } = await fetch(`${world.weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi [[sim tokens=400]]' }],
    }),
  });
  expect(status).toBe(200);
}

async function signIn(page: Page, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

test('the sign-in says what is wrong, and returns to the page with its filters', async () => {
  const page = await openSignedOut('/usage/requests?outcome=completed');
  await signIn(page, 'not the password');
  await page.getByRole('alert').waitFor();
  await signIn(page);
  await page.waitForURL((url) => url.pathname !== '/sign-in');
  const { pathname, search } = new URL(page.url());
  expect([pathname, search]).toEqual(['/usage/requests', '?outcome=completed']);
  await page.context().close();
});

test.each([
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'javascript:1',
])('the sign-in never goes to %j', async (foreign) => {
  const page = await openSignedOut(`/sign-in?return_to=${encodeURIComponent(foreign)}`);
  const mistakes = mistakesOf(page);
  await signIn(page);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(page.url()).toBe(`${world.weir.base_url}/`);
  expect(mistakes.filter((each) => !each.includes('401'))).toEqual([]);
  await page.context().close();
});

test('⌘K goes to a page, does an act, and opens any id', async () => {
  const { page, mistakes } = await world.open('/docs');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('A page, an act, or any id').fill('bill add up');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Billing' }).waitFor();
  await page.keyboard.press('Meta+k');
  await page.getByPlaceholder('A page, an act, or any id').fill('create an api');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Create an API key' }).waitFor();
  expect(new URL(page.url()).search).toBe('?create=true');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('A page, an act, or any id').fill(`req_${'0'.repeat(32)}`);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  expect(mistakes.filter((each) => !each.includes('404'))).toEqual([]);
  await page.context().close();
});

test('a chosen theme is there before the first paint of the next page', async () => {
  const { page } = await world.open('/docs');
  await page.getByRole('button', { name: 'Theme: system' }).click();
  await page.getByRole('button', { name: 'Theme: light' }).click();
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
  const document = await page.reload();
  expect(await document?.text()).toContain('<html lang="en" data-theme="dark">');
  await page.context().close();
});

test('ten tabs share one event stream, and another tab goes on when its tab closes', async () => {
  const { page: first } = await world.unopened();
  const context = first.context();
  const streams = new Set<Page>();
  context.on('request', (request) => {
    if (request.url().endsWith(EVENTS)) streams.add(request.frame().page());
  });
  await first.goto(`${world.weir.base_url}/keys`);
  await until('the first tab has the stream', async () => streams.has(first));
  const others = await Promise.all(
    Array.from({ length: 9 }, async () => {
      const page = await context.newPage();
      await page.goto(`${world.weir.base_url}/keys`);
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
      return page;
    }),
  );
  expect(streams.size).toBe(1);
  await first.close();
  await until('another tab has the stream', async () => streams.size === 2);
  await call();
  for (const page of others)
    await page
      .getByText(/^\$0\.000/)
      .first()
      .waitFor();
  expect(streams.size).toBe(2);
  await context.close();
});

test('after a session ended and the person signed in again, all tabs are live again', async () => {
  const page = await openSignedOut('/keys');
  await signIn(page);
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  const context = page.context();
  const other = await context.newPage();
  await other.goto(`${world.weir.base_url}/keys`);
  await other.getByRole('heading', { name: 'API keys' }).waitFor();
  await context.request.post(`${world.weir.base_url}/v1/auth/sign-out`);
  const refused = (tab: Page) =>
    tab.waitForResponse((answer) => answer.url().endsWith(EVENTS) && answer.status() === 401);
  const both = Promise.all([refused(page), refused(other)]);
  // A stream that breaks is opened again. Each tab tries, because the one before was refused.
  await context.setOffline(true);
  await context.setOffline(false);
  await both;
  await page.getByRole('link', { name: 'Billing', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'API keys', exact: true }).click();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.locator('tbody tr').first().waitFor();
  const texts = () => Promise.all([page, other].map((tab) => tab.locator('tbody').textContent()));
  const before = await texts();
  await call();
  await until('both tabs show the call', async () =>
    (await texts()).every((text, at) => text !== before[at]),
  );
  const streamed = other.waitForRequest((request) => request.url().endsWith(EVENTS));
  await page.close();
  await streamed;
  await context.close();
});
