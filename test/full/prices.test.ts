/**
 * Makes calls over HTTP, and compares their charges with prices that are computed elsewhere. An
 * independent price list gives the prices of tokens. The other prices are computed by hand from the
 * providers' pages.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { calcPrice } from '@pydantic/genai-prices';
import type { Call } from '../../simulator/shared/books.ts';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { demoInstallation } from '../../src/config/demo.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

/** The date of the compared prices, as in the test of the catalogue. */
const COMPARED_AT = new Date('2026-11-20T00:00:00Z');

let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
beforeAll(async () => {
  [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  const { channels } = demoInstallation(simulator.url);
  weir = await startWeir({
    config: JSON.stringify({ channels, roles: { standard: 1_000_000 } }),
    env: { DATABASE_URL: database.url, WEIR_BOOTSTRAP_BALANCE_USD: '10000' },
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await database.drop();
});

const send = (path: string, body?: object) =>
  fetch(weir.base_url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

const charges = () =>
  database.sql<{ id: string; charged: number }[]>`
    select replace(request_id::text, '-', '') as id, charged_nano_usd as charged from usage_line`;

async function chargeOf(response: Response): Promise<number | undefined> {
  const own = (response.headers.get('x-request-id') ?? '').replace('req_', '');
  return (await charges()).find(({ id }) => id === own)?.charged;
}

/** Returns the price by the independent list in nano-USD, rounded up at the tenth digit. */
function listed(model: string, vendor: string, book: Call): number {
  const found = calcPrice(
    {
      input_tokens: book.prompt_tokens,
      cache_read_tokens: book.cached_tokens,
      cache_write_tokens: book.cache_write_tokens,
      output_tokens: book.completion_tokens,
    },
    model,
    { providerId: vendor, timestamp: COMPARED_AT },
  );
  if (!found) throw new Error(`${model} is in no list`);
  return Math.ceil(Number((found.total_price * 1e9).toFixed(3)));
}

const chat = builtInModels().filter(({ category }) => category === 'chat');

test('the tests cover at least 32 prices', () => {
  expect(chat.length + BY_HAND.length).toBeGreaterThanOrEqual(32);
});

describe('the charge of a chat is the independent list’s price of the provider’s token counts', () => {
  test.each(chat.map(({ id, owned_by }) => [id, owned_by]))('%s', async (model, vendor) => {
    // Only Anthropic writes to a cache on demand.
    const cache = vendor === 'anthropic' ? 'cached=300 cache_write=200' : 'cached=300';
    for (const stream of [false, true]) {
      const before = (await simulator.closedBooks()).calls.length;
      const words = 'word '.repeat(700 + model.length);
      const content = `${words}[[sim tokens=${model.length * 7} ${cache}]]`;
      const messages = [{ role: 'user', content }];
      const response = await send('/v1/chat/completions', { model, stream, messages });
      const text = await response.text();
      expect({ model, status: response.status, text }).toMatchObject({ status: 200 });
      const book = (await simulator.closedBooks()).calls.at(-1);
      expect((await simulator.books()).calls.length).toBe(before + 1);
      if (!book) throw new Error('no call upstream');
      expect(book.cached_tokens).toBe(300);
      expect(book.completion_tokens).toBe(model.length * 7);
      expect(await chargeOf(response)).toBe(listed(model, vendor, book));
    }
  });
});

/**
 * Each row has the model, the route, the body and the charge in USD. `units` says how the
 * provider's page gives the price.
 */
const BY_HAND: [model: string, route: string, body: object, usd: number, units: string][] = [
  ['dall-e-3', 'images', { size: '1024x1024' }, 0.04, 'OpenAI: standard 1024×1024'],
  ['dall-e-3', 'images', { size: '1024x1024', quality: 'hd' }, 0.08, 'OpenAI: HD 1024×1024'],
  ['dall-e-3', 'images', { size: '1792x1024', quality: 'hd' }, 0.12, 'OpenAI: HD 1024×1792'],
  ['gemini-2.5-flash-image', 'images', {}, 0.039, 'Google: 1,290 tokens at 30 USD a million'],
  ['gemini-3-pro-image-preview', 'images', {}, 0.134, 'Google: 1,120 tokens at 120 USD a million'],
  ['grok-imagine-image', 'images', {}, 0.02, 'xAI: an image'],
  ['flux-1.1-pro', 'images', {}, 0.04, 'Black Forest Labs: an image'],
  ['ideogram-v3', 'images', {}, 0.06, 'Ideogram: an image'],
  ['stable-diffusion-3.5-large', 'images', {}, 0.065, 'Stability: 6.5 credits'],
  ['veo-3.1', 'videos', { duration: 8 }, 3.2, 'Google: 8 s at 0.40'],
  ['veo-3.1-fast', 'videos', { duration: 4 }, 0.4, 'Google: 4 s at 0.10'],
  ['runway-gen4.5', 'videos', { duration: 5 }, 0.6, 'Runway: 5 s at 12 credits'],
];

describe('the charge of a generation is the price on the provider’s page', () => {
  test.each(BY_HAND)('%s', async (model, route, body, usd) => {
    const before = new Set((await charges()).map(({ id }) => id));
    const prompt = 'A lighthouse [[sim task_ms=50]]';
    const made = await send(`/v1/${route}/generations`, { model, prompt, ...body });
    const task = (await made.json()) as { id?: string; status?: string };
    expect({ model, ok: made.ok, task }).toMatchObject({ model, ok: true });
    if (route === 'videos') {
      await until('it is made', async () => {
        const answer = await send(`/v1/tasks/${task.id}`);
        const { status } = (await answer.json()) as { status: string };
        if (status === 'failed') throw new Error(`${model} failed`);
        return status === 'completed';
      });
    }
    await until('it is charged', async () => (await charges()).length > before.size);
    const added = (await charges()).filter(({ id }) => !before.has(id));
    expect(added.map(({ charged }) => charged)).toEqual([Math.round(usd * 1e9)]);
  });
});
