/**
 * Claude Code with Weir's cache on: its prompts reach the provider untouched, with its own marks for the
 * provider's cache. The same task again is answered from Weir's cache if the client wants that.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Server } from 'bun';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { installedClaude, runClaude } from './support/claude-code.ts';

setDefaultTimeout(240_000);

const MODEL = 'claude-sonnet-4-5';

/** A proxy that notes each body that passes. */
interface Tap {
  readonly url: string;
  readonly bodies: string[];
  stop(): unknown;
}

function tap(target: () => string): Tap {
  const bodies: string[] = [];
  const server: Server<undefined> = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      if (request.method === 'POST' && pathname.endsWith('/messages')) bodies.push(body);
      const headers = new Headers(request.headers);
      headers.delete('host');
      headers.set('accept-encoding', 'identity');
      const { method } = request;
      const init = { method, headers, ...(method === 'POST' ? { body } : {}) };
      return fetch(target() + pathname + search, init);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, bodies, stop: () => server.stop(true) };
}

let program: string;
let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
/** What Claude Code sends to Weir, and what Weir sends to the provider. */
let [client, provider]: Tap[] = [];
beforeAll(async () => {
  [program, simulator, database] = await Promise.all([
    ...[installedClaude(), startSimulator(), createTestDatabase()],
  ] as const);
  provider = tap(() => simulator.anthropic_url);
  client = tap(() => weir.base_url);
  weir = await startWeir({
    config: JSON.stringify({
      channels: [
        {
          ...{ id: 'anthropic', protocol: 'anthropic', base_url: provider.url },
          ...{ api_key: 'sim-anthropic', models: { [MODEL]: MODEL } },
        },
      ],
      roles: { standard: 1_000_000 },
    }),
    env: { DATABASE_URL: database.url, WEIR_CACHE: 'on' },
  });
});
afterAll(async () => {
  await weir.stop();
  for (const each of [client, provider]) await each?.stop();
  await simulator.stop();
  await database.drop();
});

/** Runs a task twice in the same folder. Returns the bodies of both runs on both sides. */
async function runTwice(prompt: string, headers: Record<string, string>) {
  if (!client || !provider) throw new Error('nothing is tapped');
  const home = throwawayFolder('claude');
  const runs = [];
  try {
    for (let run = 0; run < 2; run += 1) {
      client.bodies.length = 0;
      provider.bodies.length = 0;
      const result = await runClaude(program, {
        ...{ base_url: client.url, api_key: weir.api_key, model: MODEL, prompt, home, headers },
      });
      expect(result).toMatchObject({ subtype: 'success', is_error: false });
      runs.push({ result, sent: [...client.bodies], received: [...provider.bodies] });
    }
  } finally {
    removeFolder(home);
  }
  return runs;
}

/** All marks of a body for the provider's own cache. */
const marksOf = (body: string) => body.match(/"cache_control":\{[^}]*\}/g) ?? [];

test('its prompts reach the provider as they were sent', async () => {
  const [first, second] = await runTwice('Say hello. [[sim tokens=30]]', {});
  expect(first?.sent.length).toBeGreaterThan(0);
  expect(first?.received).toEqual(first?.sent as string[]);
  expect(first?.sent.flatMap(marksOf).length).toBeGreaterThan(0);
  expect(second?.result.result).toBe(first?.result.result as string);
});

test('with response_only, the same task again reaches no provider, and costs nothing', async () => {
  const headers = { 'x-weir-cache-control': 'response_only' };
  const charged = async () => {
    const [row] = await database.sql<{ nano_usd: number }[]>`
      select coalesce(sum(charged_nano_usd), 0)::int8 as nano_usd from usage_line`;
    return row?.nano_usd ?? 0;
  };
  const before = await charged();
  const [first, second] = await runTwice('Say goodbye. [[sim tokens=30]]', headers);
  expect(first?.received).toEqual(first?.sent as string[]);
  expect(first?.received.length).toBeGreaterThan(0);
  expect(second?.received).toEqual([]);
  expect(second?.result.result).toBe(first?.result.result as string);
  // Claude Code counts what the first answer used.
  expect(second?.result.usage).toMatchObject({
    output_tokens: first?.result.usage['output_tokens'] as number,
  });
  const paid = (await charged()) - before;
  expect(paid).toBe(Math.round((first?.result.total_cost_usd ?? 0) * 1e9));
});
