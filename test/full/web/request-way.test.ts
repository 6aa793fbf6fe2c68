/** The way of one request through the actors, in a real browser. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { parseRecording, replayRecording } from '../../../src/replay/recording.ts';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { manage } from './support/manage.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(120_000);

let world: DashboardWorld;
let chat_id: string;
let video_id: string;
beforeAll(async () => {
  world = await startDashboard();
  const chat = await call('chat/completions', {
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  chat_id = chat.headers.get('x-request-id') ?? '';
  const prompt = 'A lighthouse [[sim task_ms=300]]';
  const video = await call('videos/generations', { model: 'kling-3.0', prompt });
  video_id = video.headers.get('x-request-id') ?? '';
  const { id } = (await video.json()) as { id: string };
  await until('the video is completed', async () => {
    const task = await manage<{ ended_at: string | null }>(world.weir, 'GET', `tasks/${id}`);
    return task.ended_at !== null;
  });
  for (const request of [chat_id, video_id]) {
    await until('the call is recorded', async () => {
      const { data } = await manage<{ data: unknown[] }>(
        ...([world.weir, 'GET', `requests?request_id=${request}`] as const),
      );
      return data.length === 1;
    });
  }
}, 120_000);
afterAll(() => world.stop());

const call = (path: string, body: object) =>
  fetch(`${world.weir.base_url}/v1/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
const steps = (page: Page) => page.getByRole('list', { name: 'Steps' });
const lanes = (page: Page) => page.getByRole('list', { name: 'Lanes' });

test('from its timeline to its way, and on to an actor at the event', async () => {
  const { page, mistakes } = await world.open(`/usage/requests/${video_id}`);
  await page.getByRole('link', { name: 'Way through the actors' }).click();
  await steps(page).getByText('the request arrived').waitFor();
  await steps(page).getByText('an upstream took the job').waitFor();
  await steps(page).getByText('its charge was committed').last().waitFor();
  await lanes(page).getByText('Task', { exact: true }).waitFor();
  await expectGoodPage(page);
  await steps(page)
    .getByRole('link', { name: /^SUBMITTED/ })
    .click();
  await page.getByRole('heading', { name: 'Actor of a task' }).waitFor();
  await page.getByText(/^After event 2 of/).waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('an operator sees the channel that took the call, and comes back from its event', async () => {
  const { page, mistakes } = await world.open(`/actors/request/${chat_id}`);
  await lanes(page)
    .getByText(/^demo-.*\/gpt-4o$/)
    .waitFor();
  await steps(page)
    .getByRole('link', { name: /^SUCCEEDED/ })
    .click();
  await page.getByRole('heading', { name: 'Actor of a channel' }).waitFor();
  const event = page.getByRole('list', { name: 'Events' }).locator('[aria-current="step"]');
  await event.getByRole('link', { name: 'its way' }).click();
  await page.waitForURL((url) => url.pathname === `/actors/request/${chat_id}`);
  await steps(page).getByText('the request arrived').waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a person of an organization sees attempts without a channel', async () => {
  const context = await world.personAs('viewer');
  const { page, mistakes } = await world.open(`/actors/request/${chat_id}`, { context });
  await steps(page).getByText('attempt 1 was sent').waitFor();
  await lanes(page).getByText('Attempts', { exact: true }).waitFor();
  expect(await page.content()).not.toContain('demo-');
  await page.goto(`${world.weir.base_url}/actors/request/${video_id}`);
  await steps(page).getByText('an upstream took the job').waitFor();
  expect(await page.content()).not.toContain('demo-');
  expect(mistakes).toEqual([]);
  await context.close();
});

test('the page of a request saves its recording, which replays without a server', async () => {
  const { page, mistakes } = await world.open(`/usage/requests/${video_id}`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save recording' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`weir-${video_id}.json`);
  const recording = parseRecording(readFileSync(await download.path(), 'utf8'));
  expect(recording.request?.['request_id']).toBe(video_id);
  const task = replayRecording(recording).find(({ kind }) => kind === 'task');
  expect(task?.problem).toBeNull();
  expect(task?.moments.at(-1)?.state).toBe('completed');
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a request that is not recorded says so', async () => {
  const { page } = await world.open(`/actors/request/req_${'0'.repeat(32)}`);
  await page.getByText('There is no such request.').waitFor();
  await page.context().close();
});
