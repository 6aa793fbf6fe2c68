/**
 * The way of a new user, from the README only: start, open the link, connect a provider, make a key with a
 * cap, use it in the playground and from a terminal, watch the cents appear, find that request, revoke the
 * key, and see why the next call is refused. The provider is a process at an address of its own, which
 * answers as OpenAI documents.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { mistakesOf, startChromium } from '../../support/chromium.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(120_000);

const PASSWORD = 'correct horse battery';

let provider: RunningSimulator;
let weir: RunningWeir;
let browser: Browser;
beforeAll(async () => {
  provider = await startSimulator();
  weir = await startWeir({ shared_database: true, env: { WEIR_DASHBOARD: 'on' } });
  browser = await startChromium();
}, 120_000);
afterAll(async () => {
  await browser.close();
  await weir.stop();
  await provider.stop();
});

/** Opens the link that the start printed, as soon as the dashboard is built. */
async function openSignInLink(page: Page): Promise<void> {
  const link = /^Sign-in link +\S+(\/v1\/auth\/links\/\S+)$/m.exec(weir.output())?.[1] ?? '';
  await until('the dashboard is built', async () => {
    const response = await page.goto(weir.base_url + link);
    return response?.status() === 200;
  });
}

async function shell(command: string): Promise<string> {
  const child = Bun.spawn(['sh', '-c', command.replace('curl ', 'curl -s ')], { stdout: 'pipe' });
  return new Response(child.stdout).text();
}

test('a new user comes from the start to a bill, and to a refusal that says why', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const mistakes = mistakesOf(page);

  await openSignInLink(page);
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Connect a provider' }).waitFor();
  expect(page.url()).not.toContain('lk-');

  // Three fields and three clicks: the provider, its address, its key; test, use, and a curl that works.
  await page.getByLabel('Provider').selectOption({ label: 'Another address' });
  await page.getByLabel('Address').fill(`${provider.url}/openai/v1`);
  await page.getByLabel('API key').fill('wrong');
  await page.getByRole('button', { name: 'Test the key' }).click();
  await page.getByText('The provider refused the key').waitFor();
  // The browser notes the 503 of the page that waited for the build, and the 400 of the wrong key.
  mistakes.length = 0;
  await page.getByLabel('API key').fill('sim-mine');
  await page.getByRole('button', { name: 'Test the key' }).click();
  await page.getByText('key works').waitFor();
  await page.getByRole('button', { name: /^Use / }).click();
  await page.getByRole('heading', { name: 'Make the first call' }).waitFor();
  const command = (await page.locator('pre').textContent()) ?? '';
  await page.getByText('listening').waitFor();
  await shell(command.replace(/sk-[\w-]+/, 'sk-wrong'));
  await page.getByText('answered').or(page.getByText('401 refused')).first().waitFor();
  await page.getByText('Send a key that this Weir made').waitFor();
  expect(JSON.parse(await shell(command))).toHaveProperty('choices');
  await page.getByText('200 answered').waitFor();

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Shop');
  await page.getByLabel('Cap, USD').fill('5');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('I have kept').waitFor();
  const curl = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
  await page.getByRole('button', { name: 'I have kept the key' }).click();
  const row = page.getByRole('row', { name: /Shop/ });
  await row.getByText('$0.00', { exact: true }).waitFor();

  // From a terminal: the cents appear without a reload.
  const answer = JSON.parse(
    await shell(curl.replace(/"content": *"[^"]*"/, '"content":"Hi [[sim tokens=400]]"')),
  );
  expect(answer.usage.completion_tokens).toBe(400);
  await row.getByText('$0.00', { exact: true }).waitFor({ state: 'detached' });
  expect(await row.textContent()).toMatch(/\$0\.\d*[1-9]/);

  // That request is found, with its money.
  await page.getByRole('link', { name: 'Usage', exact: true }).click();
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.getByRole('row', { name: /Shop/ }).first().click();
  await page.waitForURL(/\/usage\/requests\/req/);
  await page.getByText('×').first().waitFor();

  // In the playground, with the key that the person chooses.
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByLabel('Paid by').selectOption({ label: 'Shop' });
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello [[sim tokens=12]]');
  await page.getByRole('button', { name: 'Send' }).click();
  await page
    .getByText(/\$0\.0/)
    .first()
    .waitFor();

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Acts on Shop' }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke Shop?' });
  await dialog.getByRole('button', { name: /revoke/i }).click();
  await row.getByText('revoked').last().waitFor();
  const { error } = await until('the key is refused', async () => {
    const refused = JSON.parse(await shell(curl)) as { error?: { message: string; code: string } };
    return refused.error && (refused as { error: { message: string; code: string } });
  });
  expect(error.message).toMatch(/revoked/i);
  expect(mistakes).toEqual([]);
  await context.close();
});
