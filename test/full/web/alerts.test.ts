/** Alerts in a real browser: who receives them, and did they arrive? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { manage as request } from './support/manage.ts';
import { startOutside } from './support/outside.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

const outside = startOutside();
let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard({ env: outside.env });
}, 120_000);
afterAll(async () => {
  await world.stop();
  await outside.stop();
});

const kindsReceived = () =>
  outside.received.map((body) => (JSON.parse(body) as { data: { kind: string } }).data.kind);

test('an endpoint is added with a secret that is shown once, tested, used, and removed', async () => {
  const { page, mistakes } = await world.open('/alerts');
  await page.getByText('No endpoint yet').waitFor();
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('On call');
  await dialog.getByLabel('URL').fill('https://127.0.0.1/hook');
  await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
  await dialog.getByText('must be a public https URL', { exact: false }).waitFor();
  await dialog.getByLabel('URL').fill(outside.hook_url);
  await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
  const secret = dialog.getByRole('button', { name: 'whsec_' });
  const text = (await secret.textContent()) ?? '';
  await dialog.getByRole('button', { name: 'I have kept the secret' }).click();
  expect(await page.content()).not.toContain(text);

  await page.getByRole('button', { name: 'Test On call' }).click();
  await dialog.getByText('The receiver: HTTP 204.').waitFor();
  expect(kindsReceived()).toEqual(['test']);
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  // While a dialog is open, a field beside it takes no text.
  await dialog.waitFor({ state: 'hidden' });

  // A balance below a million is low, so the next look finds a cause.
  await page.getByLabel('Low balance, USD').fill('1000000');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The settings of alerts are changed.').waitFor();
  await until('the webhook', () => kindsReceived().includes('low_balance'), 20_000);
  await page.reload();
  const alert = page.getByRole('list', { name: 'Alerts' }).getByRole('listitem');
  await alert.getByText('Ask the operator for a deposit.').waitFor();
  await expectGoodPage(page);
  await alert.getByRole('link', { name: 'Its deliveries' }).click();
  const deliveries = page.getByRole('list', { name: 'Deliveries' });
  await deliveries.getByText('Attempts').click();
  await deliveries.getByText('HTTP 204').first().waitFor();
  await page.getByRole('button', { name: 'Send again low balance to On call' }).click();
  await dialog.getByRole('button', { name: 'Send it again' }).click();
  await deliveries.getByText('sent again 1 time', { exact: false }).waitFor();
  await until('the second webhook', () => kindsReceived().length === 3, 20_000);

  const choose = async (act: string) => {
    await page.getByRole('button', { name: 'Acts on On call' }).click();
    await page.getByRole('menuitem', { name: act }).click();
  };
  await choose('Switch off');
  await page.getByText('“On call” receives no new alerts.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  await choose('Rotate the secret…');
  await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
  await secret.waitFor();
  expect(await secret.textContent()).not.toBe(text);
  await dialog.getByRole('button', { name: 'I have kept the secret' }).click();
  await choose('Edit…');
  await dialog.getByLabel('price changed', { exact: false }).uncheck();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('“On call” is changed.').waitFor();
  const { data } = await request<{ data: { kinds: string[]; enabled: boolean }[] }>(
    ...([world.weir, 'GET', 'alert-endpoints'] as const),
  );
  expect(data[0]?.enabled).toBe(true);
  expect(data[0]?.kinds).not.toContain('price_changed');
  await choose('Remove…');
  await dialog.getByRole('button', { name: 'Remove the endpoint' }).click();
  await page.getByText('No endpoint yet').waitFor();
  expect(mistakes.map((mistake) => /status of (\d+)/.exec(mistake)?.[1])).toEqual(['400']);
  await page.context().close();
});

test('a viewer sees endpoints and settings, and changes none', async () => {
  const body = { name: 'Watched', type: 'webhook', url: outside.hook_url };
  await request(world.weir, 'POST', 'alert-endpoints', body);
  const context = await world.personAs('viewer');
  const { page, mistakes } = await world.open('/alerts?create=true', { context });
  await page.getByText('Watched').first().waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  for (const name of ['Add an endpoint', 'Test Watched', 'Acts on Watched', 'Save']) {
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  }
  expect(mistakes).toEqual([]);
  await context.close();
});
