/**
 * P5, P12: a provider that makes images at once answers with an error that does not say whether it
 * made the image. Weir waits for a while, because the result may still come, and does not ask again.
 * Then the call fails free of charge. No response names the provider.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

const PHYSICAL = 'canary-model-image';

let simulator: RunningSimulator;
let weir: RunningWeir;
let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  simulator = await startSimulator();
  fresh = await createTestDatabase();
  database = connectDatabase(fresh.url, { pool: 'single' });
  const channel = {
    ...{ id: 'canary-channel', protocol: 'openai-images', api_key: 'sim-canary-key' },
    ...{ base_url: `${simulator.url}/openai/v1`, models: { 'gpt-image-2': PHYSICAL } },
  };
  const config = JSON.stringify({ channels: [channel], roles: { standard: 1_000_000 } });
  weir = await startWeir({ config, env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await database.close();
  await fresh.drop();
  await simulator.stop();
});

const ROUTES: Record<string, (prompt: string) => RequestInit> = {
  '/v1/images/generations': (prompt) => ({
    body: JSON.stringify({ model: 'gpt-image-2', prompt }),
    headers: { 'content-type': 'application/json' },
  }),
  '/v1/images/edits': (prompt) => {
    const form = new FormData();
    form.set('image', new File([new Uint8Array(1_000)], 'a.png', { type: 'image/png' }));
    form.set('model', 'gpt-image-2');
    form.set('prompt', prompt);
    return { body: form };
  },
};
const CASES = Object.keys(ROUTES).flatMap((path) =>
  ['status=500', 'status=502', 'lose=1', 'malformed=1'].map((directive) => [path, directive]),
);

test.concurrent.each(CASES)('POST %s after [[sim %s]]', async (path, directive) => {
  const request = () => {
    const { body, headers } = ROUTES[path as string]?.(`A house [[sim ${directive}]]`) ?? {};
    return fetch(weir.base_url + path, {
      ...{ method: 'POST', body: body ?? null },
      headers: { ...(headers as object), authorization: `Bearer ${weir.api_key}` },
    });
  };
  let response = await request();
  // The failures of the other calls may have opened the channel's circuit.
  while (response.status === 503) {
    await Bun.sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
    response = await request();
  }
  const text = await response.text();
  expect({ text, status: response.status }).toEqual({ text, status: 502 });
  expect(JSON.stringify([...response.headers]) + text).not.toMatch(/canary|SIM|sim-|127\.0\.0\.1/);
  const { error } = JSON.parse(text);
  expect(error).toMatchObject({ code: 'upstream_error', retryable: true });
});

test('P12: in the end nothing is charged, and no money is held', async () => {
  expect(await database.sql`select id from usage_line`).toHaveLength(0);
  const [row] = await database.sql`select sum(held_nano_usd)::int8 as held from organization`;
  expect(row?.['held']).toBe(0);
  expect(await findMoneyFaults(database.sql)).toEqual([]);
});
