/**
 * What the operator pays: told by the provider with each answer, and billed for each day. The answers
 * and the bills are those that the providers document.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import OpenAI from 'openai';
import { ReconciliationSchema } from '../../../src/http/operator/reconciliation.ts';
import { errorOf } from '../../support/envelope.ts';
import {
  ANTHROPIC_COSTS,
  OPENAI_COSTS,
  OPENAI_USAGE,
  OPENROUTER_ACTIVITY,
  TOLD_PRICES,
} from '../../support/provider-bills.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

const TOKENS = { prompt_tokens: 194, completion_tokens: 2, total_tokens: 196 };
const message = { role: 'assistant', content: 'Hello' };
const completion = (usage: object) => ({
  ...{ id: 'gen-1', object: 'chat.completion', created: 1, model: 'openai/gpt-4.1' },
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage: { ...TOKENS, ...usage },
});
const chunk = (delta: object, finish_reason: string | null, usage?: object) => ({
  ...{ id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: 'openai/gpt-4.1' },
  choices: [{ index: 0, delta, finish_reason }],
  ...(usage ? { usage: { ...TOKENS, ...usage } } : {}),
});
const streamOf = (usage: object) =>
  [chunk(message, null), chunk({ content: '' }, 'stop', usage)]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .concat('data: [DONE]\n\n')
    .join('');

/** The schemas of Perplexity's API: EmbeddingsUsage. */
const EMBEDDINGS = {
  ...{ object: 'list', model: 'text-embedding-3-small' },
  data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
  usage: {
    ...{ prompt_tokens: 4, total_tokens: 4 },
    cost: { input_cost: 0.000_01, total_cost: 0.000_01, currency: 'USD' },
  },
};
/** docs.x.ai/developers/cost-tracking: an image of 200,000,000 ticks costs 0.02 USD. */
const XAI_IMAGE = {
  data: [{ b64_json: Buffer.from('image').toString('base64') }],
  usage: { cost_in_usd_ticks: 200_000_000 },
};

let weir: RunningWeir;
let told: object = {};
const provider = Bun.serve({
  port: 0,
  async fetch(request) {
    if (request.url.endsWith('/images/generations')) return Response.json(XAI_IMAGE);
    if (request.url.endsWith('/embeddings')) return Response.json(EMBEDDINGS);
    const { stream } = (await request.json()) as { stream?: boolean };
    if (!stream) return Response.json(completion(told));
    return new Response(streamOf(told), { headers: { 'content-type': 'text/event-stream' } });
  },
});

beforeAll(async () => {
  const channel = {
    ...{ id: 'reseller', protocol: 'openai', base_url: `http://127.0.0.1:${provider.port}/v1` },
    ...{ api_key: 'canary', models: { 'gpt-4.1': 'openai/gpt-4.1' } },
  };
  const xai = {
    ...{ ...channel, id: 'reseller-xai', protocol: 'xai' },
    models: { 'grok-imagine-image': 'grok-imagine-image' },
  };
  const embedder = {
    ...{ ...channel, id: 'reseller-embeddings' },
    models: { 'text-embedding-3-small': 'text-embedding-3-small' },
  };
  weir = await startWeir({
    config: JSON.stringify({ channels: [channel, xai, embedder] }),
    shared_database: true,
  });
});
afterAll(async () => {
  await weir.stop();
  await provider.stop(true);
});

