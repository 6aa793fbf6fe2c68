/** The overview in a real browser: it agrees with usage and requests, and moves by itself. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { expectGoodPage } from './support/page-checks.ts';

/** Requests that a page may send, with its files. */
const MOST_REQUESTS = 25;

/** How often pages read again (web/pages/overview/picture.ts), ms. */
const READ_EVERY_MS = 20_000;

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
  for (const text of ['One', 'Two', 'Three [[sim status=500]]']) {
    await call(text).catch(() => undefined);
  }
  await until('the calls are on record', async () => (await sums()).requests === 3);
}, 90_000);
afterAll(() => world.stop());

function call(content: string) {
  const { base_url, api_key } = world.weir;
  const client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: api_key, maxRetries: 0 });
  return client.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content }],
  });
}

/** The sums of the API, USD. */
async function sums(): Promise<{ value: number; requests: number }> {
  const answer = await fetch(
    `${world.weir.base_url}/v1/management/usage/query?metric=cost&bucket=none`,
    { headers: { authorization: `Bearer ${world.weir.management_token}` } },
  );
  return ((await answer.json()) as { total: { value: number; requests: number } }).total;
}

const nanoOf = (usd: number) => Math.round(usd * 1e9);
const stat = (page: Page, title: string) =>
  page.locator('div', { has: page.getByRole('heading', { name: title }) }).last();

/** The exact amount of a figure, nano-USD. */
async function amountOf(page: Page, title: string): Promise<number> {
  const shown = stat(page, title).getByRole('link').locator('[title$=" USD"]');
  return nanoOf(Number((await shown.getAttribute('title'))?.replace(/[$ USD]/g, '')));
}

test('overview, usage and requests agree with the API to the nano-dollar', async () => {
  const { page, mistakes } = await world.open('/');
  const { value, requests } = await sums();
  await stat(page, 'Requests, 24 hours')
    .getByRole('link', { name: String(requests) })
    .waitFor();
  expect(await amountOf(page, 'Spend today')).toBe(nanoOf(value));
  expect(await amountOf(page, 'Spend this month')).toBe(nanoOf(value));
  await page.getByText('66.7 % succeeded').waitFor();
  await stat(page, 'Requests, 24 hours').getByRole('link').click();
  await page.waitForURL(/usage\/requests/);
  await page.locator('tr[data-row]').first().waitFor();
  expect(await page.locator('tr[data-row]').count()).toBe(requests);
  const sum = page.getByRole('link', { name: /^3 requests, / }).locator('[title]');
  expect(nanoOf(Number((await sum.getAttribute('title'))?.replace(/[$ USD]/g, '')))).toBe(
    nanoOf(value),
  );
  await page.goBack();
  await stat(page, 'Spend today').getByRole('link').click();
  await page.waitForURL(/usage\?/);
  const total = page.locator('tfoot [title$=" USD"]');
  expect(nanoOf(Number((await total.getAttribute('title'))?.replace(/[$ USD]/g, '')))).toBe(
    nanoOf(value),
  );
  expect(mistakes).toEqual([]);
  await page.close();
});

test('figures move by themselves after a call, exactly, and a second call needs no request', async () => {
  const { requests: before } = await sums();
  const { page, mistakes } = await world.open('/');
  const requests = stat(page, 'Requests, 24 hours').getByRole('link');
  await requests.getByText(`${before}`, { exact: true }).waitFor();
  // Pages read again at the first event after each multiple of 20 s.
  const left_ms = READ_EVERY_MS - (Date.now() % READ_EVERY_MS);
  if (left_ms < READ_EVERY_MS / 2) await Bun.sleep(left_ms + 100);
  await call('Now');
  await requests.getByText(`${before + 1}`, { exact: true }).waitFor();
  await page.waitForLoadState('networkidle', { timeout: 1_500 }).catch(() => undefined);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await call('And again');
  await requests.getByText(`${before + 2}`, { exact: true }).waitFor();
  const { value } = await sums();
  expect(await amountOf(page, 'Spend today')).toBe(nanoOf(value));
  expect(await amountOf(page, 'Spend this month')).toBe(nanoOf(value));
  expect(asked.filter((url) => url.includes('/usage/'))).toEqual([]);
  await requests.click();
  await page.locator('tr[data-row]').first().waitFor();
  expect(await page.locator('tr[data-row]').count()).toBe(before + 2);
  expect(mistakes).toEqual([]);
  await page.close();
});

