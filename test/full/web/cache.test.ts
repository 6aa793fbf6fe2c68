/** The page of the cache in a real browser: what does it save? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { manage as request } from './support/manage.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

/** How often each model is asked the same: the first time is a miss. */
const ASKED = { 'gpt-4o': 4, 'claude-haiku-4-5': 2, 'gpt-4o-mini': 1 };

let world: DashboardWorld;
/** The id of a call that was a hit, and of one that was a miss. */
const ids = { hit: '', miss: '' };
beforeAll(async () => {
  world = await startDashboard({ env: { WEIR_CACHE: 'on' } });
  for (const [model, times] of Object.entries(ASKED)) {
    for (let time = 0; time < times; time += 1) await ask(model);
  }
  await until('all calls are on record', async () => (await total('cache_lookups')) === 7);
}, 120_000);
afterAll(() => world.stop());

async function ask(model: string): Promise<void> {
  const messages = [{ role: 'user', content: 'The same question [[sim tokens=40]]' }];
  const answer = await fetch(`${world.weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, messages }),
  });
  await answer.text();
  const cache = answer.headers.get('x-weir-cache') as 'hit' | 'miss';
  ids[cache] = answer.headers.get('x-request-id') ?? '';
}

interface Sums {
  readonly total: { readonly value: number };
}
const total = async (metric: string) =>
  (await request<Sums>(world.weir, 'GET', `usage/query?metric=${metric}`)).total.value;

test('the page shows hits, hit rate and savings by model, and they are those of the API', async () => {
  const { page, mistakes } = await world.open('/cache');
  const rows = page.getByRole('table', { name: 'The cache by model' }).locator('tbody tr');
  await rows.first().waitFor();
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );
  const byModel = Object.fromEntries(
    cells.map(([model = '', ...rest]) => [model, rest.slice(0, 3)]),
  );
  expect(byModel).toEqual({
    'gpt-4o': ['4', '3', '75 %'],
    'claude-haiku-4-5': ['2', '1', '50 %'],
    'gpt-4o-mini': ['1', '0', '0 %'],
  });
  const shown = await rows
    .locator('[title$=" USD"]')
    .evaluateAll((all) =>
      all.map((each) => Number(each.getAttribute('title')?.replace(/[$ USD,]/g, ''))),
    );
  expect(shown.reduce((sum, usd) => sum + usd, 0)).toBeCloseTo(await total('saved'), 9);
  expect(shown).toEqual([...shown].sort((a, b) => b - a));
  await page.getByText('of 7 look-ups').waitFor();
  await page.getByRole('combobox', { name: 'Cache scope' }).waitFor();
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  // The figure leads to its calls.
  await page.getByRole('link', { name: '4', exact: true }).click();
  await page.waitForURL(/\/usage\/requests\?.*outcome=cached/);
  // The page before has three rows, and stands until the next one is drawn.
  await page.locator('tr[data-row]').nth(3).waitFor();
  expect(await page.locator('tr[data-row]').count()).toBe(4);
  await page.context().close();
});

test('a viewer sees the figures of another range', async () => {
  const context = await world.personAs('viewer');
  const { page } = await world.open('/cache?range=7d', { context });
  await page.getByRole('table', { name: 'The cache by model' }).waitFor();
  expect(await page.getByText('Hit rate, by day').isVisible()).toBe(true);
  await context.close();
});

test('an admin changes who gets an answer again, and a viewer only sees it', async () => {
  const scope = async () =>
    (await request<{ cache_scope: string }>(world.weir, 'GET', 'organization')).cache_scope;
  const admin = await world.personAs('admin');
  const { page, mistakes } = await world.open('/cache', { context: admin });
  const choice = page.getByRole('combobox', { name: 'Cache scope' });
  await choice.selectOption('key');
  await page.getByText('Cache scope: key.').waitFor();
  expect(await scope()).toBe('key');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  expect(await scope()).toBe('organization');
  expect(mistakes).toEqual([]);
  await admin.close();
  const viewer = await world.personAs('viewer');
  const { page: seen } = await world.open('/cache', { context: viewer });
  await seen.getByText('Who gets an answer of the cache again', { exact: false }).waitFor();
  expect(await seen.getByRole('combobox', { name: 'Cache scope' }).count()).toBe(0);
  expect(await seen.getByRole('button', { name: 'Remove all answers' }).count()).toBe(0);
  await viewer.close();
});

test('an admin removes all stored answers, after a question', async () => {
  const state = async () => {
    const before = ids.miss;
    await ask('gpt-4o');
    return ids.miss === before ? 'hit' : 'miss';
  };
  const { hit, miss } = ids;
  expect(await state()).toBe('hit');
  const context = await world.personAs('admin');
  const { page, mistakes } = await world.open('/cache', { context });
  await page.getByRole('button', { name: 'Remove all answers' }).click();
  const dialog = page.getByRole('dialog');
  await expectGoodPage(page);
  await dialog.getByRole('button', { name: 'Remove all answers' }).click();
  await page.getByText('All stored answers are removed.').waitFor();
  expect(await dialog.count()).toBe(0);
  expect(await state()).toBe('miss');
  expect(mistakes).toEqual([]);
  await context.close();
  Object.assign(ids, { hit, miss });
});

test('a request says hit, entry, age and what it saved, or miss', async () => {
  const { page } = await world.open(`/usage/requests/${ids.hit}`);
  const facts = page.locator('dl');
  await facts.getByText('hit: an earlier answer was sent again').waitFor();
  expect(await facts.getByText(/^ce_[0-9a-f]{32}/).isVisible()).toBe(true);
  const saved = facts.locator('div', { has: page.locator('dt', { hasText: /^Saved$/ }) });
  expect(await saved.locator('[title$=" USD"]').count()).toBe(1);
  await page.goto(`${world.weir.base_url}/usage/requests/${ids.miss}`);
  await facts.getByText('miss: no earlier answer').waitFor();
  await page.context().close();
});
