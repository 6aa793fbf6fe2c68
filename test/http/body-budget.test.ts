/** The budget of all bodies in flight, at every route that takes a large body. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { startTestApp, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

const MB = 1024 * 1024;
let app: TestApp;
let sockets: Socket[] = [];
beforeEach(async () => {
  app = await startTestApp({ max_body_bytes: 8 * MB });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await app.stop();
});

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data; boundary=x';
/** All routes that take a body of more than 2 MB. */
const ROUTES: [path: string, type: string][] = [
  ['/v1/chat/completions', JSON_TYPE],
  ['/v1/messages', JSON_TYPE],
  ['/v1/messages/count_tokens', JSON_TYPE],
  ['/v1/messages/batches', JSON_TYPE],
  ['/v1/responses', JSON_TYPE],
  ['/v1beta/models/gpt-4o:generateContent', JSON_TYPE],
  ['/v1beta/models/gpt-4o:countTokens', JSON_TYPE],
  ['/v1/embeddings', JSON_TYPE],
  ['/v1/rerank', JSON_TYPE],
  ['/v1/audio/speech', JSON_TYPE],
  ['/v1/images/generations', JSON_TYPE],
  ['/v1/images/edits', JSON_TYPE],
  ['/v1/images/edits', FORM_TYPE],
  ['/v1/videos/generations', JSON_TYPE],
  ['/v1/3d/generations', JSON_TYPE],
  ['/v1/audio/transcriptions', FORM_TYPE],
  ['/v1/audio/translations', FORM_TYPE],
];

/** Sends the head of a request, and `sent` bytes of its body. */
function open(path: string, type: string, coding: string, sent = 1): Socket {
  const socket = connect(Number(new URL(app.base_url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  const { api_key } = app.credentials;
  const native = `x-api-key: ${api_key}\r\nx-goog-api-key: ${api_key}\r\nanthropic-version: 2023-06-01\r\n`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: weir\r\nauthorization: Bearer ${api_key}\r\n${native}` +
      `content-type: ${type}\r\n${coding}\r\n\r\n`,
  );
  const piece = ' '.repeat(sent);
  socket.write(coding.startsWith('transfer') ? `${sent.toString(16)}\r\n${piece}\r\n` : piece);
  sockets.push(socket);
  return socket;
}

/** Resolves with the status line and the body of the response that a socket receives. */
function answerOn(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  return until('the answer arrives', () => (/\r\n\r\n.*\{.*\}/s.test(text) ? text : undefined));
}

const settled = () => until('all bytes are given back', () => app.bodies.bytes === 0);

describe.each(ROUTES)('P20: POST %s with %s', (path, type) => {
  test('counts a declared body before it arrives, and gives it back when the client leaves', async () => {
    const socket = open(path, type, `content-length: ${3 * MB}`);
    await until('the body is counted', () => app.bodies.bytes === 3 * MB);
    const refused = await answerOn(open(path, type, `content-length: ${2 * MB}`));
    expect(refused).toStartWith('HTTP/1.1 503');
    expect(refused.toLowerCase()).toContain('retry-after: 5');
    expect(refused).toContain('have too many bytes in flight');
    expect(app.bodies.bytes).toBe(3 * MB);
    socket.destroy();
    await settled();
  });

  test('counts a body in chunks as it arrives', async () => {
    const socket = open(path, type, 'transfer-encoding: chunked', MB);
    await until('the piece is counted', () => app.bodies.bytes === MB);
    const answer = answerOn(socket);
    for (let piece = 0; piece < 5; piece += 1) {
      socket.write(`${MB.toString(16)}\r\n${' '.repeat(MB)}\r\n`);
    }
    expect(await answer).toMatch(/^HTTP\/1.1 (413|503)/);
    await settled();
  });

  test('gives the bytes of a wrong body back', async () => {
    const response = await app.fetch(path, {
      ...{ method: 'POST', body: ' '.repeat(2 * MB) },
      headers: {
        'content-type': type,
        'anthropic-version': '2023-06-01',
      },
    });
    // The app of this test has no batches.
    expect(response.status).toBe(path.endsWith('/batches') ? 503 : 400);
    await settled();
  });
});

describe('P20: a body', () => {
  test('above half of the budget is too large, because no retry can help', async () => {
    const answer = await answerOn(
      open('/v1/chat/completions', JSON_TYPE, `content-length: ${5 * MB}`),
    );
    expect(answer).toStartWith('HTTP/1.1 413');
    expect(answer).toContain('larger than 4 MB');
    await settled();
  });

  test('is counted until the answer is complete', async () => {
    const answer = Promise.withResolvers<Response>();
    app.answer = () => answer.promise;
    const padding = 'x'.repeat(MB);
    const call = app.post('/v1/chat/completions', {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: padding }],
    });
    await until('the call arrived', () => app.calls.length === 1);
    expect(app.bodies.bytes).toBeGreaterThan(MB);
    answer.resolve(Response.json({ ok: true }));
    expect((await call).status).toBe(200);
    await settled();
  });

  test('of a client that leaves while it waits is given back', async () => {
    app.answer = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const controller = new AbortController();
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x'.repeat(MB) }] };
    const call = app.fetch('/v1/chat/completions', {
      ...{ method: 'POST', body: JSON.stringify(body), signal: controller.signal },
      headers: { 'content-type': JSON_TYPE },
    });
    await until('the call arrived', () => app.calls.length === 1);
    controller.abort();
    await call.catch(() => undefined);
    await settled();
  });
});

describe('P20: a large answer', () => {
  const content = 'y'.repeat(20 * MB);
  beforeEach(async () => {
    await app.stop();
    app = await startTestApp();
    app.answer = ({ bytes }) => {
      bytes?.countAnswer().add(content.length);
      return Response.json({ content });
    };
  });
  const hello = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

  test('arrives unchanged, and is then given back', async () => {
    const response = await app.post('/v1/chat/completions', hello);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual({ content });
    await settled();
  });

  test('is counted until its client has read it or has left', async () => {
    const body = JSON.stringify(hello);
    const socket = open('/v1/chat/completions', JSON_TYPE, `content-length: ${body.length}`, 0);
    socket.pause();
    socket.write(body);
    await until('the answer is counted', () => app.bodies.bytes >= content.length);
    await Bun.sleep(200);
    expect(app.bodies.bytes).toBeGreaterThanOrEqual(content.length);
    socket.destroy();
    await settled();
  });
});
