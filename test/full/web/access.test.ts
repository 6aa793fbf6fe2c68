/** People, tokens, the audit log, webhooks and settings in a real browser: who may do what? */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { type DashboardWorld, PASSWORD, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { manage as request } from './support/manage.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

const WIDE = 'W'.repeat(50);
const FROM_THE_RIGHT = 'ליאת כהן';

let world: DashboardWorld;
/** A server that takes webhooks. */
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: receive });
let received: string[] = [];
function receive({ headers }: Request): Response {
  received.push(headers.get('webhook-id') ?? '');
  return new Response(null, { status: 204 });
}

beforeAll(async () => {
  const env = { WEIR_WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${receiver.port}` };
  world = await startDashboard({ env });
}, 120_000);
afterAll(async () => {
  await world.stop();
  await receiver.stop(true);
});

const manage = <Answer>(method: string, path: string, body?: object): Promise<Answer> =>
  request(world.weir, method, path, body);

const line = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

test('a person is invited by a link that is shown once, and can be refused again', async () => {
  const { page, mistakes } = await world.open('/access/people');
  await page.getByRole('button', { name: 'Invite a person' }).click();
  await page.getByLabel('E-mail').fill('grace@example.com');
  await page.getByRole('combobox', { name: 'Role', exact: true }).selectOption('viewer');
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Give this link on' });
  const link = /http\S+\/v1\/auth\/links\/lk-[\w-]{43}/.exec(
    (await dialog.textContent()) ?? '',
  )?.[0];
  expect(link).toBeDefined();
  const shown = (await (await fetch(link ?? '')).json()) as object;
  expect(shown).toMatchObject({ email: 'grace@example.com', role: 'viewer' });
  await page.getByRole('button', { name: 'I have kept the link' }).click();
  expect(await page.content()).not.toContain(link ?? '');
  await page.getByRole('button', { name: 'Revoke the invitation of grace@example.com' }).click();
  await page.getByRole('button', { name: 'Revoke the invitation', exact: true }).click();
  await page.getByText('Nobody is invited at the moment.').waitFor();
  expect((await fetch(link ?? '')).status).toBeGreaterThanOrEqual(400);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('roles change with undo, and a person is removed after a confirmation', async () => {
  const context = await world.personAs('viewer', WIDE);
  await (await world.personAs('member', FROM_THE_RIGHT)).close();
  const { page, mistakes } = await world.open('/access/people');
  await page.getByLabel(`Role of ${FROM_THE_RIGHT}`).waitFor();
  await expectGoodPage(page);
  const role = page.getByLabel(`Role of ${WIDE}`);
  await role.selectOption('admin');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  expect(await role.inputValue()).toBe('viewer');

  await page.getByRole('button', { name: `Remove ${WIDE}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('API keys and tokens that this person made still work.').waitFor({
    state: 'visible',
  });
  await dialog.getByRole('button', { name: 'Remove the person' }).click();
  await line(page, WIDE).waitFor({ state: 'detached' });
  const session = await context.request.get(`${world.weir.base_url}/v1/auth/session`);
  expect(session.status()).toBe(401);

  // The last owner stays: the API says so.
  await page.getByLabel('Role of Ada Lovelace').selectOption('member');
  await page.getByRole('button', { name: 'Become member' }).click();
  await page.getByText('This is the last owner of the organization.').waitFor();
  expect(mistakes.map((mistake) => /status of (\d+)/.exec(mistake)?.[1])).toEqual(['400']);
  await context.close();
  await page.context().close();
});

test('a token is made, shown once, rotated with a grace, and revoked', async () => {
  const { page, mistakes } = await world.open('/access/tokens');
  const balance = (token: string) =>
    fetch(`${world.weir.base_url}/v1/management/balance`, {
      headers: { authorization: `Bearer ${token}` },
    });
  await page.getByRole('button', { name: 'Create a token' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Finance');
  await page.getByLabel('billing').check();
  await page.getByLabel('read').uncheck();
  await page.getByRole('button', { name: 'Create the token' }).click();
  const shown = async () =>
    /mt-[\w-]{43}/.exec((await page.getByRole('dialog').textContent()) ?? '')?.[0] ?? '';
  await page.getByText('Finance works now.', { exact: false }).waitFor();
  const token = await shown();
  expect((await balance(token)).status).toBe(200);
  await expectGoodPage(page);
  await page.getByRole('button', { name: 'I have kept the token' }).click();
  await line(page, 'Finance').waitFor();
  expect(await page.content()).not.toContain(token);

  await page.getByRole('button', { name: 'Acts on Finance' }).click();
  await page.getByRole('menuitem', { name: 'Rotate…' }).click();
  await page.getByLabel('The old token works').selectOption('0');
  await page.getByRole('button', { name: 'Rotate the token' }).click();
  await page.getByText('Finance works now.', { exact: false }).waitFor();
  const next = await shown();
  await page.getByRole('button', { name: 'I have kept the token' }).click();
  await until('the old token ended', async () => (await balance(token)).status === 401);
  expect((await balance(next)).status).toBe(200);

  await page.getByRole('button', { name: 'Acts on Finance' }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page.getByRole('button', { name: 'Revoke the token' }).click();
  await line(page, 'Finance').waitFor({ state: 'detached' });
  await until('the token ended', async () => (await balance(next)).status === 401);
  await page.getByLabel('Show ended tokens too').check();
  await line(page, 'Finance').first().waitFor();
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the audit log says who changed what from what, and its chain is checked', async () => {
  const { id } = await manage<{ id: string }>('POST', 'api-keys', { name: 'Audited' });
  await manage('PATCH', `api-keys/${id}`, { limitAmount: 12.5 });
  const { page, mistakes } = await world.open(`/access/audit?subject_id=${id}`);
  const lines = page.locator('ol > li');
  await until('two lines', async () => (await lines.count()) === 2);
  await lines.first().locator('summary').click();
  const changed = lines.first().getByRole('row', { name: 'limit_amount' });
  expect(await changed.getByRole('cell').allTextContents()).toEqual(['none', '12.5']);
  await page.getByRole('button', { name: 'Check the chain' }).click();
  await page.getByText('The chain is whole', { exact: false }).waitFor();
  await expectGoodPage(page);
  const download = page.waitForEvent('download');
  await page.getByText('Download as NDJSON').click();
  const file = await (await download).createReadStream();
  const exported = (await new Response(file as never).text()).trim().split('\n');
  expect(exported.map((each) => JSON.parse(each) as object)).toMatchObject([
    { action: 'api_key.create', subject_id: id },
    { action: 'api_key.update', subject_id: id },
  ]);
  await page.getByLabel('Action').fill('api_key.create');
  await page.keyboard.press('Enter');
  await until('one line', async () => (await lines.count()) === 1);
  expect(new URL(page.url()).searchParams.get('action')).toBe('api_key.create');
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the webhook secret is read only when asked for, and replaced after a confirmation', async () => {
  const { page, mistakes } = await world.open('/access/webhooks');
  await page.getByText('No deliveries yet').waitFor();
  expect(await page.content()).not.toContain('whsec_');
  await page.getByRole('button', { name: 'Show the secret' }).click();
  const secret = page.getByRole('button', { name: 'whsec_' });
  const first = await secret.textContent();
  await page.getByRole('button', { name: 'Replace it…' }).click();
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByText('The webhook secret is replaced.').waitFor();
  expect(await secret.textContent()).not.toBe(first);
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a webhook is shown with its attempts, and sent again after a confirmation', async () => {
  const { base_url, api_key } = world.weir;
  const created = await fetch(`${base_url}/v1/videos/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'veo-3.1', prompt: 'A weir in spring [[sim task_ms=200]]' },
      webhook_url: `http://127.0.0.1:${receiver.port}/hook`,
    }),
  });
  const { id } = (await created.json()) as { id: string };
  await until('the webhook', () => received.length === 1);
  const { page, mistakes } = await world.open('/access/webhooks?state=delivered');
  await page.getByText('Attempts', { exact: true }).click();
  await page.getByText('HTTP 204').first().waitFor();
  await expectGoodPage(page);
  expect(await page.getByRole('link', { name: id }).getAttribute('href')).toBe(`/tasks/${id}`);
  await page.getByRole('button', { name: `Send again the webhook of ${id}` }).click();
  await page.getByRole('button', { name: 'Send it again' }).click();
  await until('the second webhook', () => received.length === 2);
  expect(received).toEqual([`msg_${id}`, `msg_${id}`]);
  await page.getByText('2 attempts', { exact: false }).waitFor();
  expect(mistakes).toEqual([]);
  received = [];
  await page.context().close();
});

test('a setting changes with undo; one’s own password changes and ends other sessions', async () => {
  const context = await world.personAs('admin', 'Alan');
  const { page, mistakes } = await world.open('/access/settings', { context });
  const setting = page.getByRole('checkbox', { name: 'Keep answers' });
  await setting.waitFor();
  await page.getByText('Default: on. On or off.').waitFor();
  await setting.click();
  await page.getByText('Keep answers: off.').waitFor();
  expect(await manage<object>('GET', 'organization')).toMatchObject({ keep_answers: false });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  expect(await manage<object>('GET', 'organization')).toMatchObject({ keep_answers: true });
  await expectGoodPage(page);

  await page.getByLabel('Current password').fill('not my password');
  await page.getByLabel('New password').fill('a new long password');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The current password is wrong.', { exact: false }).waitFor();
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Your password is changed.', { exact: false }).waitFor();
  expect(mistakes.map((mistake) => /status of (\d+)/.exec(mistake)?.[1])).toEqual(['400']);
  await context.close();
});

test('a member who tries an admin’s link is told whom to ask, and sees no acts', async () => {
  const context = await world.personAs('member', 'Mem');
  const { page, mistakes } = await world.open('/access/tokens?create=true', { context });
  await page.getByText('This is not for your role').waitFor();
  await page.getByText('You are member in', { exact: false }).waitFor();
  await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  const places = page.getByRole('navigation', { name: 'Access' }).getByRole('link');
  expect(await places.allTextContents()).toEqual(['People', 'Webhooks', 'Settings']);
  await expectGoodPage(page);
  await page.goto(`${world.weir.base_url}/access/people?invite=true`);
  await line(page, 'Ada Lovelace').waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Invite a person' }).count()).toBe(0);
  expect(await page.getByLabel('Role of Ada Lovelace').count()).toBe(0);
  await page.goto(`${world.weir.base_url}/access/settings`);
  await page.getByText('Keep the answers of calls', { exact: false }).waitFor();
  expect(await page.getByRole('checkbox', { name: 'Keep answers' }).count()).toBe(0);
  await page.goto(`${world.weir.base_url}/access/webhooks`);
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
  expect(await page.getByRole('button', { name: 'Show the secret' }).count()).toBe(0);
  expect(mistakes).toEqual([]);
  await context.close();
});

test('a phone shows the present place of Access, although all do not fit', async () => {
  const { page } = await world.open('/access/settings', { width: 360 });
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  const places = page.getByRole('navigation', { name: 'Access' });
  const right_px = async () => {
    const box = await places.getByRole('link', { name: 'Settings' }).boundingBox();
    return (box?.x ?? 0) + (box?.width ?? 0);
  };
  expect(await right_px()).toBeGreaterThan(0);
  expect(await right_px()).toBeLessThanOrEqual(360);
  await page.context().close();
});
