/** An exported `weir.yaml` does what the installation with rows does: a Weir starts from it, and is compared. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'yaml';
import { exportYaml } from '../../../src/config/export-yaml.ts';
import { type Installation, installationOf } from '../../../src/config/installation.ts';
import { parseDeclared, parseWeirYaml } from '../../../src/config/weir-yaml.ts';
import { OperatorClient } from '../../support/operator-client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

const PRICE = { input_usd_per_mtok: 3, output_usd_per_mtok: 30 };
const FILED_KEY = 'sim-canary-of-the-file';
const ROW_KEY = 'sim-canary-of-the-row';

let simulator: RunningSimulator;
let databases: [TestDatabase, TestDatabase];
let weir: RunningWeir;

const fileOf = () => `
channels:
  - { id: filed, protocol: openai, base_url: "${simulator.openai_url}/", api_key: env:FILED_KEY, weight: 2,
      cost_factor: 0.5, probe_s: 10, models: { gpt-4o: four-o, gpt-4o-mini: mini } }
models:
  - { id: gpt-4o, context_window: 64000 }
  - { id: own-model, category: chat, owned_by: own, family: openai-chat, price: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } }
default_models: { image: gpt-image-1 }
ranking: { min_samples: 7 }
cache: { hours: 3 }
own_keys: { fee_share: 0.05 }
roles: { standard: 5000, house: 12 }
`;

beforeAll(async () => {
  simulator = await startSimulator();
  databases = [await createTestDatabase(), await createTestDatabase()];
  const pictures = `
  - { id: pictures, protocol: openai-images, base_url: "${simulator.openai_url}", api_key: sim-literal, models: { gpt-image-1: a, gpt-image-2: b } }
models:`;
  weir = await startWeir({
    config: fileOf().replace('\nmodels:', pictures),
    env: { DATABASE_URL: databases[0].url, FILED_KEY },
  });
  const ask = (path: string, method: string, at: string, body?: object) =>
    new OperatorClient(path, () => weir).ask(method, at, body);
  const account = { protocol: 'openai', base_url: simulator.openai_url, api_key: ROW_KEY };
  await ask('models', 'POST', '', {
    ...{ id: 'house', category: 'chat', owned_by: 'house', family: 'openai-chat', price: PRICE },
    pricing_provenance: { source: 'the contract', date: '2026-11-01' },
  });
  const models = { house: 'physical', 'gpt-4o': 'four-o' };
  await ask('channels', 'POST', '', { ...account, id: 'made', priority: 1, models });
  await ask('channels', 'POST', '', { ...account, id: 'made-2', models: { 'gpt-4o': 'x' } });
  await ask('channels', 'POST', '/made-2/drain');
  await ask('prices', 'PATCH', '/gpt-4o-mini', { price: PRICE });
  await ask('prices', 'PATCH', '/house', { price: { ...PRICE, output_usd_per_mtok: 33 } });
  await ask('routing', 'PATCH', '/gpt-4o', { policy: 'price', hedge: true });
  await ask('models', 'PATCH', '/gpt-4o', { max_output_tokens: 4_321 });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  for (const database of databases) await database.drop();
});

async function exported(): Promise<string> {
  const client = new OperatorClient('configuration/export', () => weir);
  const response = await client.send('GET');
  expect([response.status, response.headers.get('content-type')]).toEqual([
    ...[200, 'application/yaml; charset=utf-8'],
  ]);
  return response.text();
}

/** Removes when a ranking was made, and who disabled a channel. */
function withoutTimes(value: unknown): unknown {
  const ignored = ['updated_at', 'reason'];
  return JSON.parse(
    JSON.stringify(value, (name, each) => (ignored.includes(name) ? undefined : each)),
  );
}

