/** The list of requests, one request, and the calls in flight, in a real browser. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { expectGoodPage } from './support/page-checks.ts';

let world: DashboardWorld;
let client: OpenAI;
beforeAll(async () => {
  world = await startDashboard();
  const { base_url, api_key } = world.weir;
  client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: api_key, maxRetries: 0 });
  for (const text of ['One', 'Two', 'Three [[sim status=400]]', 'Four [[sim status=500]]']) {
    await call(text).catch(() => undefined);
  }
}, 90_000);
afterAll(() => world.stop());

const call = (content: string, model = 'gpt-4o-mini') =>
  client.chat.completions.create({ model, messages: [{ role: 'user', content }] });

interface Listed {
  readonly request_id: string;
  readonly outcome: string;
  readonly amount: number;
  readonly stream: boolean;
}

async function listed(query = ''): Promise<Listed[]> {
  const answer = await fetch(`${world.weir.base_url}/v1/management/requests?limit=100${query}`, {
    headers: { authorization: `Bearer ${world.weir.management_token}` },
  });
  const { data } = (await answer.json()) as { data: Listed[] };
  return data;
}

/** Waits until a call is on record, because a call that is charged is recorded after its answer. */
async function recorded(count: number): Promise<Listed[]> {
  for (;;) {
    const calls = await listed();
    if (calls.length >= count) return calls;
    await Bun.sleep(50);
  }
}

const rows = (page: Page) => page.locator('tbody tr[data-row]');

test('the list has the rows of the API, and their number and their sum', async () => {
  const calls = await recorded(4);
  const { page, mistakes } = await world.open('/usage/requests');
  await rows(page).first().waitFor();
  const shown = await rows(page).evaluateAll((all) => all.map((row) => row.dataset['row']));
  expect(shown).toEqual(calls.map(({ request_id }) => request_id));
  const nano = calls.reduce((sum, { amount }) => sum + Math.round(amount * 1e9), 0);
  const sum = page.getByRole('link', { name: /^\d+ requests?, \$/ });
  await sum.waitFor();
  expect(await sum.textContent()).toStartWith(`${calls.length} requests`);
  const exact = (await sum.locator('[title]').getAttribute('title')) ?? '';
  expect(Math.round(Number(exact.replace(/[$ USD]/g, '')) * 1e9)).toBe(nano);
  expect(mistakes).toEqual([]);
  await page.close();
});

test('a filter is in the address, and the address shows the same again', async () => {
  const { page, mistakes } = await world.open('/usage/requests');
  await rows(page).first().waitFor();
  await page.getByLabel('Outcome', { exact: true }).selectOption('failed');
  await page.waitForURL(/outcome=failed/);
  await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-row]').length === 1);
  await page.reload();
  await rows(page).first().waitFor();
  expect(await rows(page).count()).toBe(1);
  expect(await rows(page).first().textContent()).toContain('upstream_error');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-row]').length >= 4);
  expect(mistakes).toEqual([]);
  await page.close();
});

test('a new call waits behind “1 new” and moves nothing; a frozen list counts it', async () => {
  const { page, mistakes } = await world.open('/usage/requests');
  await rows(page).first().waitFor();
  const before = await rows(page).count();
  await call('While you look');
  const arrived = page.getByRole('button', { name: '1 new' });
  await arrived.waitFor();
  expect(await rows(page).count()).toBe(before);
  await arrived.click();
  await page.waitForFunction(
    (count) => document.querySelectorAll('tbody tr[data-row]').length === count,
    before + 1,
  );
  await page.getByRole('button', { name: 'Freeze' }).click();
  await page.waitForURL(/as_of=/);
  await call('While it is frozen');
  await page.getByText('Frozen. 1 arrived since.').waitFor();
  expect(await rows(page).count()).toBe(before + 1);
  await page.reload();
  await page.getByText('Frozen. 1 arrived since.').waitFor();
  expect(await rows(page).count()).toBe(before + 1);
  await page.getByRole('button', { name: 'Go on live' }).click();
  await page.waitForFunction(
    (count) => document.querySelectorAll('tbody tr[data-row]').length === count,
    before + 2,
  );
  expect(mistakes).toEqual([]);
  await page.close();
});

test('calls that were made while the network was away appear when it is back', async () => {
  const { page } = await world.open('/usage/requests');
  await rows(page).first().waitFor();
  await page.context().setOffline(true);
  await page.getByText('The connection to Weir is lost').waitFor();
  await call('While you were away');
  await page.context().setOffline(false);
  await page.getByRole('button', { name: '1 new' }).waitFor();
  await page.close();
});

