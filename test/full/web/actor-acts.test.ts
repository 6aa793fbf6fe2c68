/** Operators act on single actors in a real browser. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
}, 120_000);
afterAll(() => world.stop());

async function createVideo(): Promise<string> {
  const answer = await fetch(`${world.weir.base_url}/v1/videos/generations`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'kling-3.0', prompt: 'A lighthouse [[sim task_ms=60000]]' }),
  });
  return ((await answer.json()) as { id: string }).id;
}

async function inspect<Answer>(path: string): Promise<Answer> {
  const response = await fetch(`${world.weir.base_url}/v1/operator/inspect/actors/task/${path}`, {
    headers: { authorization: `Bearer ${world.weir.operator_token}` },
  });
  return (await response.json()) as Answer;
}

test('a waiting task is asked to end, after a confirmation that says what it breaks', async () => {
  const id = await createVideo();
  await until('the task waits for its job', async () => {
    return (await inspect<{ state: string }>(id)).state === 'processing.waiting';
  });
  const { page, mistakes } = await world.open(`/actors/task/${id}`);
  const button = page.getByRole('button', { name: 'Request the end…' });
  await button.click();
  const dialog = page.getByRole('dialog', { name: 'Request the end?' });
  await dialog.getByText('is charged if it has a result').waitFor();
  await expectGoodPage(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect((await inspect<{ acts: string[] }>(id)).acts).toContain('cancel');
  // The task may leave its state for a poll while the dialog is open. Then nothing is done, and the person decides again.
  await until('the end is requested', async () => {
    await button.click();
    await dialog.getByRole('button', { name: 'Request the end' }).click();
    const outcome = await Promise.race([
      page
        .getByText('The end is requested.')
        .waitFor()
        .then(() => 'done'),
      dialog
        .getByText('The actor is in the state')
        .waitFor()
        .then(() => 'moved'),
    ]);
    if (outcome === 'moved') await dialog.getByRole('button', { name: 'Cancel' }).click();
    return outcome === 'done';
  });
  await button.waitFor({ state: 'detached' });
  const { data } = await inspect<{ data: { event: { type: string }; cause: string | null }[] }>(
    `${id}/events`,
  );
  const requests = data.filter(({ event }) => event.type === 'CANCEL_REQUESTED');
  expect(requests.map(({ cause }) => cause)).toEqual(['operator']);
  expect(mistakes.filter((text) => !text.includes('409'))).toEqual([]);
  await page.context().close();
});
