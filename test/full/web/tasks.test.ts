/** Tasks in a real browser: where is my video? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

let world: DashboardWorld;
/** The webhooks that the receiver got, by their id. */
const webhooks: (string | null)[] = [];
/** What the receiver answers. */
let webhook_status = 500;
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch({ headers }) {
    webhooks.push(headers.get('webhook-id'));
    return new Response(null, { status: webhook_status });
  },
});

beforeAll(async () => {
  const env = { WEIR_WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${receiver.port}` };
  world = await startDashboard({ env });
}, 120_000);
afterAll(async () => {
  await world.stop();
  await receiver.stop(true);
});

/** Creates a task, and returns its id. */
async function create(
  prompt: string,
  model = 'kling-3.0',
  more: object = {},
  path = 'videos',
): Promise<string> {
  const answer = await fetch(`${world.weir.base_url}/v1/${path}/generations`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, prompt, ...more }),
  });
  const { id } = (await answer.json()) as { id?: string };
  if (id === undefined) throw new Error(`the task was refused with ${answer.status}`);
  return id;
}

async function ended(id: string): Promise<{ charged_amount: number; status: string }> {
  return until(`task ${id} ends`, async () => {
    const answer = await fetch(`${world.weir.base_url}/v1/management/tasks/${id}`, {
      headers: { authorization: `Bearer ${world.weir.management_token}` },
    });
    const task = (await answer.json()) as Awaited<ReturnType<typeof ended>> & { ended_at: unknown };
    return task.ended_at !== null && task;
  });
}

test('without a task, the page teaches how to make one', async () => {
  const { page, mistakes } = await world.open('/tasks');
  await page.getByText('No task yet').waitFor();
  await page.getByText('/v1/videos/generations').waitFor();
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a task that ends while it is watched shows its result and its cost', async () => {
  const id = await create('A lighthouse [[sim task_ms=4000]]');
  const { page, mistakes } = await world.open(`/tasks/${id}`);
  await page.getByRole('progressbar').first().waitFor();
  await page.getByText('held').waitFor();
  const video = page.locator('video');
  await video.waitFor();
  await until('the video to play', () =>
    video.evaluate((element: HTMLVideoElement) => element.readyState > 0 && element.duration > 0),
  );
  await page.getByText('completed', { exact: true }).waitFor();
  const { charged_amount } = await ended(id);
  const shown = await page.locator('[title$=" USD"]').first().getAttribute('title');
  expect(Number(shown?.replace(/[^\d.]/g, ''))).toBe(charged_amount);
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a new task waits above the list, and filters are in the address', async () => {
  const { page, mistakes } = await world.open('/tasks');
  await page.locator('tbody tr').first().waitFor();
  const rows = await page.locator('tbody tr').count();
  const id = await create('A boat [[sim task_ms=60000]]', 'veo-3.1');
  const button = page.getByRole('button', { name: '1 new task' });
  await button.waitFor();
  expect(await page.locator('tbody tr').count()).toBe(rows);
  await button.click();
  await page.locator(`tr[data-row="${id}"]`).waitFor();
  await page.getByLabel('State').selectOption('completed');
  await page.locator(`tr[data-row="${id}"]`).waitFor({ state: 'detached' });
  await page.reload();
  expect(await page.getByLabel('State').inputValue()).toBe('completed');
  await page.getByLabel('Model').fill('nothing');
  await page.keyboard.press('Enter');
  await page.getByText('No task fits').waitFor();
  await page.getByRole('button', { name: 'Show all tasks' }).click();
  await page.locator(`tr[data-row="${id}"]`).waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a task is canceled after a question, and costs nothing', async () => {
  const id = await create('A ship [[sim task_ms=60000]]', 'seedance-2.0');
  const { page, mistakes } = await world.open(`/tasks/${id}`);
  await page.getByRole('button', { name: `Cancel ${id}` }).click();
  await page.getByRole('dialog').getByText('If nothing was made, nothing is charged').waitFor();
  await page.getByRole('button', { name: 'Cancel the task' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('Cancel requested', { exact: true }).waitFor();
  await ended(id);
  await page.getByText('The task was canceled. Nothing is charged.').first().waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a failed task says why', async () => {
  const id = await create('A wreck [[sim task_ms=10 fail=moderation]]');
  await ended(id);
  const { page } = await world.open(`/tasks/${id}`);
  await page.getByRole('alert').getByText('Nothing is charged.').waitFor();
  await page.getByText('$0.00').waitFor();
  await page.goto(`${world.weir.base_url}/tasks/weir_of_nobody`);
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  await page.context().close();
});

test('a webhook shows its attempts, and is sent again', async () => {
  const webhook_url = `http://127.0.0.1:${receiver.port}/hook`;
  const id = await create('A buoy [[sim task_ms=10]]', 'kling-3.0', { webhook_url });
  const { page, mistakes } = await world.open(`/tasks/${id}`);
  await page.getByRole('cell', { name: '500' }).first().waitFor();
  webhook_status = 200;
  await page.getByText('delivered', { exact: true }).waitFor();
  const before = webhooks.length;
  await page.getByText('Send again…').click();
  await page.getByRole('button', { name: 'Send it again' }).click();
  await until('the webhook comes again', () => webhooks.length > before);
  await page.getByText('sent again 1 time').waitFor();
  expect(new Set(webhooks)).toEqual(new Set([`msg_${id}`]));
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('an image is shown; an SVG and a strange address are not', async () => {
  const id = await create('A gull', 'flux-1.1-pro', { async: true }, 'images');
  await ended(id);
  const { page, mistakes } = await world.open(`/tasks/${id}`);
  const image = page.getByRole('img', { name: 'Result 1' });
  await image.waitFor();
  expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(
    0,
  );
  for (const [url, text] of [
    [`/v1/files/${id}/1.svg?expires=1&signature=x`, 'Download 1.svg'],
    [`/v1/files/${id}/1.html?expires=1&signature=x`, 'Download 1.html'],
    ['https://evil.example/1.png', 'The result is not stored here.'],
    ['javascript:alert(1)', 'The result is not stored here.'],
  ] as const) {
    await page.route(`**/v1/management/tasks/${id}`, async (route) => {
      const answer = await route.fetch();
      const task = (await answer.json()) as { outputs: object[] };
      const outputs = [{ ...task.outputs[0], url }];
      await route.fulfill({ response: answer, json: { ...task, outputs } });
    });
    await page.reload();
    await page.getByText(text).waitFor();
    expect(await page.locator('figure img, video, audio, iframe, object, embed').count()).toBe(0);
    await page.unroute(`**/v1/management/tasks/${id}`);
  }
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the list is accessible in both themes and fits a phone', async () => {
  const { page, mistakes } = await world.open('/tasks');
  await page.locator('tbody tr').first().waitFor();
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});