const operator = (path: string, body?: object, token = weir.operator_token) =>
  fetch(`${weir.base_url}/v1/operator${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

type Row = (typeof ReconciliationSchema)['static']['data'][number];

async function reconcile(query: string): Promise<Row[]> {
  const response = await operator(`/usage-reconciliation?${query}`);
  const answer = await response.json();
  expect([...Value.Errors(ReconciliationSchema, answer)]).toEqual([]);
  return (answer as { data: Row[] }).data;
}

async function importBill(source: string, bill: object) {
  const response = await operator(`/provider-bills?channel=reseller&source=${source}`, bill);
  return { status: response.status, ...((await response.json()) as object) };
}
const billsOf = (rows: readonly Row[]) =>
  rows.map(({ billed: [bill], model, provider_model }) => {
    const { imported_at: _, ...rest } = bill ?? { imported_at: '' };
    return { model, provider_model, ...rest };
  });

/** A copy of a bill with the day of today. */
function ofToday<Bill extends { data: object[] }>(bill: Bill): Bill {
  const start = Math.floor(Date.now() / 86_400_000) * 86_400;
  const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();
  const days = {
    ...{ start_time: start, end_time: start + 86_400, date: iso(start).slice(0, 10) },
    ...{ starting_at: iso(start), ending_at: iso(start + 86_400) },
  };
  return { ...bill, data: bill.data.map((each) => ({ ...each, ...days })) };
}

const today = new Date().toISOString().slice(0, 10);

test('a price that the provider tells reaches the operator, and no client', async () => {
  const client = new OpenAI({
    baseURL: `${weir.base_url}/v1`,
    apiKey: weir.api_key,
    maxRetries: 0,
  });
  const body = { model: 'gpt-4.1', messages: [{ role: 'user' as const, content: 'Hi' }] };
  const seen: string[] = [];
  let sum = 0;
  for (const [, usage, nano_usd] of TOLD_PRICES) {
    told = usage;
    seen.push(JSON.stringify(await client.chat.completions.create(body)));
    const stream = await client.chat.completions.create({
      ...{ ...body, stream: true as const, stream_options: { include_usage: true } },
    });
    for await (const each of stream) seen.push(JSON.stringify(each));
    sum += 2 * nano_usd;
  }
  told = {};
  await client.chat.completions.create(body);
  expect(seen.join('\n')).toContain('"prompt_tokens":194');
  expect(seen.join('\n')).not.toMatch(/cost|byok/);

  const model = 'grok-imagine-image';
  const image = await client.images.generate({ model, prompt: 'A lighthouse' });
  expect(JSON.stringify(image)).not.toMatch(/cost/);
  const [drawn] = await reconcile(`channel=reseller-xai&startDate=${today}`);
  expect(drawn?.recorded).toMatchObject({ paid: 0.02, paid_requests: 1, requests: 1 });

  const vectors = await client.embeddings.create({
    ...{ model: 'text-embedding-3-small', input: 'One', encoding_format: 'float' as const },
  });
  expect(vectors.usage as object).toEqual({ prompt_tokens: 4, total_tokens: 4 });
  const [embedded] = await reconcile(`channel=reseller-embeddings&startDate=${today}`);
  expect(embedded?.recorded).toMatchObject({ paid: 0.000_01, paid_requests: 1, requests: 1 });

  const [row] = await reconcile(`channel=reseller&startDate=${today}&endDate=${today}`);
  const requests = 2 * TOLD_PRICES.length;
  expect(row).toMatchObject({ day: today, channel: 'reseller', model: null, difference: null });
  expect(row?.recorded).toMatchObject({
    ...{ paid: sum / 1e9, paid_requests: requests, requests: requests + 1 },
    ...{ input_tokens: 194 * (requests + 1), output_tokens: 2 * (requests + 1) },
  });
  expect(row?.recorded.amount).toBeGreaterThan(0);

  for (const path of ['/usage?limit=100', '/requests?limit=100', '/usage/export?format=ndjson']) {
    const response = await fetch(`${weir.base_url}/v1/management${path}`, {
      headers: { authorization: `Bearer ${weir.management_token}` },
    });
    expect(await response.text()).not.toMatch(/paid|reseller/);
  }
});

describe('POST /v1/operator/provider-bills', () => {
  test('200: the documented answer of each provider becomes rows in USD', async () => {
    const cases = [
      ['openai-costs', OPENAI_COSTS, '2024-11-01', { amount: 0.06, provider_model: '' }],
      [
        'openai-usage',
        OPENAI_USAGE,
        '2024-11-01',
        {
          ...{ amount: null, provider_model: 'gpt-4o-mini-2024-07-18' },
          ...{ input_tokens: 1_000, output_tokens: 500, requests: 5 },
        },
      ],
      [
        'anthropic-costs',
        ANTHROPIC_COSTS,
        '2025-08-01',
        { amount: 1.237_891_2, provider_model: 'claude-sonnet-4-20250514' },
      ],
      [
        'openrouter-activity',
        OPENROUTER_ACTIVITY,
        '2025-08-24',
        { amount: 0.015, model: 'gpt-4.1', input_tokens: 50, output_tokens: 125, requests: 5 },
      ],
    ] as const;
    for (const [source, bill, day, expected] of cases) {
      // The second import changes nothing.
      for (let times = 0; times < 2; times += 1) {
        expect(await importBill(source, bill)).toMatchObject({
          ...{ status: 200, source, days: 1, rows: 1 },
          has_more: (bill as { has_more?: boolean }).has_more ?? false,
        });
        const rows = await reconcile(`group=model&startDate=${day}&endDate=${day}`);
        const own = billsOf(rows).filter((each) => each.source === source);
        expect(own).toHaveLength(1);
        expect(own[0]).toMatchObject(expected);
      }
    }
  });

  test('200: a later import of the same day replaces the earlier one', async () => {
    const [bucket] = OPENAI_COSTS.data;
    const corrected = { ...OPENAI_COSTS, data: [{ ...bucket, results: [] }] };
    expect(await importBill('openai-costs', corrected)).toMatchObject({ rows: 0, days: 1 });
    const rows = await reconcile('startDate=2024-11-01&endDate=2024-11-01');
    expect(billsOf(rows).map(({ source }) => source)).toEqual(['openai-usage']);
  });

  test('200: rows of the same day and model are added up', async () => {
    const [bucket] = ANTHROPIC_COSTS.data;
    const input = bucket?.results[0];
    const results = [input, { ...input, amount: '1000', token_type: 'output_tokens' }];
    const bill = { ...ANTHROPIC_COSTS, data: [{ ...bucket, results }] };
    expect(await importBill('anthropic-costs', bill)).toMatchObject({ rows: 1, days: 1 });
    const rows = await reconcile('group=model&startDate=2025-08-01&endDate=2025-08-01');
    expect(billsOf(rows)).toMatchObject([{ source: 'anthropic-costs', amount: 11.237_891_2 }]);
  });

  test('200: differences of the day, by channel and by model', async () => {
    const [item] = OPENROUTER_ACTIVITY.data;
    const dated = { ...item, model: 'openai/gpt-4.1-2025-04-14', usage: 3 };
    const other = { ...item, model: 'openai/o9', usage: 0.5 };
    await importBill('openrouter-activity', ofToday({ data: [{ ...item }, dated, other] }));
    const [whole, ...rest] = await reconcile(`channel=reseller&startDate=${today}`);
    expect(rest).toEqual([]);
    expect(whole?.billed).toMatchObject([{ source: 'openrouter-activity', amount: 3.515 }]);
    expect(whole?.difference?.to_list_price).toBeCloseTo(
      3.515 - (whole?.recorded.list_price ?? 0),
      9,
    );
    // One call told no price.
    expect(whole?.difference?.to_paid).toBeNull();
    const rows = await reconcile(`group=model&channel=reseller&startDate=${today}`);
    expect(rows.map(({ model, provider_model }) => [model, provider_model])).toEqual([
      ['gpt-4.1', null],
      [null, 'openai/o9'],
    ]);
    expect(rows[0]?.billed[0]?.amount).toBe(3.015);
    expect(rows[1]?.difference).toEqual({ to_list_price: 0.5, to_paid: 0.5 });
  });

  test('400: what is no bill of one day each', async () => {
    const hour = structuredClone(OPENAI_COSTS) as { data: { end_time: number }[] };
    for (const bucket of hour.data) bucket.end_time -= 3_600;
    const euros = structuredClone(ANTHROPIC_COSTS);
    for (const bucket of euros.data) for (const each of bucket.results) each.currency = 'EUR';
    const many = {
      data: Array.from({ length: 5_001 }, (_, at) => ({
        ...{ ...OPENROUTER_ACTIVITY.data[0], model: `model-${at}` },
      })),
    };
    const cases: [string, object, string][] = [
      ['openai-costs', hour, 'data.start_time'],
      ['anthropic-costs', euros, 'data.currency'],
      ['openrouter-activity', many, 'data'],
      ['openrouter-activity', { data: [{ date: 'x' }] }, 'data.0.model'],
      ['openai-costs', { error: 'no' }, 'data'],
      ['deepl', {}, 'source'],
    ];
    for (const [source, bill, param] of cases) {
      const path = `/provider-bills?channel=reseller&source=${source}`;
      const error = await errorOf(await operator(path, bill), 400);
      expect([source, error.param]).toEqual([source, param]);
    }
  });

  test('400, 401, 404: a wrong range, another credential, no such channel', async () => {
    for (const query of [
      'startDate=2026-01-01&endDate=2026-03-01',
      'startDate=2026-01-01T01:00:00Z',
      'group=key',
      'x=1',
    ]) {
      expect((await operator(`/usage-reconciliation?${query}`)).status).toBe(400);
    }
    const path = '/provider-bills?channel=none&source=openai-costs';
    expect((await operator(path, OPENAI_COSTS)).status).toBe(404);
    for (const token of [weir.api_key, weir.management_token]) {
      expect((await operator('/usage-reconciliation', undefined, token)).status).toBe(401);
      expect((await operator(path, OPENAI_COSTS, token)).status).toBe(401);
    }
  });
});
