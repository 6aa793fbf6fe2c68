/**
 * Claude Code on Claude models. The tests compare the tokens and the price that Claude Code prints
 * with the charge in Weir's ledger and with the provider's books.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { installedClaude, runClaude } from './support/claude-code.ts';

setDefaultTimeout(240_000);

const MODELS = ['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5'] as const;

let program: string;
let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
beforeAll(async () => {
  [program, simulator, database] = await Promise.all([
    ...[installedClaude(), startSimulator(), createTestDatabase()],
  ] as const);
  const channels = MODELS.map((model) => ({
    ...{ id: model, protocol: 'anthropic', base_url: simulator.anthropic_url },
    ...{ api_key: `sim-${model}`, models: { [model]: model } },
  }));
  weir = await startWeir({
    config: JSON.stringify({ channels, roles: { standard: 1_000_000 } }),
    env: { DATABASE_URL: database.url },
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await database.drop();
});

interface Key {
  id: string;
  key: string;
}

async function newKey(): Promise<Key> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: '{}',
  });
  return response.json() as Promise<Key>;
}

/** Returns how many nano-USD a key was charged, and for how many calls. */
async function chargedTo(id: string): Promise<{ calls: number; nano_usd: number }> {
  const [row] = await database.sql<{ calls: number; nano_usd: number }[]>`
    select count(*)::int4 as calls, sum(charged_nano_usd)::int8 as nano_usd
    from usage_line where key_id = ${id}`;
  return { calls: row?.calls ?? 0, nano_usd: row?.nano_usd ?? 0 };
}

test.concurrent.each(MODELS)('the bill of %s is what Claude Code counted itself', async (model) => {
  const { id, key } = await newKey();
  const prompt = 'Say hello. [[sim tokens=60 cached=700 cache_write=500 cache_write_1h=200]]';
  const result = await runClaude(program, {
    ...{ base_url: weir.base_url, api_key: key, model, prompt },
  });
  expect(result).toMatchObject({ type: 'result', subtype: 'success', is_error: false });
  expect(result.result).not.toBe('');

  const { calls, nano_usd } = await chargedTo(id);
  expect(calls).toBeGreaterThan(0);
  expect(nano_usd).toBeGreaterThan(0);
  expect(Math.round(result.total_cost_usd * 1e9)).toBe(nano_usd);

  const { totals } = await simulator.closedBooks({ account: model });
  expect(calls).toBe(totals.outcomes.whole);
  const counted = result.modelUsage[model];
  expect(Object.keys(result.modelUsage)).toEqual([model]);
  expect(counted?.outputTokens).toBe(totals.completion_tokens);
  expect(counted?.cacheReadInputTokens).toBe(totals.cached_tokens);
  expect(counted?.cacheCreationInputTokens).toBe(totals.cache_write_tokens);
  const { inputTokens = 0, cacheReadInputTokens = 0, cacheCreationInputTokens = 0 } = counted ?? {};
  expect(inputTokens + cacheReadInputTokens + cacheCreationInputTokens).toBe(totals.prompt_tokens);
  expect(await findMoneyFaults(database.sql)).toEqual([]);
});