/** What a Weir does: its models, the order and price of calls, its channels and its limits. */
async function behaviour(of: RunningWeir, database: TestDatabase) {
  const get = async (path: string, token: string) => {
    const response = await fetch(of.base_url + path, {
      headers: { authorization: `Bearer ${token}` },
    });
    return response.json() as Promise<{ data: { id: string }[] }>;
  };
  const list = await get('/v1/models', of.api_key);
  const details = await Promise.all(
    list.data.map(({ id }) => get(`/v1/models/${encodeURIComponent(id)}`, of.api_key)),
  );
  const operator = (path: string) => get(`/v1/operator/${path}`, of.operator_token);
  const items = await Promise.all(
    ['models', 'prices', 'routing', 'presets'].map(async (collection) =>
      (await operator(collection)).data.map((each) => {
        const { id, value } = each as { id: string; value: object };
        return [collection, id, value];
      }),
    ),
  );
  const channels = (await operator('channels')).data.map((each) => {
    const shown = each as unknown as Record<string, unknown>;
    const { source, wins, replica, switch: _, created_at, api_key_changed_at, ...same } = shown;
    const { api_key_readable, enabled, state, ...rest } = same;
    // A channel that is switched off is disabled in the file.
    return { ...rest, is_on: enabled === true && state !== 'disabled' };
  });
  const [key] = await database.sql<{ id: string }[]>`select id from api_key`;
  const plans = await Promise.all(
    ['gpt-4o', 'gpt-4o-mini', 'house', 'own-model'].map(async (model) => {
      const body = { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 };
      const asked = { api_key_id: key?.id, path: '/v1/chat/completions', body };
      const plan = await new OperatorClient<Record<string, unknown>>('dry-run', () => of).ask(
        ...(['POST', '', asked] as const),
      );
      const { replica, api_key_id, organization_id, refusal, others, ...same } = plan;
      const skipped = (others as { id: string; reason: string }[]).map(({ id, reason }) => [
        ...[id, reason],
      ]);
      return { ...same, skipped, is_refused: refusal !== null };
    }),
  );
  return { list, details, items, channels, plans };
}

test('a Weir that starts from the export does the same, and has no row', async () => {
  const text = await exported();
  expect(text).not.toContain('canary');
  expect(text).not.toContain('sim-literal');
  const env = {
    ...{ DATABASE_URL: databases[1].url, FILED_KEY, WEIR_KEY_MADE: ROW_KEY },
    ...{ WEIR_KEY_MADE_2: ROW_KEY, WEIR_KEY_PICTURES: 'sim-literal' },
  };
  const second = await startWeir({ config: text, env });
  try {
    const [before, after] = [
      await behaviour(weir, databases[0]),
      await behaviour(second, databases[1]),
    ];
    expect(withoutTimes(after)).toEqual(withoutTimes(before));
    // The comparison saw what the rows do.
    const gpt = before.plans[0] as unknown as { channels: { id: string }[]; routing: object };
    expect(gpt.channels.map(({ id }) => id)).toEqual(['filed', 'made']);
    expect(gpt.routing).toMatchObject({ policy: 'price', hedge: true });
    const again = new OperatorClient('configuration/export', () => second);
    const body = (yaml: string) => parse(yaml);
    expect(body(await (await again.send('GET')).text())).toEqual(body(text));
  } finally {
    await second.stop();
  }
});

test('the export keeps what has no route: settings of the file, and the names of its variables', async () => {
  const yaml = parse(await exported());
  expect(yaml.channels[0]).toMatchObject({
    ...{ id: 'filed', api_key: 'env:FILED_KEY', cost_factor: 0.5, probe_s: 10, weight: 2 },
    base_url: simulator.openai_url,
  });
  expect(yaml.channels.find(({ id }: { id: string }) => id === 'made-2').enabled).toBe(false);
  expect(yaml).toMatchObject({
    ...{ ranking: { min_samples: 7 }, roles: { standard: 5000, house: 12 } },
    ...{ cache: { hours: 3 }, default_models: { image: 'gpt-image-1' } },
    own_keys: { fee_share: 0.05 },
  });
});

test('rows that do not fit are left out, and no two channels share a made name', () => {
  const file =
    'channels: [{ id: a, protocol: openai, base_url: "http://x.test/v1", api_key: env:WEIR_KEY_B_C, models: {} }]';
  const { yaml, references } = parseDeclared(file, { WEIR_KEY_B_C: 'k' }, 'weir.yaml');
  const row = (id: string) => ({ ...(yaml.channels[0] as Installation['channels'][0]), id });
  const items = [
    { kind: 'price' as const, id: 'gpt-4o', value: { price: { usd_per_image: 1 } } },
    { kind: 'routing' as const, id: 'gpt-4o', value: { policy: 'price' } },
  ];
  const now = installationOf(yaml, 'own', {
    ...{ rows: [row('b-c'), row('b_c')], items, references },
  });
  const text = exportYaml(now, new Set());
  expect(text).toContain('# The row of price gpt-4o does not fit');
  const names = ['WEIR_KEY_B_C', 'WEIR_KEY_B_C_2', 'WEIR_KEY_B_C_3'];
  const env = Object.fromEntries(names.map((name) => [name, name]));
  const { channels, models } = parseWeirYaml(text, env);
  expect(channels.map(({ api_key }) => api_key)).toEqual(names);
  expect(models).toEqual([{ id: 'gpt-4o', routing: { policy: 'price' } }]);
});