test('one request shows its stages, its money and its fault with what mends it', async () => {
  const calls = await listed();
  const failed = calls.find(({ outcome }) => outcome === 'failed');
  const done = calls.find(({ outcome }) => outcome === 'completed');
  const { page, mistakes } = await world.open('/usage/requests?outcome=failed');
  await rows(page).first().click();
  await page.waitForURL(new RegExp(`/usage/requests/${failed?.request_id}`));
  await page.getByText('The provider failed.').waitFor();
  await page.getByText('Send the call again.').waitFor();
  await page.getByText('Nothing was charged.').waitFor();
  await page.goto(`${world.weir.base_url}/usage/requests/${done?.request_id}`);
  for (const stage of ['Authenticate', 'Reserve money', 'Choose a channel', 'Attempt 1']) {
    await page.getByText(stage, { exact: true }).waitFor();
  }
  await page.getByText('Settle', { exact: true }).waitFor();
  const money = page.locator('section', { has: page.getByRole('heading', { name: 'Money' }) });
  const titles = await money
    .locator('[title$=" USD"]')
    .evaluateAll((all) => all.map((each) => each.getAttribute('title') ?? ''));
  const exact = Number(titles.at(-1)?.replace(/[$ USD]/g, ''));
  expect(Math.round(exact * 1e9)).toBe(Math.round((done?.amount ?? Number.NaN) * 1e9));
  expect(mistakes).toEqual([]);
  await page.close();
});

test('a request of nobody looks like none', async () => {
  const { page } = await world.open(`/usage/requests/req_${'0'.repeat(32)}`);
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  await page.close();
});

test('a call in flight stands there with its stage and its money, until it ends', async () => {
  const { page, mistakes } = await world.open('/usage/calls');
  await page.getByText('Nothing runs now').waitFor();
  const end = new AbortController();
  const stream = await client.chat.completions.create(
    {
      model: 'gpt-4o-mini',
      stream: true,
      messages: [{ role: 'user', content: 'Slowly [[sim tokens=500 chunk_ms=50]]' }],
    },
    { signal: end.signal },
  );
  const read = (async () => {
    for await (const _ of stream);
  })().catch(() => undefined);
  await page.getByText('answering').waitFor();
  await page.getByText(/1 call in flight/).waitFor();
  end.abort();
  await read;
  await page.getByText('Nothing runs now').waitFor();
  expect(mistakes).toEqual([]);
  await page.close();
});

test('what cannot be loaded is unknown and never zero', async () => {
  const cases = [
    ['/usage/requests', '**/v1/management/requests?*', 500],
    ['/usage/requests', '**/v1/management/usage/query?*', 503],
    ['/usage/requests', '**/v1/management/api-keys', 500],
    ['/usage/calls', '**/v1/management/calls', 503],
  ] as const;
  await Promise.all(
    cases.map(async ([path, route, status]) => {
      const { page } = await world.open('/docs');
      const error = { message: 'Weir is not well.', code: 'internal_error' };
      await page.route(route, (asked) => asked.fulfill({ status, json: { error } }));
      await page.goto(world.weir.base_url + path);
      const isList = route.includes('requests') || route.includes('calls');
      if (isList) await page.getByText('Weir is not well.').waitFor();
      else if (route.includes('query')) await page.getByText('are unknown').waitFor();
      else await rows(page).first().waitFor();
      const text = (await page.locator('main').textContent()) ?? '';
      expect(text).not.toMatch(/\b0 (?:requests|calls)\b|No calls yet|Nothing runs now/);
      await page.close();
    }),
  );
});

test('of a long list only the rows near the window are drawn, and all are reached', async () => {
  const { base_url, api_key } = world.weir;
  const refused = () =>
    fetch(`${base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'no-such-model', messages: [] }),
    });
  for (let sent = 0; sent < 400; sent += 40) {
    await Promise.all(Array.from({ length: 40 }, refused));
  }
  const { page, mistakes } = await world.open('/usage/requests');
  await page.getByRole('link', { name: /^4\d\d requests/ }).waitFor();
  const older = page.getByRole('button', { name: 'Show older requests' });
  for (const count of [200, 300, 400]) {
    await older.click();
    await page.waitForFunction((all) => {
      const table = document.querySelector('table');
      const drawn = document.querySelectorAll('tr[data-row]').length;
      return drawn === all || Number(table?.getAttribute('aria-rowcount')) === all + 1;
    }, count);
  }
  expect(await rows(page).count()).toBeLessThan(150);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.locator('tr[data-index="399"]').waitFor();
  expect(await page.locator('tr[data-index="0"]').count()).toBe(0);
  expect(mistakes).toEqual([]);
  await page.close();
});

// axe looks at hundreds of rows, which takes a minute on a busy machine.
test('every page is accessible in both themes and fits a phone', async () => {
  const [done] = await listed('&outcome=completed');
  for (const path of ['/usage/requests', `/usage/requests/${done?.request_id}`, '/usage/calls']) {
    const { page, mistakes } = await world.open(path);
    await page.getByText('API call').waitFor();
    await page.waitForFunction(() => document.querySelector('.animate-pulse') === null);
    await expectGoodPage(page);
    expect(mistakes).toEqual([]);
    await page.close();
  }
}, 180_000);
