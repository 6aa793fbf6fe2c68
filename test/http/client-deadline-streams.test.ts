/**
 * The client's deadline inside a stream, and while a client waits for an image.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect } from 'node:net';
import { DeadlineInstallation, HEADER, type Line, turn } from '../support/deadline-installation.ts';
import { errorOf } from '../support/envelope.ts';
import type { KeyRecord } from '../support/managed-keys.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

let server: DeadlineInstallation;
beforeAll(async () => {
  server = await DeadlineInstallation.start();
});
afterAll(() => server.stop());

describe('inside a stream', () => {
  const slow = 'Hi [[sim tokens=2000 chunk_ms=50]]';
  const streams: [string, string, object, RegExp][] = [
    [
      'OpenAI chat',
      '/v1/chat/completions',
      { model: 'gpt-4o-mini', stream: true, ...turn(slow) },
      /data: \{"error":\{"message":"[^"]+","type":"timeout_error","code":"timeout_error",[^\n]+"request_id":"req_[0-9a-f]+"\}\}\n\ndata: \[DONE\]\n\n$/,
    ],
    [
      'OpenAI chat on another provider',
      '/v1/chat/completions',
      { model: 'claude-haiku-4-5', stream: true, max_tokens: 4_000, ...turn(slow) },
      /data: \{"error":\{"message":"[^"]+","type":"timeout_error","code":"timeout_error",[^\n]+"request_id":"req_[0-9a-f]+"\}\}\n\ndata: \[DONE\]\n\n$/,
    ],
    [
      'Anthropic',
      '/v1/messages',
      { model: 'claude-haiku-4-5', stream: true, max_tokens: 4_000, ...turn(slow) },
      /event: error\ndata: \{"type":"error","error":\{"type":"timeout_error","message":"[^"]+",[^\n]+\},"request_id":"req_[0-9a-f]+"\}\n\n$/,
    ],
    [
      'Responses',
      '/v1/responses',
      { model: 'gpt-4o-mini', stream: true, input: slow },
      /event: error\ndata: \{"type":"error","sequence_number":\d+,"code":"timeout_error","message":"[^"]+",[^\n]+\}\n\nevent: response.failed\ndata: [^\n]+\n\n$/,
    ],
    [
      'Gemini',
      '/v1beta/models/gpt-4o-mini:streamGenerateContent?alt=sse',
      { contents: [{ role: 'user', parts: [{ text: slow }] }] },
      /data: \{"error":\{"code":504,"message":"[^"]+","status":"DEADLINE_EXCEEDED","details":\[\{[^\n]+"reason":"timeout_error","request_id":"req_[0-9a-f]+"[^\n]+\}\]\}\}\n\n$/,
    ],
  ];

  test.each(streams)(
    '%s ends with its own error event, and is charged as delivered',
    async (_, path, body, ending) => {
      const response = await server.post(path, body, { headers: { [HEADER]: '1500' } });
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toMatch(ending);
      const lines = await server.linesOf(response);
      expect(lines).toMatchObject([{ outcome: 'partial' }]);
      expect(lines[0]?.charged).toBeGreaterThan(0);
      // At most 30 tokens came in 1.5 s, of the 2,000 that the upstream would have sent.
      expect(lines[0]?.output_tokens).toBeWithin(1, 200);
      await server.upstreamsStopped();
    },
  );

  test('a stream that ends in time is not changed', async () => {
    const body = { model: 'gpt-4o-mini', stream: true, ...turn('Hi [[sim tokens=8]]') };
    const response = await server.post('/v1/chat/completions', body, {
      headers: { [HEADER]: '30000' },
    });
    expect(await response.text()).not.toContain('error');
    expect(await server.linesOf(response)).toMatchObject([{ outcome: 'completed' }]);
  });

  test('504: speech of which only one piece has come is not sent, and is free', async () => {
    const input = 'Say this. [[sim stall_after=1]]';
    const body = { model: 'tts-1', voice: 'alloy', input };
    const response = await server.post('/v1/audio/speech', body, { headers: { [HEADER]: '1000' } });
    await errorOf(response, 504);
    expect(await server.linesOf(response)).toEqual([]);
    await server.upstreamsStopped();
  });

  test('speech breaks off, and the whole text is charged as if the client had left', async () => {
    const input = 'Say this. [[sim chunk_ms=200 stall_after=2]]';
    const body = { model: 'tts-1', voice: 'alloy', input };
    const response = await server.post('/v1/audio/speech', body, { headers: { [HEADER]: '1200' } });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    const lines = await until('the charge is committed', async () => {
      const found = await server.linesOf(response);
      return found.length > 0 && found;
    });
    // Each character costs 15,000 nano-USD.
    const charged = input.length * 15_000;
    expect(lines).toMatchObject([{ outcome: 'partial', charged }]);
    await server.upstreamsStopped();
  });

  test('a client that does not read is charged at its deadline, and holds no money longer', async () => {
    const { id, key } = await server.manage<KeyRecord>('POST', '/api-keys', {});
    const body = JSON.stringify({ model: 'gpt-5', stream: true, ...turn('Hi') });
    const socket = connect(server.weir.port, '127.0.0.1', () => {
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: weir\r\nauthorization: Bearer ${key}\r\n` +
          `${HEADER}: 2000\r\ncontent-type: application/json\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      socket.pause();
    });
    const lines = await until('the stream is charged', async () => {
      const found = await server.database.sql<
        Line[]
      >`select outcome from usage_line where key_id = ${id}`;
      return found.length > 0 && found.map((line) => ({ ...line }));
    });
    expect(lines).toEqual([{ outcome: 'partial' } as Line]);
    expect(socket.closed).toBe(false);
    socket.destroy();
  });
});

describe('images', () => {
  const picture = { model: 'gpt-image-2', prompt: 'A lighthouse [[sim latency_ms=3000]]' };
  test('504: an inline wait ends, the task is cancelled, and its hold is released', async () => {
    const response = await server.post('/v1/images/generations', picture, {
      headers: { [HEADER]: '1000' },
    });
    await errorOf(response, 504);
    await until(
      'the task is cancelled',
      async () => (await server.taskOf(response)).status === 'failed',
    );
    expect(await server.taskOf(response)).toMatchObject({ error_code: 'request_cancelled' });
    expect(await server.linesOf(response)).toEqual([]);
    await server.upstreamsStopped();
  });

  test('504: with an idempotency key the task goes on, and the client can return for it', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const first = await server.post('/v1/images/generations', picture, {
      headers: { ...headers, [HEADER]: '1000' },
    });
    expect((await errorOf(first, 504)).hint).toContain('Idempotency-Key');
    const again = await server.post('/v1/images/generations', picture, { headers });
    expect(again.status).toBe(200);
    expect(await server.taskOf(first)).toMatchObject({ status: 'completed' });
  });

  test('200: an async task is not shortened', async () => {
    const body = { ...picture, async: true };
    const response = await server.post('/v1/images/generations', body, {
      headers: { [HEADER]: '1000' },
    });
    expect(response.status).toBe(200);
    await until(
      'the task is completed',
      async () => (await server.taskOf(response)).status === 'completed',
      20_000,
    );
  });
});
