/** Live actors in a real browser: what is stuck, why, and what happened? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { parseRecording, replayRecording } from '../../../src/replay/recording.ts';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { manage } from './support/manage.ts';
import { expectGoodPage } from './support/page-checks.ts';
import { shoot } from './support/screenshots.ts';

setDefaultTimeout(60_000);

let world: DashboardWorld;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  world = await startDashboard({
    ...{ shared_database: false, env: { DATABASE_URL: database.url } },
  });
}, 120_000);
afterAll(async () => {
  await world.stop();
  await database.drop();
});

async function call(path: string, body: object, key = world.weir.api_key): Promise<Response> {
  return fetch(`${world.weir.base_url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Creates a video, and returns the id of its task. */
async function createVideo(directives: string): Promise<string> {
  const prompt = `A lighthouse [[sim ${directives}]]`;
  const answer = await call('videos/generations', { model: 'kling-3.0', prompt });
  return ((await answer.json()) as { id: string }).id;
}

const ended = (id: string) =>
  until(`task ${id} ends`, async () => {
    const task = await manage<{ ended_at: string | null }>(world.weir, 'GET', `tasks/${id}`);
    return task.ended_at !== null && task;
  });

/** The innermost state that is lit in the chart. */
const litState = (page: Page) =>
  page.locator('svg.chart .chart-active:not(.chart-group)').getAttribute('data-state');
const why = (page: Page) => page.getByRole('region', { name: 'Why?' });

test('the page opens with what is stuck, and says what it waits for', async () => {
  const id = await createVideo('task_ms=60000');
  const { page, mistakes } = await world.open('/actors');
  await page.getByText('Nothing is stuck').waitFor();
  await until('the task waits for its job', async () => {
    const rows = await database.sql`update actor set since = now() - interval '20 minutes'
      where id = ${id} and top_state = 'processing' returning id`;
    return rows.length > 0;
  });
  const stuck = page.getByRole('region', { name: 'Stuck actors' });
  const row = stuck.locator('tbody tr').filter({ hasText: id });
  await row.getByText('waits for the next poll of its job').waitFor();
  await row.getByText('usual: 10 min').waitFor();
  await expectGoodPage(page);
  await page.getByLabel('Shown actors').selectOption('stuck');
  await page.waitForURL((url) => url.searchParams.get('show') === 'stuck');
  await page.reload();
  await page.getByRole('heading', { name: 'Stuck actors' }).waitFor();
  await row.getByRole('link').click();
  await page.getByText('longer than usual').waitFor();
  expect(mistakes).toEqual([]);
  await manage(world.weir, 'POST', `tasks/${id}/cancel`);
  // Its job goes on for a while, but nothing is stuck for the tests that follow.
  await database.sql`update actor set since = now() where id = ${id}`;
  await page.context().close();
});

test('the legend counts the actors of each state, and filters the list', async () => {
  const { page, mistakes } = await world.open('/actors');
  const healthy = page.getByRole('button', { name: /^healthy/ });
  await healthy.click();
  await page.waitForURL(
    ({ searchParams }) =>
      searchParams.get('kind') === 'channel' && searchParams.get('state') === 'healthy',
  );
  expect(await page.getByLabel('Machine').inputValue()).toBe('channel');
  await page.getByLabel('Id', { exact: true }).fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('No actor fits').waitFor();
  await page.getByRole('button', { name: 'Show all living actors' }).click();
  await healthy.waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the chart of a video moves while it is made in another tab, until it is completed', async () => {
  const id = await createVideo('task_ms=4000');
  const { page, mistakes } = await world.open(`/actors/task/${id}`);
  await page.getByText('live', { exact: true }).waitFor();
  const seen = new Set<string | null>();
  await until('the video is completed', async () => {
    const state = await litState(page);
    seen.add(state);
    return state === 'completed';
  });
  expect([...seen].some((state) => state?.startsWith('processing.'))).toBe(true);
  await page.getByText('It has ended; its result was charged').waitFor();
  await why(page).getByText('Because its charge was committed.').waitFor();
  expect(mistakes).toEqual([]);
  await expectGoodPage(page);
  await page.context().close();
});

