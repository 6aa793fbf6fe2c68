/**
 * Streams that hang and calls that are late. The tests check what a client receives and what is
 * charged.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

/** No test waits this long. */
const TIMEOUT_MS = 50_000;
let simulator: RunningSimulator;
let weir: RunningWeir;
let database: Database;
let drop: () => Promise<void>;
/** An upstream that sends the start of a stream, and then no token. */
let mute: ReturnType<typeof Bun.serve>;
let muteAborted = 0;

beforeAll(async () => {
  simulator = await startSimulator();
  mute = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0 },
    fetch(request) {
      request.signal.addEventListener('abort', () => {
        muteAborted += 1;
      });
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
      const choices = [{ index: 0, delta: { role: 'assistant', content: '' } }];
      const body = new ReadableStream({
        start(client) {
          client.enqueue(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`);
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const fresh = await createTestDatabase();
  drop = fresh.drop;
  database = connectDatabase(fresh.url, { pool: 'single' });
  const channel = (id: string, priority: number, model: string, extra: object = {}) => ({
    ...{ id, priority, protocol: 'openai', base_url: simulator.openai_url },
    ...{ api_key: `sim-${id}`, models: { [model]: 'physical' }, timeout_ms: TIMEOUT_MS, ...extra },
  });
  const channels = [
    channel('mute', 0, 'gpt-4o', {
      base_url: `http://127.0.0.1:${mute.port}`,
      first_token_timeout_ms: 200,
    }),
    channel('spare', 1, 'gpt-4o'),
    channel('stalls', 0, 'gpt-4o-mini', { stall_timeout_ms: 300 }),
    channel('usual', 0, 'gpt-4.1'),
    channel('other', 1, 'gpt-4.1'),
  ];
  const models = [{ id: 'gpt-4.1', routing: { policy: 'priority', hedge: true } }];
  weir = await startWeir({
    config: JSON.stringify({ channels, models, roles: { standard: 1_000_000 } }),
    env: { DATABASE_URL: fresh.url },
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await mute.stop(true);
  await database.close();
  await drop();
});

async function chat(model: string, content: string, stream: boolean) {
  const response = await fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }),
  });
  const text = await response.text();
  const id = (response.headers.get('x-request-id') ?? '').replace('req_', '');
  const lines = await database.sql<{ channel_id: string; outcome: string }[]>`
    select channel_id, outcome from usage_line where request_id = ${id}::uuid`;
  return { status: response.status, text, lines: lines.map((line) => ({ ...line })) };
}

test('P7: a stream without a token by its deadline is served by another channel, and the first is aborted', async () => {
  const { status, text, lines } = await chat('gpt-4o', 'Hello', true);
  expect(status).toBe(200);
  expect(text).toContain('data: [DONE]');
  expect(text.match(/"role":"assistant"/g)).toHaveLength(1);
  expect(lines).toEqual([{ channel_id: 'spare', outcome: 'completed' }]);
  await until('the first was aborted', () => muteAborted > 0);
});

test('a stream that stalls ends with an error event, and its output is charged', async () => {
  const { status, text, lines } = await chat('gpt-4o-mini', 'Hi [[sim stall_after=5]]', true);
  expect(status).toBe(200);
  expect(text).toContain('"code":"timeout_error"');
  expect(text).not.toContain('"finish_reason":"stop"');
  expect(lines).toEqual([{ channel_id: 'stalls', outcome: 'partial' }]);
});

test.each([false, true])(
  'P1: a call that is late is hedged, and charged once; streamed: %p',
  async (stream) => {
    for (let call = 0; call < 20; call += 1) await chat('gpt-4.1', `Usual ${call}`, stream);
    // The upstream waits longer than the test. So the call ends only if it is aborted.
    const late = '[[sim latency_ms=45000 channel=usual]]';
    const { status, lines } = await chat('gpt-4.1', `Late ${late}`, stream);
    expect(status).toBe(200);
    expect(lines).toEqual([{ channel_id: 'other', outcome: 'completed' }]);
    await until('the slower attempt was aborted', async () => {
      const { calls } = await simulator.books();
      return calls.filter(({ outcome }) => outcome === 'running').length === 0;
    });
  },
);
