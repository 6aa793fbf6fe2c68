/** Streams that break or are slow, as clients of every protocol see them over HTTP. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { residentMb } from '../../bench/process.ts';
import {
  ENDLESS_BYTES,
  type EndlessUpstream,
  startEndlessUpstream,
} from '../support/endless-upstream.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { startStalledClients } from '../support/stalled-clients.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

/** Enough for the first token of 36 streams on a busy machine. Each stalled stream takes this long. */
const TIMEOUT_MS = 6_000;
const BASES = { openai: '/openai/v1', anthropic: '/anthropic', gemini: '/google/v1beta' };
const FAMILIES = { openai: 'openai-chat', anthropic: 'anthropic-messages', gemini: 'gemini-chat' };
type Upstream = keyof typeof BASES;
const UPSTREAMS = Object.keys(BASES) as Upstream[];

let simulator: RunningSimulator;
let weir: RunningWeir;
let endless: EndlessUpstream;
beforeAll(async () => {
  simulator = await startSimulator();
  endless = startEndlessUpstream();
  // One channel for each pair, so that an open circuit affects no other pair.
  const served = [...PAIRS.map(([client, upstream]) => [client, upstream] as const), ...CALM];
  const config = {
    models: served.map(([client, upstream]) => ({
      ...{
        id: `${client}-${upstream}`,
        category: 'chat',
        owned_by: 'us',
        family: FAMILIES[upstream],
      },
      ...{ context_window: 200_000, max_output_tokens: 64_000 },
      price: { input_usd_per_mtok: 0.1, output_usd_per_mtok: 0.1 },
    })),
    channels: served.map(([client, upstream]) => ({
      ...{ id: `${client}-${upstream}`, protocol: upstream, api_key: `sim-${client}${upstream}` },
      ...{ timeout_ms: client === 'endless' ? 120_000 : TIMEOUT_MS, max_concurrency: 2_000 },
      base_url: client === 'endless' ? endless.url : simulator.url + BASES[upstream],
      models: { [`${client}-${upstream}`]: 'physical-sim' },
    })),
    roles: { standard: 1_000_000 },
  };
  weir = await startWeir({ shared_database: true, config: JSON.stringify(config) });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await endless.stop();
});

const CLIENTS = {
  chat: (model: string, content: string) => [
    '/v1/chat/completions',
    { model, stream: true, messages: [{ role: 'user', content }] },
  ],
  messages: (model: string, content: string) => [
    '/v1/messages',
    { model, stream: true, max_tokens: 60_000, messages: [{ role: 'user', content }] },
  ],
  responses: (model: string, input: string) => ['/v1/responses', { model, stream: true, input }],
  gemini: (model: string, text: string) => [
    `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    { contents: [{ role: 'user', parts: [{ text }] }] },
  ],
} as const satisfies Record<string, (model: string, text: string) => [string, object]>;

/** The error event of each protocol in the middle of a stream. */
const BROKEN: Record<keyof typeof CLIENTS, RegExp> = {
  chat: /data: \{"error":\{[^\n]*"type":"(timeout|upstream)_error"/,
  messages: /event: error\ndata: \{"type":"error","error":\{"type":"(timeout|api)_error"/,
  responses: /event: (error|response\.failed)\ndata: \{"type":"(error|response\.failed)"/,
  gemini: /data: \{"error":\{"code":50[234]/,
};

const PAIRS = Object.keys(CLIENTS).flatMap((client) =>
  UPSTREAMS.map((upstream) => [client as keyof typeof CLIENTS, upstream] as const),
);
/** Models whose channels never fail. */
const CALM = [
  ['calm', 'gemini'],
  ['endless', 'openai'],
  ['endless', 'anthropic'],
] as const;

function send([path, body]: readonly [string, object]): Promise<Response> {
  return fetch(weir.base_url + path, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
      ...{ 'anthropic-version': '2023-06-01', 'x-goog-api-key': weir.api_key },
    },
    body: JSON.stringify(body),
  });
}

describe('an upstream whose stream breaks in the middle', () => {
  test.concurrent.each(PAIRS)(
    'is an error event for a client of %s on %s',
    async (client, upstream) => {
      const model = `${client}-${upstream}`;
      const answers = ['stall_after=6', 'truncate_after=6', 'error_after=6'].map(async (how) => {
        const response = await send(
          CLIENTS[client](model, `Hello [[sim tokens=40 chunk_ms=50 ${how}]]`),
        );
        const text = await response.text();
        expect({ how, status: response.status, text }).toMatchObject({ status: 200 });
        expect({ how, text, broken: BROKEN[client].test(text) }).toMatchObject({ broken: true });
        expect(text).not.toContain('-sim');
      });
      await Promise.all(answers);
    },
  );
});

const STALLED = 100;
/** The most memory of one stream: Bun's read-ahead, data in use, and garbage (bench/RESULTS.md). */
const MEGABYTES_EACH = 10;

test('clients that do not read use little memory, and delay no other client', async () => {
  const before = residentMb(weir.pid);
  // Half of the streams are pass-through, and half are translated.
  const clients = await startStalledClients(weir, STALLED, [
    CLIENTS.chat('endless-openai', 'Hello'),
    CLIENTS.chat('endless-anthropic', 'Hello'),
  ]);
  try {
    let last = -1;
    await until(
      'all streams are stalled',
      async () => {
        const taken = endless.taken();
        const isStill = endless.calls() === STALLED && taken === last;
        last = taken;
        await Bun.sleep(1_000);
        return isStill;
      },
      60_000,
    );
    // Of 16 GB in total, the upstreams sent little more than the kernel's buffers hold.
    expect(endless.taken()).toBeLessThan((STALLED * ENDLESS_BYTES) / 10);
    // Garbage does not count. So the test waits until it is collected.
    await until(
      'the memory is small',
      () => residentMb(weir.pid) - before < STALLED * MEGABYTES_EACH,
      60_000,
    );
    const response = await send(CLIENTS.chat('calm-gemini', 'Hello [[sim tokens=5]]'));
    expect(await response.text()).toEndWith('data: [DONE]\n\n');
  } finally {
    clients.kill('SIGKILL');
  }
});
