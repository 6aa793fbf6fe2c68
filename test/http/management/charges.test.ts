/**
 * The arithmetic of a charge (`GET /v1/management/requests/{id}`): lines that add up exactly, at the price
 * of the time of the call, also after the price changed; and an honest answer if no price explains it.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { formWithFile } from '../../support/model-calls.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../../support/throwaway.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

const NANO = 1_000_000_000;

interface Line {
  kind: string;
  quantity: number | null;
  unit: string | null;
  price: string | null;
  per: number | null;
  when: object | null;
  amount: string;
}
interface Charge {
  state: string;
  lines: Line[];
  amount: string;
  price: { since: string; date: string | null; source: string | null } | null;
  reason: string | null;
}
interface Call {
  request_id: string;
  amount: number;
  list_price: number;
  charge: Charge;
}

let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
const folder = throwawayFolder('charges');
const WEIR_CONFIG = join(folder, 'weir.yaml');

const CHANNELS = [
  ['openai', '/openai/v1', ['gpt-4o', 'text-embedding-3-small', 'whisper-1', 'tts-1']],
  ['anthropic', '/anthropic', ['claude-haiku-4-5']],
  ['cohere', '/cohere', ['rerank-v3.5']],
  ['openai-images', '/openai/v1', ['gpt-image-2', 'dall-e-3']],
  ['midjourney', '/midjourney/mj', ['midjourney']],
  ['kling', '/kling', ['kling-3.0']],
] as const;

/** Writes the configuration. `models` replace those of the catalogue. */
function configure(models: object[] = []): void {
  const channels = CHANNELS.map(([protocol, path, ids]) => ({
    ...{ id: protocol, protocol, base_url: simulator.url + path, api_key: `sim-${protocol}` },
    models: Object.fromEntries(ids.map((id) => [id, id === 'kling-3.0' ? 'kling-v3' : id])),
  }));
  writeFileSync(WEIR_CONFIG, JSON.stringify({ channels, models, roles: { standard: 1_000_000 } }));
}

beforeAll(async () => {
  simulator = await startSimulator();
  database = await createTestDatabase();
  configure();
  weir = await startWeir({ env: { DATABASE_URL: database.url, WEIR_CONFIG } });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await database.drop();
  removeFolder(folder);
});

async function post(path: string, body: object | FormData): Promise<Response> {
  const isForm = body instanceof FormData;
  const response = await fetch(weir.base_url + path, {
    ...{ method: 'POST', body: isForm ? body : JSON.stringify(body) },
    headers: {
      authorization: `Bearer ${weir.api_key}`,
      'anthropic-version': '2023-06-01',
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
  });
  return response;
}

async function find(id: string): Promise<Call> {
  const response = await fetch(`${weir.base_url}/v1/management/requests/${id}`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status: 200, text });
  return JSON.parse(text) as Call;
}

/** Sends a call that is charged, and returns it. */
async function charged(path: string, body: object | FormData): Promise<Call> {
  const response = await post(path, body);
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status: 200, text });
  return find(response.headers.get('x-request-id') ?? '');
}

/** A decimal text in units of 10⁻²⁴ USD. */
function exact(text: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  expect(whole).not.toBe('');
  expect(fraction.endsWith('0')).toBe(false);
  return BigInt(sign + whole + fraction.padEnd(24, '0'));
}

/** Checks each line and the sum, and returns the quantities by kind. */
function checked(call: Call): Record<string, number | null> {
  const { charge } = call;
  expect(charge).toMatchObject({ state: 'priced', reason: null });
  for (const { quantity, price, per, amount } of charge.lines) {
    if (quantity === null || price === null || per === null) continue;
    const [whole = '', fraction = ''] = String(quantity).split('.');
    const product = BigInt(whole + fraction) * exact(price);
    expect(exact(amount) * 10n ** BigInt(fraction.length) * BigInt(per)).toBe(product);
  }
  const sum = charge.lines.reduce((all, { amount }) => all + exact(amount), 0n);
  expect(sum).toBe(exact(charge.amount));
  expect(exact(charge.amount)).toBe(BigInt(Math.round(call.amount * NANO)) * 10n ** 15n);
  expect(call.amount).toBeGreaterThan(0);
  const kinds = charge.lines.map(({ kind }) => kind);
  expect(new Set(kinds).size).toBe(kinds.length);
  return Object.fromEntries(charge.lines.map(({ kind, quantity }) => [kind, quantity]));
}

