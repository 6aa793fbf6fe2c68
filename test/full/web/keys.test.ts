/** API keys in a real browser: who may spend how much? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { type DashboardWorld, PASSWORD, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { manage as request } from './support/manage.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

const SECRET = /sk-[\w-]{43}/;
const WIDE = 'W'.repeat(50);
const FROM_THE_RIGHT = 'متجر الأزهار';

interface Key {
  readonly id: string;
  readonly key: string;
}

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
}, 120_000);
afterAll(() => world.stop());

const manage = <Answer>(method: string, path: string, body?: object): Promise<Answer> =>
  request(world.weir, method, path, body);

const newKey = (body: object) => manage<Key>('POST', 'api-keys', body);

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

const row = (page: Page, id: string) => page.locator(`tr[data-row="${id}"]`);

/** Every place of a page where a script could find a text. */
async function traces(page: Page): Promise<string> {
  return page.evaluate(() =>
    [
      document.documentElement.outerHTML,
      location.href,
      JSON.stringify(history.state),
      JSON.stringify({ ...localStorage }),
      JSON.stringify({ ...sessionStorage }),
      document.cookie,
    ].join('\n'),
  );
}

test('a key is made in three clicks and shown once, with a curl that works', async () => {
  const { page, mistakes } = await world.open('/');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+K');
  await page.getByPlaceholder('A page, an act, or any id').fill('create an api');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Name' }).fill('Shop');
  expect(await page.getByText('No cap: this key may spend').isVisible()).toBe(true);
  await page.getByLabel('Cap, USD').fill('5');
  expect(await page.getByText('No cap: this key may spend').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Create the key' }).click();
  const curl = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
  const secret = SECRET.exec(curl)?.[0] ?? '';
  expect(secret).not.toBe('');
  const ran = Bun.spawnSync(['sh', '-c', curl.replace('curl ', 'curl -s ')]);
  expect(JSON.parse(ran.stdout.toString())).toHaveProperty('choices');
  await expectGoodPage(page);

  // Escape loses nothing: only the button ends it.
  await page.keyboard.press('Escape');
  expect(await traces(page)).toContain(secret);
  await page.getByRole('button', { name: 'I have kept the key' }).click();
  await page.getByRole('link', { name: 'Shop' }).waitFor();
  expect(await traces(page)).not.toContain(secret);
  await page.reload();
  await page.getByRole('link', { name: 'Shop' }).waitFor();
  expect(await traces(page)).not.toContain(secret);
  await page.goBack().catch(() => null);
  expect(await traces(page)).not.toContain(secret);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('what a key spends appears without a reload, and its page shows the call', async () => {
  const { id, key } = await newKey({ name: 'Live', limitAmount: 0.01 });
  const { page, mistakes } = await world.open('/keys');
  await row(page, id).getByText('$0.00', { exact: true }).waitFor();
  expect((await chat(key)).status).toBe(200);
  await row(page, id).getByText('$0.00018', { exact: false }).waitFor();
  await row(page, id).click();
  await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor();
  await page.getByRole('cell', { name: 'gpt-4o-mini' }).waitFor();
  const { used_amount } = await manage<{ used_amount: number }>('GET', `api-keys/${id}`);
  await page.getByText(`$${used_amount}`, { exact: true }).first().waitFor();
  await expectGoodPage(page);
  const all = page.getByRole('link', { name: 'All requests of this key' });
  expect(await all.getAttribute('href')).toBe(`/usage/requests?api_key_id=${id}`);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a key is paused and works again, with undo; revoking says what it breaks', async () => {
  const { id, key } = await newKey({ name: 'Worker', limitAmount: 1 });
  const { page, mistakes } = await world.open('/keys', { width: 390 });
  const menu = page.getByRole('button', { name: 'Acts on Worker' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Pause' }).click();
  await row(page, id).getByText('paused').first().waitFor();
  await until('calls are refused', async () => (await chat(key)).status === 403);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  await until('calls are served', async () => (await chat(key)).status === 200);

  await menu.click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke Worker?' });
  await dialog.getByText('New calls with this key get 401.', { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Revoke the key' }).click();
  await row(page, id).getByText('revoked').first().waitFor();
  expect((await chat(key)).status).toBe(401);

  await menu.click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete the key' }).click();
  await row(page, id).waitFor({ state: 'detached' });
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a rotated key is shown once, and the old one works for the grace', async () => {
  const { id, key } = await newKey({ name: 'Rotated' });
  const { page, mistakes } = await world.open(`/keys/${id}`);
  await page.getByRole('button', { name: 'Rotate…' }).click();
  await page.getByLabel('The old secret works').selectOption('3600');
  await page.getByRole('button', { name: 'Rotate the key' }).click();
  const secret =
    SECRET.exec((await page.getByRole('dialog').locator('pre').textContent()) ?? '')?.[0] ?? '';
  expect(secret).not.toBe(key);
  expect([(await chat(secret)).status, (await chat(key)).status]).toEqual([200, 200]);
  await page.getByRole('button', { name: 'I have kept the key' }).click();
  await page.getByText('Secret before').waitFor();
  expect(await traces(page)).not.toContain(secret);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('of two people who edit one key, the second sees what the first changed', async () => {
  const { id } = await newKey({ name: 'Shared', limitAmount: 5, tags: ['one'] });
  const { page, mistakes } = await world.open(`/keys/${id}?edit=true`);
  await page.getByLabel('Cap, USD').fill('7');
  await manage('PATCH', `api-keys/${id}`, { limitAmount: 9, tags: ['two'] });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const note = page.getByRole('alert');
  await note.getByText('$5').waitFor();
  expect(await note.textContent()).toContain('Cap, USD: $5 → $9. You changed it too');
  expect(await note.textContent()).toContain('Tags: one → two.');
  expect(await page.getByLabel('Cap, USD').inputValue()).toBe('7');
  await page.getByRole('button', { name: 'Save my changes' }).click();
  await page.getByText('“Shared” is changed.').waitFor();
  expect(await manage<object>('GET', `api-keys/${id}`)).toMatchObject({
    ...{ limit_amount: 7, tags: ['two'] },
  });
  // The browser notes the refused request, and nothing else.
  expect(mistakes.map((mistake) => /status of (\d+)/.exec(mistake)?.[1])).toEqual(['412']);
  await page.context().close();
});

test('the API’s error stands beside the field that it names, folded or not', async () => {
  await newKey({ name: 'First', external_id: 'customer 1' });
  const { page } = await world.open('/keys?create=true');
  await page.getByLabel('Cap, USD').fill('much');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('must be null or a number from 0 to 1000000', { exact: false }).waitFor();
  await page.getByLabel('Cap, USD').fill('1');
  await page.getByText('External id').first().click();
  await page.getByRole('textbox', { name: 'External id' }).fill('customer 1');
  await page.getByText('External id').first().click();
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('Another API key of the organization has this external_id').waitFor();
  expect(await page.getByRole('textbox', { name: 'External id' }).isVisible()).toBe(true);
  await page.context().close();
});

test('a session that ends in the middle of the form loses nothing', async () => {
  const context = await world.personAs('admin');
  const { page } = await world.open('/keys?create=true', { context });
  await page.getByRole('textbox', { name: 'Name' }).fill('Kept text');
  await page.getByLabel('Cap, USD').fill('3.5');
  const { person } = (await (
    await context.request.get(`${world.weir.base_url}/v1/auth/session`)
  ).json()) as { person: { id: string } };
  await fetch(`${world.weir.base_url}/v1/operator/people/${person.id}/sign-out`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.weir.operator_token}` },
  });
  await page.getByRole('button', { name: 'Create the key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Kept text');
  expect(await page.getByLabel('Cap, USD').inputValue()).toBe('3.5');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('Kept text works now.', { exact: false }).waitFor();
  await context.close();
});

test('a key may be limited to models, and then its first call is to one of them', async () => {
  const { page, mistakes } = await world.open('/keys?create=true', { width: 320 });
  await page.locator('summary', { hasText: 'Models' }).click();
  await page.getByLabel('Find a model').fill('haiku');
  await page.getByLabel('claude-haiku-4-5', { exact: false }).first().check();
  await page.locator('summary', { hasText: 'Expires' }).click();
  await expectGoodPage(page);
  const dialog = page.getByRole('dialog');
  const isTooWide = await dialog.evaluate(
    ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
  );
  expect(isTooWide).toBe(false);
  await page.getByRole('button', { name: 'Create the key' }).click();
  await dialog.getByText('It has no cap.', { exact: false }).waitFor();
  expect(await dialog.locator('pre').textContent()).toContain('"claude-haiku-4-5');
  await page.getByRole('tab', { name: 'openai (python)' }).click();
  expect(await dialog.locator('pre').textContent()).toMatch(/api_key="sk-[\w-]{43}"/);
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('over plain HTTP in a network, where browsers have no clipboard and no locks, keys work', async () => {
  const { id, key } = await newKey({ name: 'Plain', limitAmount: 1 });
  const { page: first } = await world.open('/sign-in');
  const context = first.context();
  await context.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    Reflect.deleteProperty(Navigator.prototype, 'locks');
    Reflect.deleteProperty(crypto, 'randomUUID');
  });
  const { page, mistakes } = await world.open('/keys', { context });
  await row(page, id).getByText('$0.00', { exact: true }).waitFor();
  await chat(key);
  await row(page, id).getByText('$0.00018', { exact: false }).waitFor();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByTitle('Copy the API key').click();
  await page.getByRole('dialog').getByText('copied', { exact: true }).waitFor();
  const copied = await page.getByTitle('Copy the API key').textContent();
  await page.getByRole('button', { name: 'I have kept the key' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('searchbox', { name: 'Find' }).focus();
  await page.keyboard.press('Control+V');
  expect(copied).toContain(await page.getByRole('searchbox', { name: 'Find' }).inputValue());
  expect(await page.getByRole('searchbox', { name: 'Find' }).inputValue()).toMatch(SECRET);
  expect(mistakes).toEqual([]);
  await context.close();
});

test('a viewer sees keys and changes none', async () => {
  const { id } = await newKey({ name: 'Watched' });
  const context = await world.personAs('viewer');
  const { page, mistakes } = await world.open('/keys?create=true', { context });
  await row(page, id).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Acts on Watched' }).count()).toBe(0);
  await row(page, id).click();
  await page.getByRole('heading', { name: 'Watched', level: 1 }).waitFor();
  expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  expect(mistakes).toEqual([]);
  await context.close();
});

test('long names and names from the right break nothing; the list is found by the address', async () => {
  const { id } = await newKey({ name: WIDE, tags: ['wide', 'T'.repeat(64)], limitAmount: 2 });
  await newKey({ name: FROM_THE_RIGHT, tags: ['flowers'] });
  const { page, mistakes } = await world.open('/keys?sort=name');
  await row(page, id).waitFor();
  await expectGoodPage(page);
  await page.keyboard.press('/');
  await page.keyboard.type('الأزهار');
  await until('one row', async () => (await page.locator('tbody tr').count()) === 1);
  await page.reload();
  await page.getByRole('link', { name: FROM_THE_RIGHT }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(1);
  await page.goto(`${world.weir.base_url}/keys/${id}`);
  await page.getByRole('heading', { name: WIDE }).waitFor();
  await expectGoodPage(page);
  await page.goto(`${world.weir.base_url}/keys/key_of_somebody_else`);
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  expect(mistakes.filter((mistake) => !mistake.includes('404'))).toEqual([]);
  await page.context().close();
});