/** Saves the chart of a task that is refunded, and opens the file without a server. */
async function expectSavedChart(page: Page, id: string): Promise<void> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save chart' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^weir-task-weir_\w+-\d+\.svg$/);
  const text = readFileSync(await download.path(), 'utf8');
  expect(text).toContain(`<title>task ${id}: refunding, after event `);
  // Nothing is loaded: no font, no picture, no script.
  expect(text.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
    /https?:|url\(|@import|@font-face|<script|href=/,
  );
  const alone = await page.context().newPage();
  await alone.goto(`data:image/svg+xml,${encodeURIComponent(text)}`);
  const active = alone.locator('.chart-active:not(.chart-group)');
  expect(await active.getAttribute('data-state')).toBe('refunding');
  await shoot(alone, 'actors-saved-chart');
  await alone.close();
}

test('a failed video is stepped back to its refund, with the money that moved', async () => {
  const id = await createVideo('task_ms=300 fail=moderation');
  await ended(id);
  const { page, mistakes } = await world.open(`/tasks/${id}`);
  await page.getByRole('link', { name: 'Every step of it' }).click();
  await page.getByRole('heading', { name: 'Actor of a task' }).waitFor();
  await until('the chart shows the end', async () => (await litState(page)) === 'failed');
  await page.getByText('were released: they went back').waitFor();
  await why(page).getByText('It was in refunding because the job failed.').waitFor();
  await page.keyboard.press('ArrowLeft');
  await until('the chart shows the refund', async () => (await litState(page)) === 'refunding');
  await why(page).getByText('Because the job failed.').waitFor();
  await why(page).getByText('It waits until its held money is released').waitFor();
  await page.getByText('This event moved none.').waitFor();
  const lit = page.locator('svg.chart .chart-label .chart-event.chart-last');
  expect(await lit.count()).toBe(1);
  expect(await lit.textContent()).toContain('UPSTREAM_FAILED');
  await expectSavedChart(page, id);
  // A moment has an address that can be shared.
  await page.reload();
  await until('the moment is shown again', async () => (await litState(page)) === 'refunding');
  await page.getByRole('button', { name: 'Step back' }).click();
  await until('the moment before', async () => (await litState(page)) === 'processing.polling');
  // Another state is explained after a click on it.
  await page.locator('svg.chart [data-state="pending.submitting"] .chart-title').click();
  await why(page).getByText('its call was accepted, and its money was held').waitFor();
  await page.getByRole('button', { name: /^1 ACCEPTED/ }).click();
  await page.getByText('were held for it').waitFor();
  await page.getByRole('button', { name: 'Now', exact: true }).click();
  await until('the end again', async () => (await litState(page)) === 'failed');
  expect(mistakes).toEqual([]);
  await expectGoodPage(page);
  await page.context().close();
});

test('the chart of a key without money says why it refuses calls', async () => {
  const made = await manage<{ id: string; key: string }>(world.weir, 'POST', 'api-keys', {
    ...{ name: 'spent', limitAmount: 1 },
  });
  const messages = [{ role: 'user', content: 'Hello [[sim tokens=20]]' }];
  const chat = () => call('chat/completions', { model: 'gpt-4o-mini', messages }, made.key);
  expect((await chat()).status).toBe(200);
  const { used_amount } = await until('the call is charged', async () => {
    const key = await manage<{ used_amount: number; held_amount: number }>(
      ...([world.weir, 'GET', `api-keys/${made.id}`] as const),
    );
    return key.used_amount > 0 && key;
  });
  await manage(world.weir, 'PATCH', `api-keys/${made.id}`, { limitAmount: used_amount });
  const { page } = await world.open('/docs');
  const refused = page.getByRole('button', { name: /REFUSED.*exhausted/ });
  // The actor of a key without calls leaves the memory after some seconds.
  let isSeen = false;
  const calls = (async () => {
    while (!isSeen) {
      await chat();
      await Bun.sleep(300);
    }
  })();
  await until('the key refuses calls, and its events say so', async () => {
    await page.goto(`${world.weir.base_url}/actors/quota/${made.id}`);
    const nothing = page.getByText('There is no such actor now');
    await page.locator('svg.chart').or(nothing).waitFor();
    return (await refused.count()) > 0;
  });
  isSeen = true;
  await calls;
  // A moment stays as it is, also if the key gets money meanwhile.
  await refused.last().click();
  await until('the chart shows it', async () => (await litState(page)) === 'exhausted');
  await why(page).getByText('all money of the key or of its organization is spent').waitFor();
  await why(page).getByText('isGone').waitFor();
  const request = page.getByRole('list', { name: 'Events' }).locator('a[href*="/usage/requests/"]');
  expect(await request.count()).toBeGreaterThan(0);
  await shoot(page, 'actors-key-exhausted-light');
  await expectGoodPage(page);
  await page.context().close();
});

