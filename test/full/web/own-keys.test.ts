/** Own keys of providers in a real browser: which of our accounts serve calls? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { manage as request } from './support/manage.ts';
import { startOutside, WRONG_KEY } from './support/outside.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

const SECRET = 'sk-canary-5f0e77';

const outside = startOutside();
let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard({ env: outside.env });
}, 120_000);
afterAll(async () => {
  await world.stop();
  await outside.stop();
});

interface Listed {
  readonly data: readonly { readonly name: string; readonly status: string }[];
}

test('an own key is tested, kept, never shown again, rotated, and revoked', async () => {
  const { page, mistakes } = await world.open('/access/upstream-keys');
  await page.getByText('No own keys').waitFor();
  await page.getByRole('button', { name: 'Add a key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Key of the account').fill(WRONG_KEY);
  await dialog.getByLabel('Models').fill('gpt-4o\ngpt-4o-mini = cheap');
  await dialog.locator('summary', { hasText: /^Address/ }).click();
  await dialog.getByLabel('Address', { exact: true }).fill(outside.provider_url);
  await dialog.locator('summary', { hasText: /^Name/ }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('Our account');
  await expectGoodPage(page);
  await dialog.getByRole('button', { name: 'Test and add' }).click();
  // The provider's own words stand beside the key.
  await dialog.getByText('Incorrect API key provided', { exact: false }).waitFor();
  await dialog.getByLabel('Key of the account').fill(SECRET);
  await dialog.getByRole('button', { name: 'Test and add' }).click();
  const row = page.locator('tbody tr', { hasText: 'Our account' });
  await row.getByText('works').waitFor();
  await page.getByText('“Our account” serves 2 models now.').waitFor();
  expect(await page.content()).not.toContain(SECRET);

  const acts = page.getByRole('button', { name: 'Acts on Our account' });
  const choose = async (act: string) => {
    await acts.click();
    await page.getByRole('menuitem', { name: act }).click();
  };
  outside.refuse(true);
  await choose('Test');
  await dialog.getByText('Incorrect API key provided', { exact: false }).waitFor();
  await expectGoodPage(page);
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  // The dialog, which says so too, is a part of the row until it is gone.
  await row.getByText('refused', { exact: true }).first().waitFor();
  outside.refuse(false);

  await choose('Rotate…');
  await dialog.getByLabel('Key of the account').fill(`${SECRET}-2`);
  await dialog.getByRole('button', { name: 'Test and rotate' }).click();
  await row.getByText('works').waitFor();

  await choose('Edit…');
  await dialog.getByLabel('Order', { exact: true }).fill('3');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await row.getByRole('cell', { name: '3', exact: true }).waitFor();

  await choose('Revoke…');
  await dialog.getByText('New calls of its 2 models', { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Revoke the key' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByLabel('Show revoked keys too').check();
  await row.getByText('revoked').waitFor();
  expect(await request<Listed>(world.weir, 'GET', 'upstream-keys')).toMatchObject({
    data: [{ name: 'Our account', status: 'revoked' }],
  });
  expect(await page.content()).not.toContain(SECRET);
  expect(mistakes.map((mistake) => /status of (\d+)/.exec(mistake)?.[1])).toEqual(['400']);
  await page.context().close();
});

test('a member is told whom to ask', async () => {
  const context = await world.personAs('member');
  const { page, mistakes } = await world.open('/access/upstream-keys?create=true', { context });
  await page.getByText('This is not for your role').waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(mistakes).toEqual([]);
  await context.close();
});
