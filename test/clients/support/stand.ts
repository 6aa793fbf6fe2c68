/** A Weir with a GPT, a Claude and a Gemini model, whose providers are the simulator. */
import { expect } from 'bun:test';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

/**
 * The model of each channel, with the provider's prices in USD per million tokens (openai.com/api/pricing,
 * claude.com/pricing, ai.google.dev/gemini-api/docs/pricing). GPT is served in both formats of OpenAI.
 */
const MODELS = {
  'gpt-5.4': { protocol: 'openai-responses', path: '/openai/v1', usd: [2.5, 15] },
  'gpt-5.4-mini': { protocol: 'openai', path: '/openai/v1', usd: [0.75, 4.5] },
  'claude-sonnet-4-5': { protocol: 'anthropic', path: '/anthropic', usd: [3, 15] },
  'gemini-2.5-flash': { protocol: 'gemini', path: '/google/v1beta', usd: [0.3, 2.5] },
} as const;
export type Model = keyof typeof MODELS;
export const MODEL_NAMES = Object.keys(MODELS) as Model[];

const channelOf = (model: string) => model.replaceAll('.', '-');

const SEARCH_NANO_USD = 10_000_000;

export interface Stand {
  weir: RunningWeir;
  simulator: RunningSimulator;
  database: TestDatabase;
  stop(): Promise<void>;
}

export async function startStand(): Promise<Stand> {
  const [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  const channels = Object.entries(MODELS).map(([model, { protocol, path }]) => ({
    ...{ id: channelOf(model), protocol, base_url: simulator.url + path },
    ...{ api_key: `sim-${channelOf(model)}`, models: { [model]: model } },
  }));
  const weir = await startWeir({
    config: JSON.stringify({ channels, roles: { standard: 1_000_000 } }),
    env: { DATABASE_URL: database.url },
  });
  const stop = async () => {
    await weir.stop();
    await simulator.stop();
    await database.drop();
  };
  return { weir, simulator, database, stop };
}

/** Creates an API key, so that each test has a bill of its own. */
export async function newKey({ weir }: Stand): Promise<{ id: string; key: string }> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: '{}',
  });
  return response.json() as Promise<{ id: string; key: string }>;
}

/** What a client counted itself. `input` has all input tokens. */
export interface Count {
  input: number;
  output: number;
  /** Web searches of the provider. */
  searches?: number;
  /** The price, if the client knows it. */
  usd?: number;
}

/** The provider's prices of a model's input and output, USD per million tokens. */
export function usdOf(model: Model): readonly [input: number, output: number] {
  return MODELS[model].usd;
}

/** Fails unless the client, the ledger and the provider's books count the same, at the provider's price. */
export async function expectSameBill(
  { database, simulator }: Stand,
  key_id: string,
  model: Model,
  { searches = 0, usd, ...counted }: Count,
): Promise<void> {
  const { totals, calls } = await simulator.closedBooks({ account: channelOf(model) });
  expect(calls.map(({ outcome }) => outcome)).toEqual(calls.map(() => 'whole'));
  expect(counted).toEqual({ input: totals.prompt_tokens, output: totals.completion_tokens });
  const [row] = await database.sql<
    { calls: number; input: number; output: number; nano: number }[]
  >`
    select count(*)::int4 as calls, sum(input_tokens)::int4 as input,
      sum(output_tokens)::int4 as output, sum(charged_nano_usd)::int8 as nano
    from usage_line where key_id = ${key_id}`;
  const [input_usd, output_usd] = usdOf(model);
  const tokens_nano = (counted.input * input_usd + counted.output * output_usd) * 1_000;
  const nano = Math.round(tokens_nano + searches * SEARCH_NANO_USD);
  expect(row).toEqual({ calls: calls.length, ...counted, nano });
  if (usd !== undefined) expect(Math.round(usd * 1e9)).toBe(nano);
  expect(await findMoneyFaults(database.sql)).toEqual([]);
}
