/** The catalogue in a real browser: which model should I take? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
  const { base_url, api_key } = world.weir;
  const client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: api_key, maxRetries: 0 });
  await client.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hello [[sim tokens=400]]' }],
  });
}, 120_000);
afterAll(() => world.stop());

const shownModels = (page: Page) =>
  page
    .locator('tbody tr[data-row]')
    .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset['row']));

test('the list is searched and filtered, and the address keeps it', async () => {
  const { page, mistakes } = await world.open('/models');
  await page.getByRole('link', { name: 'gpt-4o', exact: true }).waitFor();
  expect((await shownModels(page)).length).toBeGreaterThan(50);
  await page.keyboard.press('/');
  await page.keyboard.type('no such thing');
  await page.getByText('No model fits').waitFor();
  await page.getByRole('button', { name: 'Show all models' }).click();
  await page.getByLabel('Search models').fill('google image');
  await page.getByLabel('Makes').selectOption('image');
  await page.getByLabel('Order').selectOption('price');
  await until('the list to have models of images', async () =>
    (await shownModels(page)).every((id) => id?.startsWith('gemini')),
  );
  const before = await shownModels(page);
  await page.reload();
  await page.locator('tbody tr').first().waitFor();
  expect(await shownModels(page)).toEqual(before);
  expect(await page.getByLabel('Search models').inputValue()).toBe('google image');
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a model shows its price, its rank, its contract and what it cost', async () => {
  const { page, mistakes } = await world.open('/models?q=4o-mini');
  const row = page.locator('tr[data-row="gpt-4o-mini"]');
  await row.getByText('$0.00024', { exact: false }).waitFor();
  await row.getByText('available').waitFor();
  await row.click();
  await page.getByRole('heading', { name: 'gpt-4o-mini', level: 1 }).waitFor();
  await page.getByRole('row', { name: 'Output $0.60 per million tokens' }).waitFor();
  await page.getByRole('link', { name: '1 request' }).click();
  await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
  await page.locator('tbody tr[data-row]').first().waitFor();
  expect(await page.locator('tbody tr[data-row]').count()).toBe(1);
  await page.goto(`${world.weir.base_url}/models/veo-3.1`);
  await page.getByText(/^Place \d+ of \d+ video models/).waitFor();
  await page.getByRole('row', { name: 'resolution 720p, 1080p or 4k 720p' }).waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a model that no channel serves is unavailable, within seconds', async () => {
  const { base_url, operator_token } = world.weir;
  const operate = async (method: string, path: string) => {
    const headers = { authorization: `Bearer ${operator_token}` };
    const answer = await fetch(`${base_url}/v1/operator/${path}`, { method, headers });
    return (await answer.json()) as { data: { id: string; models: { model: string }[] }[] };
  };
  const { page } = await world.open('/models/tts-1');
  await page.getByText('A healthy provider takes calls now.').waitFor();
  const { data } = await operate('GET', 'channels');
  const serving = data.filter(({ models }) => JSON.stringify(models).includes('tts-1'));
  expect(serving.length).toBeGreaterThan(0);
  for (const { id } of serving) await operate('POST', `channels/${id}/disable`);
  await page.getByText('No provider takes calls of this model now.').waitFor();
  for (const { id } of serving) await operate('POST', `channels/${id}/enable`);
  await page.context().close();
});

test('every snippet of the page runs as it is', async () => {
  const { page } = await world.open('/models/gpt-4o-mini');
  const section = page.locator('section', { hasText: 'The call' }).first();
  const env = { ...process.env, WEIR_KEY: world.weir.api_key };
  for (const [language, ...command] of [
    ['curl', 'bash', '-c'],
    ['openai (js)', process.execPath, '-e'],
    ['anthropic', process.execPath, '-e'],
    ['ai-sdk', process.execPath, '-e'],
  ] as [string, ...string[]][]) {
    await page.getByRole('button', { name: language, exact: true }).click();
    const code = (await section.locator('pre').first().textContent()) ?? '';
    const child = Bun.spawn([...command, code], { cwd: ROOT, env, stdout: 'pipe', stderr: 'pipe' });
    const [output, mistakes, exit] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect({ language, exit, mistakes: exit === 0 ? '' : mistakes }).toMatchObject({ exit: 0 });
    expect(output.trim()).not.toBe('');
  }
  await page.context().close();
});

test('a failed answer is an error and not an empty list', async () => {
  const { page } = await world.open('/sign-in');
  await page.route('**/v1/management/models', (route) =>
    route.fulfill({
      status: 400,
      contentType: 'application/json',
      body: JSON.stringify({ error: { code: 'x', message: 'It broke.', hint: 'Try later.' } }),
    }),
  );
  await page.goto(`${world.weir.base_url}/models`);
  await page.getByText('It broke.').waitFor();
  await page.getByText('Try later.').waitFor();
  await page.unroute('**/v1/management/models');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: 'gpt-4o', exact: true }).waitFor();
  await page.goto(`${world.weir.base_url}/models/no-such-model`);
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  await page.context().close();
});

test('the pages are accessible in both themes and fit a phone', async () => {
  for (const path of ['/models?category=music', '/models/gpt-4o', '/models/kling-3.0']) {
    const { page, mistakes } = await world.open(path);
    await page.locator('tbody tr').first().waitFor();
    await expectGoodPage(page);
    expect(mistakes).toEqual([]);
    await page.context().close();
  }
});