test('figures of the time without network come when it is back', async () => {
  const { requests: before } = await sums();
  const { page } = await world.open('/');
  const requests = stat(page, 'Requests, 24 hours').getByRole('link');
  await requests.getByText(`${before}`, { exact: true }).waitFor();
  await page.context().setOffline(true);
  await page.getByText('The connection to Weir is lost').waitFor();
  await call('While you were away');
  await page.context().setOffline(false);
  await requests.getByText(`${before + 1}`, { exact: true }).waitFor();
  expect(await amountOf(page, 'Spend today')).toBe(nanoOf((await sums()).value));
  await page.close();
});

test('the page asks for little', async () => {
  const { page } = await world.open('/docs');
  await page.waitForLoadState('networkidle', { timeout: 1_500 }).catch(() => undefined);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(world.weir.base_url);
  await stat(page, 'Requests, 24 hours').getByRole('link').waitFor();
  await page.getByRole('figure', { name: 'Spend by hour' }).waitFor();
  await page.getByRole('link', { name: 'gpt-4o-mini' }).waitFor();
  expect(asked.length).toBeLessThanOrEqual(MOST_REQUESTS);
  await page.close();
});

test('one notice is in view; dismissed, it stays away until its cause returns', async () => {
  const { base_url, management_token } = world.weir;
  const manage = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${base_url}/v1/management/api-keys${path}`, {
      method,
      headers: {
        authorization: `Bearer ${management_token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as { id: string; key: string };
  };
  const capped = async (name: string) => {
    const made = await manage('POST', '', { name, limitAmount: 0.0005 });
    const client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: made.key, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hi [[sim tokens=900]]' }];
    const spend = { model: 'gpt-4o-mini', messages, max_tokens: 700 };
    await client.chat.completions.create(spend);
    return made.id;
  };
  const ids = { 'Night jobs': await capped('Night jobs'), Ads: await capped('Ads') };
  const { page, mistakes } = await world.open('/');
  const line = page.getByRole('list', { name: 'What needs you' }).getByRole('listitem');
  await page.getByText('1 more', { exact: true }).waitFor();
  expect(await line.count()).toBe(1);
  const first = ((await line.textContent()) ?? '').includes('Ads') ? 'Ads' : 'Night jobs';
  const second = first === 'Ads' ? 'Night jobs' : 'Ads';
  await line.getByRole('button', { name: 'Dismiss' }).click();
  await line.getByText(second).waitFor();
  await page.reload();
  await line.getByText(second).waitFor();
  await line.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByText('Nothing new needs you.').waitFor();
  // A cap that is nearly reached again is another cause.
  await manage('PATCH', `/${ids[first]}`, { limitAmount: 0.00051 });
  await page.reload();
  await line.getByText(first).waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('each route that fails makes its figure unknown and never zero', async () => {
  const cases = [
    ['**/v1/management/usage/queries?*', 500, 'Spend today'],
    ['**/v1/management/balance', 503, 'Balance'],
    ['**/v1/management/calls', 500, 'In flight'],
    ['**/v1/management/notices', 503, undefined],
  ] as const;
  await Promise.all(
    cases.map(async ([route, status, title]) => {
      const { page } = await world.open('/docs');
      const error = { message: 'Weir is not well.', code: 'internal_error' };
      await page.route(route, (asked) => asked.fulfill({ status, json: { error } }));
      // Events say the balance and the number of calls, too.
      await page.route('**/v1/management/events', (asked) => asked.abort());
      await page.goto(world.weir.base_url);
      if (title === undefined) {
        await page.getByText('Whether something needs you is unknown.').waitFor();
      } else {
        await stat(page, title).getByText('unknown', { exact: true }).waitFor();
        const text = (await stat(page, title).textContent()) ?? '';
        expect(text).not.toMatch(/\$0|\b0 calls/);
      }
      if (title === 'Spend today') {
        await page.getByText('Weir is not well.').first().waitFor();
        expect(await page.locator('main').textContent()).not.toMatch(/succeeded|no stream yet/);
      }
      await page.close();
    }),
  );
});

test('the balance and the calls in flight come with events, also when they cannot be read', async () => {
  const { page } = await world.open('/docs');
  for (const route of ['**/v1/management/balance', '**/v1/management/calls']) {
    await page.route(route, (asked) => asked.fulfill({ status: 503, json: {} }));
  }
  await page.goto(world.weir.base_url);
  await stat(page, 'Balance').getByText(/\$\d/).first().waitFor();
  await stat(page, 'In flight').getByText('0 calls').waitFor();
  await page.close();
});

test('the page is accessible in both themes and fits a phone', async () => {
  const { page, mistakes } = await world.open('/');
  await page.getByText('API call').waitFor();
  await page.waitForFunction(() => document.querySelector('.animate-pulse') === null);
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.close();
});
