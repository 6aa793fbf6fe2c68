/**
 * The pages of usage beside 1,000,000 usage lines, in a real browser: their figures are the sums of the lines
 * themselves, they ask for little, and a long list is not drawn whole.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { fillUsage, keyOf } from '../../support/usage-rows.ts';
import { startWeir } from '../../support/weir.ts';

setDefaultTimeout(120_000);

const LINES = 1_000_000;
const KEYS = 300;
/** Two whole months of UTC, whatever day it is. */
const DAYS = 70;
/** Filling and summing the lines takes a minute, and several on a machine that is busy. */
const FILL_TIMEOUT_MS = 1_200_000;
/** Requests that a page may send, with its files. */
const MOST_REQUESTS = 25;
/** A table draws the rows that are in view, and some around them. */
const MOST_ROWS = 150;
const MODELS = ['gpt-4o-mini', 'gpt-4o', 'claude-haiku-4-5', 'text-embedding-3-small'].map(
  (id) => ({
    ...{ id, owned_by: id.startsWith('claude') ? 'anthropic' : 'openai', scene: 'chat' },
  }),
);

let fresh: TestDatabase;
let database: Database;
let world: DashboardWorld;
beforeAll(async () => {
  fresh = await createTestDatabase();
  const env = { DATABASE_URL: fresh.url };
  // The first start makes the organization. Lines are added while no Weir runs.
  await (await startWeir({ env })).stop();
  database = connectDatabase(fresh.url, { pool: 'single', statement_timeout_ms: FILL_TIMEOUT_MS });
  const { sql } = database;
  const [organization] = await sql<{ id: string }[]>`select id from organization`;
  const options = { lines: LINES, keys: KEYS, days: DAYS };
  await fillUsage(sql, MODELS, { organization_id: organization?.id ?? '', ...options }, () => {});
  world = await startDashboard({ env });
  for (;;) {
    const [row] = await sql<{ is_ready: boolean }[]>`select is_ready from usage_fold`;
    if (row?.is_ready) return;
    await Bun.sleep(250);
  }
}, FILL_TIMEOUT_MS);
afterAll(async () => {
  await world?.stop();
  await database?.close();
  await fresh?.drop();
});

/** Opens a page after another one, as a person does, and counts its requests. */
async function opened(path: string): Promise<{ page: Page; mistakes: string[]; asked: string[] }> {
  const { page: earlier } = await world.open('/docs');
  const { page, mistakes } = await world.unopened({ context: earlier.context() });
  // Requests of the earlier page that come late are not counted.
  await earlier.close();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(world.weir.base_url + path);
  return { page, mistakes, asked };
}

const exact = (title: string | null) => Math.round(Number(title?.replace(/[$ USD]/g, '')) * 1e9);
const rows = (page: Page) => page.locator('tbody tr[data-row]');

/** The last whole month of UTC. The browser of the tests is in UTC, too. */
async function lastMonth() {
  const [sum] = await database.sql<{ lines: number; nano_usd: number }[]>`
    select count(*)::int4 as lines, sum(charged_nano_usd)::int8 as nano_usd from usage_line
    where at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '1 month'
      and at < date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'`;
  if (!sum) throw new Error('no sum');
  return sum;
}

test('Explore has the sum of the lines to the nano-dollar, by model and by key', async () => {
  const { nano_usd } = await lastMonth();
  for (const group of ['logical_model', 'api_key_id']) {
    const { page, mistakes, asked } = await opened(`/usage?range=last_month&group=${group}`);
    const total = page.locator('tfoot [title$=" USD"]');
    await total.waitFor();
    expect(exact(await total.getAttribute('title')), group).toBe(nano_usd);
    expect(asked.length).toBeLessThanOrEqual(MOST_REQUESTS);
    expect(mistakes).toEqual([]);
    await page.close();
  }
});

test('the list says how many requests there are, and draws only those in view', async () => {
  const { page, mistakes, asked } = await opened(
    '/usage/requests?range=last_month&outcome=partial',
  );
  await rows(page).first().waitFor();
  const sum = page.getByRole('link', { name: /^[\d,]+ requests?, \$/ });
  await sum.waitFor();
  const [partial] = await database.sql<{ lines: number }[]>`
    select count(*)::int4 as lines from usage_line where outcome = 'partial'
      and at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '1 month'
      and at < date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'`;
  expect(await sum.textContent()).toStartWith(`${partial?.lines.toLocaleString('en')} requests`);
  expect(asked.length).toBeLessThanOrEqual(MOST_REQUESTS);
  const older = page.getByRole('button', { name: 'Show older requests' });
  for (let pages = 1; pages < 6; pages += 1) {
    const answered = page.waitForResponse((answer) => answer.url().includes('cursor='));
    await older.click();
    await answered;
  }
  expect(await rows(page).count()).toBeLessThanOrEqual(MOST_ROWS);
  expect(mistakes).toEqual([]);
  await page.close();
});

test('one request among all opens by its id, with its charge', async () => {
  const [line] = await database.sql<{ id: string; nano_usd: number }[]>`
    select replace(request_id::text, '-', '') as id, charged_nano_usd as nano_usd from usage_line
    order by at offset ${LINES / 2} limit 1`;
  const { page, mistakes, asked } = await opened(`/go/req_${line?.id}`);
  await page.waitForURL(/\/usage\/requests\/req_/);
  const amount = page.locator('main [title$=" USD"]').first();
  await amount.waitFor();
  expect(exact(await amount.getAttribute('title'))).toBe(line?.nano_usd ?? 0);
  expect(asked.length).toBeLessThanOrEqual(MOST_REQUESTS);
  expect(mistakes).toEqual([]);
  await page.close();
});

test.each(['/', '/billing', '/keys', `/keys/${keyOf(1)}`])(
  'the page %s asks for little',
  async (path) => {
    const { page, mistakes, asked } = await opened(path);
    await page.locator('h1').waitFor();
    await page.waitForFunction(() => document.querySelector('.animate-pulse') === null);
    expect(asked.length).toBeLessThanOrEqual(MOST_REQUESTS);
    expect(await page.locator('tbody tr').count()).toBeLessThanOrEqual(MOST_ROWS);
    expect(mistakes).toEqual([]);
    await page.close();
  },
);
