/** Billing in a real browser: does the bill add up? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { manage as request } from './support/manage.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

const MODELS = ['gpt-4o-mini', 'gpt-4o', 'claude-haiku-4-5', 'gpt-4.1-nano'];
const WIDE = 'W'.repeat(50);
const FROM_THE_RIGHT = 'متجر الأزهار';
const MONTH = new Date().toISOString().slice(0, 7);

interface Statement {
  readonly charged: { readonly amount: number; readonly requests: number };
}

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
  for (const [index, name] of [WIDE, FROM_THE_RIGHT].entries()) {
    const { key } = await request<{ key: string }>(world.weir, 'POST', 'api-keys', { name });
    for (const [at, model] of MODELS.entries()) await chat(key, model, 11 + at * 7 + index);
  }
  // Charges are posted within a second.
  await until('eight charges', async () => (await statement()).charged.requests === 8);
}, 120_000);
afterAll(() => world.stop());

const statement = () => request<Statement>(world.weir, 'GET', `statements/${MONTH}`);

async function chat(apiKey: string, model: string, tokens: number): Promise<void> {
  const client = new OpenAI({ baseURL: `${world.weir.base_url}/v1`, apiKey, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: `Hello [[sim tokens=${tokens}]]` }];
  await client.chat.completions.create({ model, messages });
}

/** An amount as a page shows it, in nano-USD. */
function nanoOf(text: string): bigint {
  const [, whole = '', decimals = ''] = /\$([\d,]+)\.(\d+)/.exec(text) ?? [];
  return BigInt(whole.replaceAll(',', '') + decimals.slice(0, 9).padEnd(9, '0'));
}

/** The amounts of the rows of a table, and its sum. */
async function amountsOf(page: Page, caption: string): Promise<{ rows: bigint[]; sum: bigint }> {
  const table = page.getByRole('table', { name: caption });
  await table.waitFor();
  const rows = await table.locator('tbody tr td:last-child').allTextContents();
  const sum = (await table.locator('[data-sum]').textContent()) ?? '';
  return { rows: rows.map(nanoOf), sum: nanoOf(sum) };
}

test('each table of a statement sums to the nano-dollar, and its lines lead to their requests', async () => {
  const { page, mistakes } = await world.open(`/billing/${MONTH}`);
  const { charged } = await statement();
  const total = BigInt(Math.round(charged.amount * 1e9));
  expect(total).toBeGreaterThan(0n);
  const groups = ['Model', 'Vendor', 'Scene', 'Access channel', 'API key', 'Day (UTC)'];
  for (const group of groups) {
    const { rows, sum } = await amountsOf(page, `Charges by ${group}`);
    expect(rows.reduce((all, each) => all + each, 0n)).toBe(sum);
    expect(sum).toBe(total);
  }
  expect(await page.getByRole('alert').count()).toBe(0);
  const models = page.getByRole('table', { name: 'Charges by Model' });
  const link = models.getByRole('row', { name: /^gpt-4o-mini/ }).getByRole('link');
  const href = new URL((await link.getAttribute('href')) ?? '', world.weir.base_url);
  expect(href.pathname).toBe('/usage/requests');
  const lines = await request<{ data: { amount: number }[] }>(
    world.weir,
    'GET',
    `requests${href.search}`,
  );
  expect(lines.data).toHaveLength(2);
  const sum = lines.data.reduce((all, { amount }) => all + BigInt(Math.round(amount * 1e9)), 0n);
  expect(sum).toBe(nanoOf((await link.textContent()) ?? ''));
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the balance adds up, months lead to their statements, and the group is in the address', async () => {
  const { page, mistakes } = await world.open('/billing');
  const amounts = page.locator('main li .figures');
  await until('the amounts', async () => (await amounts.count()) >= 4);
  const [used = 0n, held = 0n, available = 0n, deposited = 0n] = (
    await amounts.allTextContents()
  ).map(nanoOf);
  expect(used + held + available).toBe(deposited);
  await page.getByRole('button', { name: 'API keys' }).click();
  const keys = page.getByRole('table', { name: 'Charges by API key' });
  await keys.getByRole('cell', { name: FROM_THE_RIGHT }).waitFor();
  expect(new URL(page.url()).searchParams.get('by')).toBe('key');
  await page.reload();
  await keys.getByRole('cell', { name: WIDE }).waitFor();
  await expectGoodPage(page);
  const months = page.getByRole('table', { name: 'Months' });
  await months.locator('tbody tr').first().getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Statement' }).waitFor();
  await page.getByText('not final', { exact: false }).waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a statement prints without the frame; a month that is none is missing', async () => {
  const { page, mistakes } = await world.open(`/billing/${MONTH}`);
  await page.getByRole('table', { name: 'Charges by Model' }).waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false);
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
  expect(await page.getByRole('table', { name: 'Charges by Model' }).isVisible()).toBe(true);
  await page.goto(`${world.weir.base_url}/billing/2026-13`);
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('what a charge costs appears on the open page without a reload', async () => {
  const { page, mistakes } = await world.open('/billing?by=scene');
  const before = (await amountsOf(page, 'Charges by Scene')).sum;
  await chat(world.weir.api_key, 'gpt-4o', 500);
  await until('the new sum', async () => (await amountsOf(page, 'Charges by Scene')).sum > before);
  expect(mistakes).toEqual([]);
  await page.context().close();
});
