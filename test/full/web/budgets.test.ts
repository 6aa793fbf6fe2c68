/** Budgets and limits of keys in a real browser: how much of a day, and how much of a minute? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { manage as request } from './support/manage.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
}, 120_000);
afterAll(() => world.stop());

const manage = <Answer>(method: string, path: string, body?: object): Promise<Answer> =>
  request(world.weir, method, path, body);

function chat(key: string): Promise<Response> {
  return fetch(`${world.weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hello [[sim tokens=300]]' }],
    }),
  });
}

test('a key’s budget is added, is live, changes with undo, stops calls, and is deleted', async () => {
  const { id, key } = await manage<{ id: string; key: string }>('POST', 'api-keys', {
    name: 'Night',
  });
  const { page, mistakes } = await world.open(`/keys/${id}`);
  await page.getByRole('button', { name: 'Add a budget' }).click();
  await page.getByLabel('Limit, USD').fill('much');
  await page.getByRole('button', { name: 'Add the budget' }).click();
  await page.getByText('must be a number from 0 to 1000000', { exact: false }).waitFor();
  await page.getByLabel('Limit, USD').fill('0.5');
  await page.getByRole('button', { name: 'Add the budget' }).click();
  const card = page.getByRole('listitem').filter({ hasText: 'Each day' });
  await card.getByText('$0.50').first().waitFor();
  await expectGoodPage(page);

  expect((await chat(key)).status).toBe(200);
  await card.getByText('$0.00018', { exact: false }).first().waitFor();

  await page.getByRole('button', { name: 'Change the budget of each day' }).click();
  await page.getByLabel('Limit, USD').fill('0');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await card.getByText('used up').waitFor();
  expect((await chat(key)).status).toBe(402);
  await page.getByRole('button', { name: 'Change the budget of each day' }).click();
  await page.getByLabel('When it is reached').selectOption('warn');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await card.getByText('calls are served with a warning').waitFor();
  expect((await chat(key)).headers.get('x-weir-warning')).toContain('budget_reached');
  await page.getByRole('button', { name: 'Change the budget of each day' }).click();
  await page.getByLabel('When it is reached').selectOption('move');
  await page.getByLabel('Move to').selectOption('gpt-4o-mini');
  await expectGoodPage(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await card.getByText('calls move to gpt-4o-mini').waitFor();
  await page.getByRole('button', { name: 'Change the budget of each day' }).click();
  await page.getByLabel('When it is reached').selectOption('refuse');
  await page.getByLabel('Limit, USD').fill('0.5');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await card.getByText('calls are refused').waitFor();
  await page.getByRole('button', { name: 'Change the budget of each day' }).click();
  await page.getByLabel('Limit, USD').fill('0');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await card.getByText('used up').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  await until('calls are served', async () => (await chat(key)).status === 200);

  await page.getByRole('button', { name: 'Delete the budget of each day' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete the budget of each day?' });
  await dialog.getByRole('button', { name: 'Delete the budget' }).click();
  await page.getByText('No budget', { exact: true }).waitFor();
  expect(await manage<{ data: object[] }>('GET', 'budgets')).toMatchObject({ data: [] });
  expect(mistakes.map((mistake) => /status of (\d+)/.exec(mistake)?.[1])).toEqual(['400']);
  await page.context().close();
});

test('Billing has the budgets of the organization and of its keys; a member changes none', async () => {
  const { id } = await manage<{ id: string }>('POST', 'api-keys', { name: 'W'.repeat(50) });
  const budgets = [
    { period: 'month', limit_amount: 500 },
    { period: 'week', limit_amount: 100, api_key_id: id },
  ];
  for (const body of budgets) await manage('POST', 'budgets', body);
  const context = await world.personAs('member');
  const { page, mistakes } = await world.open('/billing', { context });
  const card = page.getByRole('listitem').filter({ hasText: 'Each month' });
  await card.getByText('$500.00').first().waitFor();
  const ofKeys = page.getByRole('table', { name: 'Budgets of keys and tags' });
  await ofKeys.getByRole('cell', { name: 'Each week, from Monday', exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Add a budget' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Change the budget of each month' }).count()).toBe(
    0,
  );
  await expectGoodPage(page);
  await ofKeys.getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: 'W'.repeat(50) }).waitFor();
  expect(mistakes).toEqual([]);
  await context.close();
});

test('limits are chosen in the form of a key, and stand on its page', async () => {
  const { id, key } = await manage<{ id: string; key: string }>('POST', 'api-keys', {
    name: 'Slow',
  });
  const { page, mistakes } = await world.open(`/keys/${id}?edit=true`);
  const dialog = page.getByRole('dialog');
  await dialog.locator('summary', { hasText: 'Limits' }).click();
  await dialog.getByRole('button', { name: 'Add a limit' }).click();
  await dialog.getByLabel('Calls at the same time').fill('0');
  await dialog.getByRole('button', { name: 'Add a limit' }).click();
  const second = dialog.getByRole('group', { name: 'Limit 2' });
  await second.getByLabel('Limit of').selectOption('gpt-4o-mini');
  await second.getByLabel('Requests a minute').fill('1');
  await expectGoodPage(page);
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText('must be at least 1', { exact: false }).waitFor();
  await dialog.getByLabel('Calls at the same time').first().fill('20');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('All models: 20 calls at a time').waitFor();
  await page.getByText('gpt-4o-mini: 1 requests a minute').waitFor();
  await until('a limit refuses a call', async () => (await chat(key)).status === 429, 20_000);
  expect(mistakes.map((mistake) => /status of (\d+)/.exec(mistake)?.[1])).toEqual(['400']);
  await page.context().close();
});

test('a budget of a tag is added with errors at its fields, counts calls, changes with undo, and is deleted', async () => {
  const { id, key } = await manage<{ id: string; key: string }>('POST', 'api-keys', {
    name: 'Of a team',
  });
  await manage('PATCH', `api-keys/${id}`, { call_tags: { team: 'blue' } });
  const { page, mistakes } = await world.open('/billing');
  await page.getByRole('button', { name: 'Add a budget of a tag' }).click();
  const form = page.getByRole('dialog', { name: 'Add a budget of a tag' });
  await form.getByLabel('Name of the tag').fill('user_id');
  await form.getByLabel('Value').fill('blue');
  await form.getByLabel('Limit, USD').fill('0.5');
  await form.getByRole('button', { name: 'Add the budget' }).click();
  await form.getByRole('alert').filter({ hasText: 'a name is not user_id' }).waitFor();
  await expectGoodPage(page);
  await form.getByLabel('Name of the tag').fill('team');
  await form.getByLabel('Limit, USD').fill('much');
  await form.getByRole('button', { name: 'Add the budget' }).click();
  await form.getByText('must be a number from 0 to 1000000', { exact: false }).waitFor();
  await form.getByLabel('Limit, USD').fill('0.5');
  await form.getByLabel('Period').selectOption('week');
  await form.getByLabel('When it is reached').selectOption('warn');
  await form.getByRole('button', { name: 'Add the budget' }).click();
  const table = page.getByRole('table', { name: 'Budgets of keys and tags' });
  const row = table.getByRole('row').filter({ hasText: 'team = blue' });
  await row.getByText('calls are served with a warning').waitFor();
  await expectGoodPage(page);
  // There is one budget for each period of a tag.
  await page.getByRole('button', { name: 'Add a budget of a tag' }).click();
  await form.getByLabel('Name of the tag').fill('team');
  await form.getByLabel('Value').fill('blue');
  await form.getByLabel('Limit, USD').fill('1');
  await form.getByLabel('Period').selectOption('week');
  await form.getByRole('button', { name: 'Add the budget' }).click();
  await form.getByText('There is a budget for each week already.', { exact: false }).waitFor();
  await form.getByRole('button', { name: 'Cancel' }).click();

  expect((await chat(key)).status).toBe(200);
  await row.getByText('$0.00018', { exact: false }).first().waitFor();
  const act = (verb: string) =>
    row.getByRole('button', { name: `${verb} the budget of each week for team = blue` }).click();
  await act('Change');
  const change = page.getByRole('dialog', { name: 'The budget of each week for team = blue' });
  await change.getByLabel('When it is reached').selectOption('move');
  await change.getByLabel('Move to').selectOption('gpt-4o-mini');
  await change.getByRole('button', { name: 'Save', exact: true }).click();
  await row.getByText('calls move to gpt-4o-mini').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await row.getByText('calls are served with a warning').waitFor();

  // What somebody else changed meanwhile is shown, and not overwritten.
  const { data } = await manage<{ data: { id: string; tag: object | null }[] }>('GET', 'budgets');
  const path = `budgets/${data.find(({ tag }) => tag !== null)?.id}`;
  await act('Change');
  await manage('PATCH', path, { when_reached: 'refuse' });
  await change.getByLabel('Limit, USD').fill('2');
  await change.getByRole('button', { name: 'Save', exact: true }).click();
  await change.getByText('Somebody else changed this budget').waitFor();
  await expectGoodPage(page);
  expect(await manage<object>('GET', path)).toMatchObject({ limit_amount: 0.5 });
  await change.getByRole('button', { name: 'Save my changes' }).click();
  await row.getByText('$2.00').first().waitFor();
  expect(await manage<object>('GET', path)).toMatchObject({
    ...{ limit_amount: 2, when_reached: 'refuse', tag: { team: 'blue' }, api_key_id: null },
  });

  await act('Delete');
  await page.getByRole('button', { name: 'Delete the budget', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  expect(mistakes.map((mistake) => /status of (\d+)/.exec(mistake)?.[1])).toEqual([
    ...['400', '400', '409'],
  ]);
  await page.context().close();
});