const turn = (content: string, model = 'gpt-4o') => ({
  ...{ model, max_tokens: 500 },
  messages: [{ role: 'user', content }],
});

describe('a charge of chat', () => {
  test('has a line for each kind of token, at the price of the catalogue', async () => {
    const long = `${'words '.repeat(300)} [[sim tokens=7 cached=100]]`;
    const call = await charged('/v1/chat/completions', turn(long));
    const quantities = checked(call);
    expect(quantities).toMatchObject({ cached_input_tokens: 100, output_tokens: 7 });
    expect(call.charge.lines.map(({ price, per }) => [price, per])).toEqual([
      ...[['2.5', 1_000_000] as [string, number], ['1.25', 1_000_000], ['10', 1_000_000]],
    ] as never);
    const declared = builtInModels().find(({ id }) => id === 'gpt-4o')?.pricing_provenance;
    expect(call.charge.price).toMatchObject({
      date: declared?.date ?? null,
      source: declared?.source ?? null,
    });
  });

  test('tells tokens that are cached for an hour from others', async () => {
    const text = `${'words '.repeat(300)} [[sim tokens=7 cached=50 cache_write=100 cache_write_1h=40]]`;
    const call = await charged('/v1/messages', turn(text, 'claude-haiku-4-5'));
    expect(checked(call)).toMatchObject({
      ...{ cached_input_tokens: 50, cache_write_tokens: 60, cache_write_1h_tokens: 40 },
      output_tokens: 7,
    });
  });

  test('of a stream adds up too', async () => {
    const call = await charged('/v1/chat/completions', {
      ...turn('hi [[sim tokens=9]]'),
      stream: true,
    });
    expect(checked(call)).toMatchObject({ output_tokens: 9 });
  });
});

describe('a charge of a direct call', () => {
  const CALLS: [kind: string, path: string, body: () => object | FormData][] = [
    [
      'input_tokens',
      '/v1/embeddings',
      () => ({ model: 'text-embedding-3-small', input: 'three odd words' }),
    ],
    ['seconds', '/v1/audio/transcriptions', () => formWithFile({ model: 'whisper-1' })],
    ['characters', '/v1/audio/speech', () => ({ model: 'tts-1', voice: 'alloy', input: 'Hi you' })],
    ['requests', '/v1/rerank', () => ({ model: 'rerank-v3.5', query: 'q', documents: ['a', 'b'] })],
  ];
  test.each(CALLS)('counts %s', async (kind, path, body) => {
    const quantities = checked(await charged(path, body()));
    expect(quantities[kind]).toBeGreaterThan(0);
  });
});

describe('a charge of a generation', () => {
  test('counts images, by the price of their parameters', async () => {
    const plain = await charged('/v1/images/generations', { model: 'dall-e-3', prompt: 'A boat' });
    expect(checked(plain)).toEqual({ images: 1 });
    const large = await charged('/v1/images/generations', {
      ...{ model: 'dall-e-3', prompt: 'A boat', quality: 'hd' },
    });
    expect(checked(large)).toEqual({ images: 1 });
    expect(large.charge.lines[0]?.when).toMatchObject({ quality: 'hd' });
    expect(large.amount).toBeGreaterThan(plain.amount);
  });

  test('counts tokens of images', async () => {
    const body = { model: 'gpt-image-2', prompt: 'A boat' };
    const quantities = checked(await charged('/v1/images/generations', body));
    expect(quantities['text_input_tokens']).toBeGreaterThan(0);
    expect(quantities['output_tokens']).toBeGreaterThan(0);
  });

  test('of a task: held while it runs, seconds when it has ended', async () => {
    const created = await post('/v1/videos/generations', {
      ...{ model: 'kling-3.0', prompt: 'A boat [[sim task_ms=1500]]', duration: 5 },
    });
    const id = created.headers.get('x-request-id') ?? '';
    expect((await find(id)).charge).toMatchObject({ state: 'held', lines: [], amount: '0' });
    await until('the task is charged', async () => (await find(id)).amount > 0);
    expect(checked(await find(id))).toEqual({ seconds: 5 });
  });
});

