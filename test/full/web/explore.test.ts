/** The explorer of usage, and its saved views, in a real browser. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { expectGoodPage } from './support/page-checks.ts';

const MODELS = ['gpt-4o-mini', 'gpt-4o-mini', 'gpt-4o', 'no-such-model'];
const QUERY = 'metric=cost&group=logical_model&bucket=none';

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
  for (const model of MODELS) await call(model).catch(() => undefined);
  await until('the calls are on record', async () => {
    const { total } = await read<Sums>(`usage/query?${QUERY}`);
    return total.requests === MODELS.length;
  });
}, 90_000);
afterAll(() => world.stop());

function call(model: string) {
  const { base_url, api_key } = world.weir;
  const client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: api_key, maxRetries: 0 });
  return client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] });
}

interface Sums {
  readonly total: { readonly value: number; readonly requests: number };
  readonly series: readonly { readonly group: string | null; readonly value: number }[];
}

async function read<Answer>(path: string): Promise<Answer> {
  const answer = await fetch(`${world.weir.base_url}/v1/management/${path}`, {
    headers: { authorization: `Bearer ${world.weir.management_token}` },
  });
  return (await answer.json()) as Answer;
}

const nanoOf = (usd: number) => Math.round(usd * 1e9);
const rows = (page: Page) => page.locator('tr[data-row]');

/** The exact amounts of the table, nano-USD. */
const amounts = (page: Page, part: 'tbody' | 'tfoot') =>
  page
    .locator(`${part} [title$=" USD"]`)
    .evaluateAll((all) =>
      all.map((each) =>
        Math.round(Number(each.getAttribute('title')?.replace(/[$ USD]/g, '')) * 1e9),
      ),
    );

test('the rows add up to the sum, and both are those of the API to the nano-dollar', async () => {
  const { page, mistakes } = await world.open('/usage');
  await rows(page).first().waitFor();
  const sums = await read<Sums>(`usage/query?${QUERY}`);
  const shown = await amounts(page, 'tbody');
  expect(shown).toEqual(sums.series.map(({ value }) => nanoOf(value)));
  const all = await amounts(page, 'tfoot');
  expect(all).toEqual([nanoOf(sums.total.value)]);
  expect(shown.reduce((sum, each) => sum + each, 0)).toBe(all[0] ?? Number.NaN);
  expect(mistakes).toEqual([]);
  await page.close();
});

test('each count opens exactly its requests, as of the same instant', async () => {
  const { page, mistakes } = await world.open('/usage?metric=requests');
  await rows(page).first().waitFor();
  const counts = await rows(page).getByRole('link').allTextContents();
  expect(counts).toEqual(['2', '1', '1']);
  await call('gpt-4o-mini');
  for (const index of counts.keys()) {
    // The explorer is live: the count is that of the moment of the click.
    const link = rows(page).nth(index).getByRole('link');
    const count = await link.evaluate((element: HTMLAnchorElement) => {
      const text = element.textContent;
      element.click();
      return text;
    });
    await page.waitForURL(/usage\/requests\?.*as_of=/);
    await page.getByText(/arrived since/).waitFor();
    expect(await rows(page).count()).toBe(Number(count));
    await page.goBack();
    await page.waitForURL(/usage\?/);
    // The explorer is live again, so the first row has one more by now.
    await rows(page).first().waitFor();
    if (index === 0)
      await rows(page)
        .getByRole('link', { name: /^3 requests/ })
        .waitFor();
  }
  expect(mistakes).toEqual([]);
  await page.close();
});

test('what is chosen stands in the address; a drag over the plot zooms, and Back zooms out', async () => {
  const { page, mistakes } = await world.open('/usage?range=24h');
  await rows(page).first().waitFor();
  await page.getByLabel('Metric').selectOption('requests');
  await page.getByLabel('Compare with the time before').check();
  await page.waitForURL(/metric=requests.*compare=true|compare=true.*metric=requests/);
  await page.getByText('before: 0').waitFor();
  const before = page.url();
  const plot = await page.locator('.u-over').boundingBox();
  if (!plot) throw new Error('there is no plot');
  const y = plot.y + plot.height / 2;
  await page.mouse.move(plot.x + plot.width * 0.85, y);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.99, y, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/startDate=.*endDate=|endDate=.*startDate=/);
  const zoomed = new URL(page.url()).searchParams;
  const length =
    Date.parse(zoomed.get('endDate') ?? '') - Date.parse(zoomed.get('startDate') ?? '');
  expect(length).toBeLessThan(8 * 3_600_000);
  await page.goBack();
  await page.waitForURL(before);
  expect(mistakes).toEqual([]);
  await page.close();
});