test('a person of an organization sees no channel and no provider', async () => {
  const id = await createVideo('task_ms=300');
  await ended(id);
  const context = await world.personAs('viewer');
  const { page, mistakes } = await world.open('/actors?show=ended', { context });
  await page.locator('tbody tr').filter({ hasText: id }).getByRole('link').click();
  await page.locator('svg.chart').waitFor();
  await page.getByRole('button', { name: /^2 SUBMITTED/ }).click();
  await page.getByText('hidden-').first().waitFor();
  expect(await page.content()).not.toContain('demo-');
  await page.goto(`${world.weir.base_url}/actors`);
  await page.getByText('Nothing is stuck').waitFor();
  const machines = await page.getByLabel('Machine').locator('option').allTextContents();
  expect(machines).not.toContain('Channel');
  expect(await page.content()).not.toContain('demo-');
  expect(mistakes).toEqual([]);
  await context.close();
});

test('a recording is saved, and replays without a server', async () => {
  const id = await createVideo('task_ms=300');
  await ended(id);
  const { page } = await world.open(`/actors/task/${id}`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save recording' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`weir-task-${id}.json`);
  const text = readFileSync(await download.path(), 'utf8');
  const [actor] = replayRecording(parseRecording(text));
  expect(actor).toMatchObject({ kind: 'task', id, problem: null });
  expect(actor?.moments.at(-1)?.state).toBe('completed');
  // Without any request to the interface, the file shows the same.
  await page.goto(`${world.weir.base_url}/actors/recording`);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.locator('input[type="file"]').setInputFiles(await download.path());
  await until('the chart shows the end', async () => (await litState(page)) === 'completed');
  await page.keyboard.press('ArrowLeft');
  await until('the moment before', async () => (await litState(page)) === 'processing.settling');
  expect(asked.filter((url) => url.includes('/inspect/'))).toEqual([]);
  await expectGoodPage(page);
  const file = { name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('{}') };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByText('The file is no recording of Weir.').waitFor();
  await page.context().close();
});

test('two runs lie side by side, and the step where they part is marked', async () => {
  const [done, failed] = await Promise.all([
    createVideo('task_ms=300'),
    createVideo('task_ms=300 fail=moderation'),
  ]);
  await Promise.all([ended(done), ended(failed)]);
  const { page, mistakes } = await world.open(`/actors/task/${done}`);
  await page.getByRole('link', { name: 'Compare with another' }).click();
  await page.getByLabel('Other actor').fill(failed);
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByText(/The runs part at step/).waitFor();
  const step = page.locator('tr[aria-current="step"]');
  await step.getByText('UPSTREAM_FAILED').waitFor();
  await step.getByText('PRODUCED').waitFor();
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('while its events cannot be followed, an actor is read every few seconds', async () => {
  const id = await createVideo('task_ms=12000');
  const { page } = await world.open('/docs');
  await page.route(
    ({ pathname }) => pathname.endsWith('/inspect/events'),
    (request) => request.fulfill({ status: 503, json: { error: { message: 'no', code: 'no' } } }),
  );
  await page.goto(`${world.weir.base_url}/actors/task/${id}`);
  await page.getByText('cannot be read as they happen').waitFor();
  await until('the end is shown', async () => (await litState(page)) === 'completed');
  await page.context().close();
});

test('an actor that does not exist says so', async () => {
  const { page } = await world.open('/actors/task/weir_nothing');
  await page.getByText('There is no such actor now').waitFor();
  await page.context().close();
});
