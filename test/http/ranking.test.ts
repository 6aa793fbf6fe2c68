/** The recommendation as a client sees it, before and after failures of upstreams. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

const CHANNELS = [
  ['openai-images', '/openai/v1', 'gpt-image-1'],
  ['xai', '/xai/v1', 'grok-imagine-image'],
  ['stability', '/stability', 'stable-diffusion-3.5-large'],
] as const;
const MIN_SAMPLES = 3;

let simulator: RunningSimulator;
let weir: RunningWeir;
let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  simulator = await startSimulator();
  const fresh = await createTestDatabase();
  drop = fresh.drop;
  database = connectDatabase(fresh.url, { pool: 'single' });
  const channels = CHANNELS.map(([protocol, path, model]) => ({
    ...{ id: protocol, protocol, base_url: simulator.url + path, api_key: `sim-${protocol}` },
    models: { [model]: model === 'stable-diffusion-3.5-large' ? 'sd3.5-large' : model },
  }));
  const config = JSON.stringify({ channels, ranking: { min_samples: MIN_SAMPLES } });
  weir = await startWeir({ config, env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await database.close();
  await drop();
  await simulator.stop();
});

interface Preference {
  preferred_rank: number;
  success_rate_24h: number;
  sample_count_24h: number;
  status: string;
  updated_at: string;
  basis: object;
}
interface Model {
  id: string;
  weir: { category: string; agent_preferences: Record<string, Preference> };
}

function get(path: string): Promise<Response> {
  return fetch(weir.base_url + path, { headers: { authorization: `Bearer ${weir.api_key}` } });
}

async function recommended(): Promise<Model[]> {
  const { data } = (await (await get('/v1/models?recommended_for=image')).json()) as {
    data: Model[];
  };
  return data;
}

async function createImage(model: string, prompt = 'A lighthouse'): Promise<number> {
  const response = await fetch(`${weir.base_url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt }),
  });
  await response.text();
  return response.status;
}

/** Makes the next ranking due at once, and waits until it has these samples. */
async function nextRanking(samples: Record<string, number>): Promise<Model[]> {
  await Bun.sleep(6_000);
  await database.sql`update ranking set updated_at = now() - interval '2 minutes'`;
  return until('the ranking has the outcomes', async () => {
    const models = await recommended();
    const has = models.every(
      ({ id, weir: { agent_preferences: says } }) =>
        says['image']?.sample_count_24h === (samples[id] ?? 0),
    );
    return has && models;
  });
}

test('the order follows success, the best model works, and client errors do not count', async () => {
  const before = await recommended();
  expect(before.map(({ id }) => id).sort()).toEqual(CHANNELS.map(([, , id]) => id).sort());
  for (const { weir: metadata } of before) {
    expect(metadata.agent_preferences['image']).toMatchObject({
      ...{ status: 'insufficient_samples', sample_count_24h: 0, success_rate_24h: 0 },
      basis: { score_source: 'gateway_outcomes_24h', channel_id: null, physical_model: null },
    });
  }
  for (let count = 0; count < 4; count += 1) {
    for (const [, , model] of CHANNELS) expect(await createImage(model)).toBe(200);
  }
  // Client errors and filtered content do not count for a model.
  await createImage('grok-imagine-image', 'A lighthouse [[sim fail=moderation]]');
  expect(await createImage('grok-imagine-image', '')).toBe(400);
  const worst = 'gpt-image-1';
  for (let count = 0; count < 2; count += 1) {
    expect(await createImage(worst, 'A lighthouse [[sim no_url=1]]')).toBeLessThan(600);
  }
  // A throttled provider account is a failure of the provider, not of the client.
  expect(await createImage(worst, 'A lighthouse [[sim status=429 retry_after=1]]')).toBe(429);
  const after = await nextRanking({
    ...{ 'grok-imagine-image': 4, 'stable-diffusion-3.5-large': 4, [worst]: 7 },
  });
  expect(after.at(-1)?.id).toBe(worst);
  expect(
    after.map(({ weir: metadata }) => metadata.agent_preferences['image']?.preferred_rank),
  ).toEqual([...[1, 2, 3]]);
  expect(after.map(({ weir: metadata }) => metadata.agent_preferences['image']?.status)).toEqual([
    ...['ready', 'ready', 'ready'],
  ]);
  expect(after.at(-1)?.weir.agent_preferences['image']?.success_rate_24h).toBeCloseTo(4 / 7, 3);
  expect(await createImage(after[0]?.id ?? '')).toBe(200);
  // The detail has the same rank, and names no channel (P5).
  const text = await (await get(`/v1/models/${worst}`)).text();
  expect(JSON.parse(text).weir.agent_preferences).toEqual(after.at(-1)?.weir.agent_preferences);
  for (const hidden of ['openai-images', '127.0.0.1', 'sim-']) {
    expect(text).not.toContain(`"${hidden}"`);
  }
});

test('400: unknown scenes and categories', async () => {
  for (const query of ['recommended_for=chat', 'recommended_for=images', 'category=pictures']) {
    const response = await get(`/v1/models?${query}`);
    const { error } = (await response.json()) as { error: { param: string } };
    expect({ status: response.status, param: error.param }).toEqual({
      ...{ status: 400, param: query.split('=')[0] as string },
    });
  }
});
