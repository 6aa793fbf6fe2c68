/** Message batches in a real browser: how far is it? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

let world: DashboardWorld;
let client: Anthropic;
beforeAll(async () => {
  world = await startDashboard();
  const { base_url, api_key } = world.weir;
  client = new Anthropic({ baseURL: base_url, apiKey: api_key, maxRetries: 0 });
}, 120_000);
afterAll(() => world.stop());

/** Creates a batch with these prompts, and returns its id. */
async function create(...prompts: string[]): Promise<string> {
  const { id } = await client.messages.batches.create({
    requests: prompts.map((content, at) => ({
      custom_id: `item-${at}`,
      params: {
        model: 'claude-haiku-4-5',
        max_tokens: 50,
        messages: [{ role: 'user' as const, content }],
      },
    })),
  });
  return id;
}

test('without a batch, the page teaches how to make one', async () => {
  const { page, mistakes } = await world.open('/batches');
  await page.getByText('No batch yet').waitFor();
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a batch that ends while it is watched offers its results', async () => {
  const id = await create('One [[sim latency_ms=8000]]', 'Two', 'Three [[sim status=400]]');
  const { page, mistakes } = await world.open(`/batches/${id}`);
  await page.getByText('The results can be downloaded when the batch has ended.').waitFor();
  const button = page.getByRole('button', { name: 'Download the results' });
  await button.waitFor();
  const bar = page.getByRole('progressbar');
  expect(await bar.getAttribute('aria-valuetext')).toBe('3 of 3 requests');
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  expect(download.suggestedFilename()).toBe(`${id}.jsonl`);
  const lines = (await Bun.file((await download.path()) ?? '').text()).trim().split('\n');
  const results = lines.map((line) => JSON.parse(line) as { result: { type: string } });
  expect(results.map(({ result }) => result.type).sort()).toEqual([
    'errored',
    'succeeded',
    'succeeded',
  ]);
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a batch is canceled after a question', async () => {
  const id = await create(...Array.from({ length: 40 }, () => 'Slow [[sim latency_ms=4000]]'));
  const { page, mistakes } = await world.open('/batches?status=in_progress');
  await page.locator(`tr[data-row="${id}"]`).waitFor();
  await page.getByRole('button', { name: `Cancel ${id}` }).click();
  await page.getByRole('dialog').getByText('do not run and cost nothing').waitFor();
  await page.getByRole('button', { name: 'Cancel the batch' }).click();
  // It no longer fits the filter.
  await page.getByText('No batch fits').waitFor();
  await page.getByRole('button', { name: 'Show all batches' }).click();
  await page
    .locator(`tr[data-row="${id}"]`)
    .getByText(/^(canceling|ended)$/)
    .waitFor();
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a batch of nobody looks like a page that is missing', async () => {
  const { page } = await world.open('/batches/msgbatch_of_nobody');
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  await page.context().close();
});