test('a view gets a name, is found again, and is shared with the organization', async () => {
  const { page, mistakes } = await world.open('/usage?group=outcome&metric=requests');
  await page.getByRole('button', { name: 'Save this view' }).click();
  await page.getByLabel('Name').fill('Calls by outcome');
  await page.getByLabel('Share it with the organization').check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'Calls by outcome' }).waitFor();
  await page.goto(`${world.weir.base_url}/usage`);
  const view = page.getByRole('link', { name: 'Calls by outcome' });
  await view.click();
  await page.waitForURL(/group=outcome/);
  await rows(page).first().waitFor();
  const { data } = await read<{ data: { name: string; shared: boolean }[] }>('views?page=usage');
  expect(data).toMatchObject([{ name: 'Calls by outcome', shared: true }]);
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('How calls end');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'How calls end' }).waitFor();
  await page.getByRole('button', { name: 'Delete this view' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the view' }).click();
  await page.getByRole('link', { name: 'How calls end' }).waitFor({ state: 'detached' });
  expect(mistakes).toEqual([]);
  await page.close();
});

/** The lines of the export of what a page shows. */
async function exported(page: Page): Promise<string[]> {
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'NDJSON' }).click();
  const path = await (await download).path();
  const text = (await Bun.file(path).text()).trim();
  return text === '' ? [] : text.split('\n');
}

test('an export has all charges, and of one outcome only its own', async () => {
  const { page: refused } = await world.open('/usage?outcome=refused&metric=requests');
  await rows(refused).first().waitFor();
  expect(await exported(refused)).toEqual([]);
  await refused.close();
  const { page } = await world.open('/usage');
  const lines = await exported(page);
  const { total } = await read<Sums>('usage/query?metric=cost&bucket=none');
  const sum = lines.reduce(
    (all, line) => all + (JSON.parse(line) as { amount_nano_usd: number }).amount_nano_usd,
    0,
  );
  expect(sum).toBe(nanoOf(total.value));
  await page.close();
});

test('what cannot be loaded is unknown and never zero', async () => {
  const { page } = await world.open('/docs');
  const error = { message: 'Weir is not well.', code: 'internal_error' };
  await page.route('**/v1/management/usage/query?*', (asked) =>
    asked.fulfill({ status: 500, json: { error } }),
  );
  await page.route('**/v1/management/views?*', (asked) =>
    asked.fulfill({ status: 503, json: { error } }),
  );
  await page.goto(`${world.weir.base_url}/usage`);
  await page.getByText('Weir is not well.').waitFor();
  await page.getByText('unknown').waitFor();
  expect((await page.locator('main').textContent()) ?? '').not.toMatch(/\$0|\b0 requests/);
  await page.close();
});

test('the labels of a plot are readable after the theme changed', async () => {
  const { page } = await world.open('/usage', { theme: 'light' });
  const plot = page.getByRole('figure').locator('canvas').first();
  await plot.waitFor();
  // The lightness of the labels left of the plot: 0 is black.
  const lightness = () =>
    plot.evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, 60, canvas.height) ?? {};
      const sums = [];
      for (let at = 0; at < (data?.length ?? 0); at += 4) {
        const [red = 0, green = 0, blue = 0, alpha = 0] = data?.slice(at, at + 4) ?? [];
        if (alpha > 250) sums.push((red + green + blue) / 3);
      }
      return sums.length === 0 ? undefined : sums.reduce((a, b) => a + b) / sums.length;
    });
  await until('dark labels', async () => ((await lightness()) ?? 255) < 100);
  await page.emulateMedia({ colorScheme: 'dark' });
  await until('light labels', async () => ((await lightness()) ?? 0) > 150);
  await page.emulateMedia({ colorScheme: 'light' });
  await until('dark labels again', async () => ((await lightness()) ?? 255) < 100);
  await page.context().close();
});

test('the page is accessible in both themes and fits a phone', async () => {
  for (const path of ['/usage', '/usage?group=none&metric=first_token_mean&range=1h']) {
    const { page, mistakes } = await world.open(path);
    await page.getByText('Drag over the plot').waitFor();
    await expectGoodPage(page);
    expect(mistakes).toEqual([]);
    await page.close();
  }
});