test('a refused call is free', async () => {
  const response = await post('/v1/chat/completions', turn('hi [[sim status=400]]'));
  expect(response.status).toBe(400);
  const id = response.headers.get('x-request-id') ?? '';
  const { charge } = await until('the record', async () => {
    const found = await fetch(`${weir.base_url}/v1/management/requests/${id}`, {
      headers: { authorization: `Bearer ${weir.management_token}` },
    });
    return found.ok ? ((await found.json()) as Call) : undefined;
  });
  expect(charge).toMatchObject({ state: 'free', lines: [], amount: '0', price: null });
});

describe('after a change of the price', () => {
  const declared = builtInModels().find(({ id }) => id === 'gpt-4o');

  test('each call shows the price at which it was charged', async () => {
    const before = await charged('/v1/chat/completions', turn('hi [[sim tokens=11]]'));
    configure([
      {
        ...declared,
        price: { input_usd_per_mtok: 3.7, output_usd_per_mtok: 0.0001 },
        pricing_provenance: { source: 'our own list', date: '2026-11-26', note: 'secret note' },
      },
    ]);
    const prices = await until('the new price', async () => {
      const rows = await database.sql`select since from model_price where model = 'gpt-4o'`;
      return rows.length === 2 ? rows : undefined;
    });
    expect(prices.length).toBe(2);
    const after = await charged('/v1/chat/completions', turn('hi [[sim tokens=11]]'));
    checked(after);
    expect(after.charge.price).toMatchObject({ date: '2026-11-26', source: 'our own list' });
    expect(JSON.stringify(after)).not.toContain('secret note');
    expect(after.charge.lines.map(({ price }) => price)).toEqual(['3.7', '0.0001', null]);
    // Some nano-dollars were added to make the charge whole.
    expect(after.charge.lines.at(-1)).toMatchObject({ kind: 'rounding', quantity: null });
    const again = await find(before.request_id);
    expect(again).toEqual(before);
    expect(again.charge.lines.map(({ price }) => price)).toEqual(['2.5', '10']);
    expect(Date.parse(after.charge.price?.since ?? '')).toBeGreaterThan(
      Date.parse(before.charge.price?.since ?? ''),
    );
  });

  test('a price that was never on record is not guessed', async () => {
    const call = await charged('/v1/chat/completions', turn('hi [[sim tokens=13]]'));
    const rows = await database.sql`
      update model_price set price = price || '{"output_usd_per_mtok": 77}'
      where model = 'gpt-4o' returning 1`;
    expect(rows.length).toBe(2);
    const { charge } = await find(call.request_id);
    expect(charge).toMatchObject({ state: 'unpriced', lines: [], price: null });
    expect(exact(charge.amount)).toBe(exact(call.charge.amount));
    expect(charge.reason).toContain('No price on record');
  });

  test('a start with the same prices records nothing', async () => {
    const count = async () => {
      const [row] = await database.sql`select count(*)::int4 as n from model_price`;
      return row?.['n'] as number;
    };
    await weir.stop();
    await database.sql`delete from model_price`;
    weir = await startWeir({ env: { DATABASE_URL: database.url, WEIR_CONFIG } });
    const first = await count();
    expect(first).toBeGreaterThan(0);
    await weir.stop();
    weir = await startWeir({ env: { DATABASE_URL: database.url, WEIR_CONFIG } });
    expect(await count()).toBe(first);
  });
});

test('what the platform paid is a line of its own', async () => {
  const call = await charged('/v1/messages', turn('hi [[sim tokens=21]]', 'claude-haiku-4-5'));
  const id = `${call.request_id.slice(4)}`;
  await database.sql`
    update usage_line set overrun_nano_usd = 5, charged_nano_usd = charged_nano_usd - 5
    where request_id = ${id}::uuid`;
  const found = await find(call.request_id);
  checked(found);
  expect(found.charge.lines.at(-1)).toMatchObject({ kind: 'absorbed', amount: '-0.000000005' });
});
