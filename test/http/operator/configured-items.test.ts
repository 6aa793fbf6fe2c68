/** Models, prices, routing and presets that operators set by a route, on two replicas. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatOn } from '../../support/channel-world.ts';
import { errorOf } from '../../support/envelope.ts';
import { OperatorClient } from '../../support/operator-client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../../support/throwaway.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

interface Item {
  id: string;
  source: string;
  wins: { rule: string; over: string[]; members: Record<string, string> };
  value: Record<string, unknown>;
  row: { value: object; problem: string | null } | null;
}

let simulator: RunningSimulator;
let database: TestDatabase;
let folder: string;
let replicas: [RunningWeir, RunningWeir];
const itemsOf = (collection: string, replica = 0) =>
  new OperatorClient<Item>(collection, () => replicas[replica] as RunningWeir);
const models = itemsOf('models');
const prices = itemsOf('prices');
const routing = itemsOf('routing');
const presets = itemsOf('presets');

const FILE = () => ({
  channels: [
    {
      ...{ id: 'main', protocol: 'openai', base_url: simulator.openai_url, api_key: 'sim-main' },
      models: { 'gpt-4o': 'gpt-4o', 'gpt-4o-mini': 'gpt-4o-mini' },
    },
    {
      ...{ id: 'pictures', protocol: 'openai-images', base_url: simulator.openai_url },
      ...{ api_key: 'sim-pictures', models: { 'gpt-image-1': 'a', 'gpt-image-2': 'b' } },
    },
  ],
  models: [{ id: 'gpt-4o-mini', context_window: 64_000, routing: { policy: 'priority' } }],
});
const writeFile = (file: object) => writeFileSync(join(folder, 'weir.yaml'), JSON.stringify(file));

beforeAll(async () => {
  simulator = await startSimulator();
  database = await createTestDatabase();
  folder = throwawayFolder('configured-items');
  writeFile(FILE());
  const env = {
    ...{ DATABASE_URL: database.url, WEIR_CONFIG: join(folder, 'weir.yaml') },
    WEIR_SECRET_KEY: 'the secret key of both replicas, 32 characters',
  };
  replicas = [await startWeir({ env }), await startWeir({ env })];
});
afterAll(async () => {
  for (const weir of replicas) await weir.stop();
  await simulator.stop();
  await database.drop();
  removeFolder(folder);
});
afterEach(async () => {
  const [weir] = replicas;
  const made = new OperatorClient<object>('channels', () => weir);
  if ((await made.send('GET', '/house')).status === 200) await made.ask('DELETE', '/house');
  for (const each of [presets, routing, prices, models]) {
    const { data } = await each.ask<{ data: Item[] }>('GET');
    for (const { id, row } of data) if (row) await each.ask('DELETE', `/${encodeURIComponent(id)}`);
  }
});

const PRICE = { input_usd_per_mtok: 3, output_usd_per_mtok: 30 };
const costOn = async (weir: RunningWeir, model = 'gpt-4o') => {
  const response = await fetch(`${weir.base_url}/v1/models/${model}`, {
    headers: { authorization: `Bearer ${weir.api_key}` },
  });
  const { weir: own } = (await response.json()) as { weir?: { pricing: object } };
  return own?.pricing;
};

test('a price works on every replica within a second, and its charge is that price', async () => {
  const before = await prices.ask('GET', '/gpt-4o');
  expect(before).toMatchObject({
    ...{ object: 'price', id: 'gpt-4o', source: 'catalogue', row: null },
    wins: { over: [], members: { price: 'catalogue' } },
  } as object);
  expect(before.wins.rule).toContain('weir.yaml wins over a row');
  const began = performance.now();
  const after = await prices.ask('PATCH', '/gpt-4o', { price: PRICE });
  expect(after).toMatchObject({
    ...{ source: 'row', value: { price: PRICE }, row: { value: { price: PRICE }, problem: null } },
    wins: { over: ['catalogue'] },
  } as object);
  // This replica has it already.
  expect(await costOn(replicas[0])).toEqual(PRICE);
  await until('the other replica has the price', async () => {
    return Bun.deepEquals(await costOn(replicas[1]), PRICE);
  });
  expect(performance.now() - began).toBeLessThan(1_000);
  const response = await chatOn(replicas[1]);
  const { usage } = (await response.json()) as {
    usage: { prompt_tokens: number; completion_tokens: number };
  };
  const [line] = await database.sql<{ charged: number }[]>`
    select charged_nano_usd as charged from usage_line order by created_at desc limit 1`;
  expect(line?.charged).toBe(usage.prompt_tokens * 3_000 + usage.completion_tokens * 30_000);
  await prices.ask('DELETE', '/gpt-4o');
  await until('the price of the catalogue is used again', async () => {
    return Bun.deepEquals(await costOn(replicas[1]), before.value['price']);
  });
});

test('a new model with its channel serves calls on both replicas, and goes in order', async () => {
  const model = {
    ...{ id: 'house/model 1', category: 'chat', owned_by: 'house', family: 'openai-chat' },
    price: PRICE,
  };
  const made = await models.ask('POST', '', model);
  expect(made).toMatchObject({ id: model.id, source: 'row', value: { owned_by: 'house' } });
  const channel = {
    ...{ id: 'house', protocol: 'openai', base_url: simulator.openai_url, api_key: 'sim-house' },
    models: { [model.id]: 'physical' },
  };
  const channels = new OperatorClient<object>('channels', () => replicas[0]);
  await channels.ask('POST', '', channel);
  await until('both replicas serve the model', async () => {
    const answers = await Promise.all(replicas.map((weir) => chatOn(weir, model.id)));
    return answers.every(({ status }) => status === 200);
  });
  const path = `/${encodeURIComponent(model.id)}`;
  await models.ask('PATCH', path, { context_window: 9_000 });
  const used = await errorOf(await models.send('DELETE', path), 409);
  expect(used.message).toContain('house');
  await channels.ask('DELETE', '/house');
  await prices.ask('PATCH', path, { price: { ...PRICE, output_usd_per_mtok: 31 } });
  expect((await models.send('DELETE', path)).status).toBe(409);
  expect(await prices.ask('GET', path)).toMatchObject({
    value: { price: { output_usd_per_mtok: 31 } },
  });
  await prices.ask('DELETE', path);
  await models.ask('DELETE', path);
  expect((await models.send('GET', path)).status).toBe(404);
});

test('routing and presets are used, and shown with the layer that wins', async () => {
  const set = await routing.ask('PATCH', '/gpt-4o', { policy: 'latency', hedge: true });
  expect(set).toMatchObject({ source: 'row', value: { policy: 'latency', hedge: true } });
  expect(await routing.ask('PATCH', '/gpt-4o', { hedge: null })).toMatchObject({
    value: { policy: 'latency' },
  });
  const [key] = await database.sql<{ id: string }[]>`select id from api_key`;
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] };
  const dryRun = { api_key_id: key?.id, path: '/v1/chat/completions', body };
  const plan = await itemsOf('dry-run').ask<{ routing: object }>('POST', '', dryRun);
  expect(plan.routing).toMatchObject({ policy: 'latency', hedge: false });
  const usual = await presets.ask('GET', '/image');
  const other = usual.value['model'] === 'gpt-image-1' ? 'gpt-image-2' : 'gpt-image-1';
  expect(await presets.ask('PATCH', '/image', { model: other })).toMatchObject({
    ...{ source: 'row', value: { model: other }, wins: { over: ['catalogue'] } },
  } as object);
  const picture = { ...dryRun, path: '/v1/images/generations', body: { prompt: 'A lighthouse' } };
  expect(await itemsOf('dry-run').ask('POST', '', picture)).toMatchObject({
    model: other,
  } as object);
});

test('weir.yaml wins, member by member, also a file that comes later', async () => {
  const shown = await models.ask('PATCH', '/gpt-4o-mini', { max_output_tokens: 1_234 });
  expect(shown).toMatchObject({
    ...{ source: 'file', value: { context_window: 64_000, max_output_tokens: 1_234 } },
    wins: {
      over: ['row', 'catalogue'],
      members: { context_window: 'file', max_output_tokens: 'row' },
    },
  } as object);
  const fixed = await models.send('PATCH', '/gpt-4o-mini', { context_window: 1 });
  expect((await errorOf(fixed, 409)).param).toBe('context_window');
  expect((await routing.send('PATCH', '/gpt-4o-mini', { policy: 'price' })).status).toBe(409);
  await prices.ask('PATCH', '/gpt-4o', { price: PRICE });
  const file = FILE();
  const price = { input_usd_per_mtok: 7, output_usd_per_mtok: 70 };
  writeFile({ ...file, models: [...file.models, { id: 'gpt-4o', price }] });
  await until('the file is applied', async () => {
    return Bun.deepEquals(await costOn(replicas[0]), price);
  });
  expect(await prices.ask('GET', '/gpt-4o')).toMatchObject({
    ...{ source: 'file', value: { price }, wins: { over: ['row', 'catalogue'] } },
    row: { value: { price: PRICE } },
  } as object);
  writeFile(file);
  await until('the row is used again', async () => {
    return Bun.deepEquals(await costOn(replicas[0]), PRICE);
  });
});

test('412, take-back and repeats work as for channels', async () => {
  const read = await prices.send('GET', '/gpt-4o');
  const etag = { 'if-match': read.headers.get('etag') ?? '' };
  const first = await prices.send('PATCH', '/gpt-4o', { price: PRICE }, etag);
  expect(first.status).toBe(200);
  const late = await prices.send('PATCH', '/gpt-4o', { price: PRICE }, etag);
  expect((await errorOf(late, 412)).param).toBe('If-Match');
  expect((await prices.send('DELETE', '/gpt-4o', undefined, etag)).status).toBe(412);
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const more = { price: { ...PRICE, input_usd_per_mtok: 4 } };
  const changed = await prices.ask('PATCH', '/gpt-4o', more, headers);
  expect(await prices.ask('PATCH', '/gpt-4o', more, headers)).toEqual(changed);
  const changes = new OperatorClient<{ data: { seq: number; action: string }[] }>(
    ...(['configuration/changes', () => replicas[0]] as const),
  );
  const { data } = await changes.ask('GET', '?kind=price&limit=2');
  expect(data.map(({ action }) => action)).toEqual(['price.update', 'price.create']);
  for (const { seq } of data) await changes.ask('POST', `/${seq}/take-back`);
  expect(await prices.ask('GET', '/gpt-4o')).toMatchObject({ source: 'catalogue', row: null });
});

test('a row that no longer fits is not used, and says why', async () => {
  await database.sql`
    insert into configured_item (kind, id, value) values
      ('price', 'gpt-4o', '{"price":{"usd_per_image":1}}'), ('preset', 'image', '{"model":"gone"}'),
      ('routing', 'gone', '{"policy":"price"}')`;
  await presets.ask('PATCH', '/video', { model: 'x' }).catch(() => undefined);
  await until('the rows are read', async () => (await presets.ask('GET', '/image')).row !== null);
  await routing.ask('PATCH', '/gpt-4o', { policy: 'price' });
  expect((await prices.ask('GET', '/gpt-4o')).row?.problem).toContain('input_usd_per_mtok');
  expect((await presets.ask('GET', '/image')).row?.problem).toContain('model');
  expect((await chatOn(replicas[0])).status).toBe(200);
  await database.sql`delete from configured_item`;
  await routing.ask('PATCH', '/gpt-4o', { policy: 'weighted' });
});

test.each([
  ['prices', 'PATCH', '/gpt-4o', { price: { usd_per_image: 1 } }, 400, 'price.input_usd_per_mtok'],
  [
    'prices',
    'PATCH',
    '/gpt-4o',
    { price: { input_usd_per_mtok: -1 } },
    400,
    'price.input_usd_per_mtok',
  ],
  ['prices', 'PATCH', '/gpt-4o', { cost: 1 }, 400, 'cost'],
  ['prices', 'PATCH', '/gpt-4o', {}, 400, 'body'],
  ['prices', 'PATCH', '/gpt-40', { price: PRICE }, 404, 'id'],
  ['prices', 'DELETE', '/gpt-4o', undefined, 404, 'id'],
  ['routing', 'PATCH', '/gpt-4o', { policy: 'fastest' }, 400, 'policy'],
  ['presets', 'PATCH', '/chat', { model: 'gpt-4o' }, 404, 'id'],
  ['presets', 'PATCH', '/image', { model: 'gpt-4o' }, 400, 'model'],
  ['models', 'POST', '', { id: 'new' }, 400, 'category'],
  ['models', 'POST', '', { id: 'gpt-4o', price: PRICE }, 409, 'id'],
  ['models', 'POST', '', { price: PRICE }, 400, 'id'],
  ['models', 'PATCH', '/gpt-4o', { category: 'image' }, 400, 'category'],
] as const)('%s %s %s %j: %i names %s', async (collection, method, path, body, status, param) => {
  const error = await errorOf(await itemsOf(collection).send(method, path, body), status);
  expect(error.param).toBe(param);
});
