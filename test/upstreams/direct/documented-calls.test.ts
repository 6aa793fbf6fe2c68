/**
 * Embeddings, audio, rerank and translation as documentation shows them: the simulator takes each request, Weir sends
 * the same one for its own route, and the client gets the documented answer at the vendor's price.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';
import { CHAT_WITNESSES } from '../chat/witnesses/table.ts';
import { DOCUMENTED_CALLS, type DocumentedCall } from './documented-calls.ts';

setDefaultTimeout(60_000);

const nameOf = (at: number) => `documented-${at}`;
const SOUND = new File([Buffer.from('RIFF')], 'speech.mp3', { type: 'audio/mpeg' });

interface Received {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}
const received = new Map<number, Received>();
const provider = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1' },
  async fetch(request) {
    const [, first = '', ...rest] = new URL(request.url).pathname.split('/');
    const isForm = request.headers.get('content-type')?.startsWith('multipart/') === true;
    const body = isForm ? Object.fromEntries(await request.formData()) : await request.json();
    received.set(Number(first), { path: `/${rest.join('/')}`, body: body as Received['body'] });
    const { answer } = DOCUMENTED_CALLS[Number(first)] as DocumentedCall;
    return answer instanceof Uint8Array
      ? new Response(answer, { headers: { 'content-type': 'audio/mpeg' } })
      : Response.json(answer);
  },
});

const DECLARED = new Map(builtInModels().map((model) => [model.id, model]));

function configuration(): string {
  const channels = DOCUMENTED_CALLS.map(({ protocol, model }, at) => ({
    ...{ id: nameOf(at), protocol, base_url: `${provider.url.origin}/${at}`, api_key: 'key' },
    models: { [nameOf(at)]: model },
  }));
  const models = DOCUMENTED_CALLS.map(({ model }, at) => {
    // A configuration may not have the offers of a direct model.
    const { offers: _, ...declared } = { ...DECLARED.get(model) };
    return { ...declared, id: nameOf(at), aliases: [] };
  });
  return JSON.stringify({ channels, models });
}

let weir: RunningWeir;
let simulator: RunningSimulator;
let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  simulator = await startSimulator();
  fresh = await createTestDatabase();
  database = connectDatabase(fresh.url, { pool: 'single' });
  weir = await startWeir({ config: configuration(), env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await provider.stop(true);
  await database.close();
  await fresh.drop();
});

/** Sends a body as JSON, or as a form with a sound. */
function post(url: string, headers: object, body: object, form = false): Promise<Response> {
  if (!form) {
    const type = { 'content-type': 'application/json' };
    const text = JSON.stringify(body);
    return fetch(url, { method: 'POST', headers: { ...headers, ...type }, body: text });
  }
  const all = new FormData();
  all.set('file', SOUND);
  for (const [name, value] of Object.entries(body)) all.set(name, String(value));
  return fetch(url, { method: 'POST', headers: { ...headers }, body: all });
}

const bearer = { authorization: 'Bearer sim-documented' };
const SIMULATED: Record<string, { base: string; headers: object }> = {
  openai: { base: '/openai/v1', headers: bearer },
  gemini: { base: '/google/v1beta', headers: { 'x-goog-api-key': 'sim-documented' } },
  cohere: { base: '/cohere', headers: bearer },
  deepl: { base: '/deepl', headers: { authorization: 'DeepL-Auth-Key sim-documented' } },
};

const ROWS = DOCUMENTED_CALLS.map((each, at) => [each.vendor, each.source, at, each] as const);

describe('the simulator takes the documented request', () => {
  test.each(ROWS)('%s (%s) %i', async (_vendor, _source, _at, each) => {
    const { base = '', headers = {} } = SIMULATED[each.protocol] ?? {};
    const requests = (each.body['requests'] as object[] | undefined)?.map((request) => ({
      ...{ ...request, model: `models/${each.model}` },
    }));
    const model = each.protocol === 'deepl' || requests ? {} : { model: each.model };
    const body = { ...model, ...each.body, ...(requests ? { requests } : {}) };
    const response = await post(simulator.url + base + each.path, headers, body, each.form);
    expect({ status: response.status, text: response.ok ? '' : await response.text() }).toEqual({
      ...{ status: 200, text: '' },
    });
  });
});

/** Returns a value without the names of models and the sound, at any depth. */
function without(value: unknown, names: readonly string[]): unknown {
  const dropped = ['model', 'file', ...names];
  return JSON.parse(
    JSON.stringify(value, (name, each: unknown) => (dropped.includes(name) ? undefined : each)),
  );
}

describe('Weir sends the documented request, and gives the documented answer', () => {
  test.each(ROWS)('%s (%s) %i', async (_vendor, _source, at, each) => {
    const { route, call, form, path, body, more = [], gives, usd } = each;
    const headers = { authorization: `Bearer ${weir.api_key}` };
    const response = await post(
      weir.base_url + route,
      headers,
      { model: nameOf(at), ...call },
      form,
    );
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 200 });
    const sent = received.get(at);
    expect(sent?.path).toBe(path);
    expect(without(sent?.body, more)).toEqual(without(body, []));
    if (typeof gives === 'string') expect(text).toBe(gives);
    else expect(JSON.parse(text)).toMatchObject(gives);
    const [line, ...others] = await database.sql`
      select charged_nano_usd::int8 as charged, estimated from usage_line
      where model = ${nameOf(at)}`;
    expect(others).toEqual([]);
    if (Number.isNaN(usd)) expect(line?.['estimated']).toBe(true);
    else expect(line?.['charged']).toBe(Math.ceil(Number((usd * 1e9).toFixed(3))));
  });
});

test('the table of witnesses has the number of calls of Cohere and DeepL', () => {
  for (const vendor of ['Cohere', 'DeepL']) {
    const calls = DOCUMENTED_CALLS.filter((each) => each.vendor === vendor).length;
    const row = CHAT_WITNESSES.find((each) => each.provider === vendor);
    expect(row?.payloads).toMatchObject({ requests: calls, answers: calls });
  }
});
