/** Compressed requests and answers (RFC 9110, 8.4 and 12.5.3), through the real HTTP server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import { MAX_INFERENCE_BODY_BYTES } from '../../src/http/body.ts';
import { COMPRESSED_FROM_BYTES } from '../../src/http/compressed-answer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';

setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

type Code = (bytes: Uint8Array | string) => Uint8Array;

/** The codings of the IANA registry that clients send. `x-gzip` equals `gzip` (RFC 9110, 8.4.1.3). */
const CODINGS: [name: string, encode: Code, decode: Code][] = [
  ['gzip', gzipSync, gunzipSync],
  ['x-gzip', gzipSync, gunzipSync],
  ['GZIP', gzipSync, gunzipSync],
  ['deflate', deflateSync, inflateSync],
  ['br', brotliCompressSync, brotliDecompressSync],
  ['zstd', zstdCompressSync, zstdDecompressSync],
];

const CHAT = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello, größe 🙂' }] };

function send(body: Uint8Array, coding: string, path = '/v1/chat/completions'): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'content-encoding': coding };
  return app.fetch(path, { method: 'POST', headers, body: body as Uint8Array<ArrayBuffer> });
}

describe('a compressed request', () => {
  test.each(CODINGS)('%s: the call gets the decoded body', async (coding, encode) => {
    app.calls.length = 0;
    const text = JSON.stringify(CHAT);
    expect((await send(encode(text), coding)).status).toBe(200);
    expect(app.calls.map(({ body_text }) => body_text)).toEqual([text]);
  });

  test.each(CODINGS)('%s: a large body in chunks is decoded', async (coding, encode) => {
    app.calls.length = 0;
    const text = JSON.stringify({
      ...CHAT,
      user: 'x'.repeat(40),
      metadata: { a: 'é'.repeat(400) },
    });
    const padded = text + ' '.repeat(3_000_000);
    const bytes = encode(padded);
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.byteLength; at += 100) {
          controller.enqueue(bytes.subarray(at, at + 100));
        }
        controller.close();
      },
    });
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    const response = await app.fetch('/v1/chat/completions', { method: 'POST', headers, body });
    expect(response.status).toBe(200);
    expect(app.calls[0]?.body_text).toBe(padded);
    expect(app.bodies.bytes).toBe(0);
  });

  test.each(CODINGS)('%s: a bomb is refused with 413', async (coding, encode) => {
    const bomb = encode(new Uint8Array(MAX_INFERENCE_BODY_BYTES + 1).fill(32));
    const error = await errorOf(await send(bomb, coding), 413);
    expect(error).toMatchObject({ code: 'payload_too_large', param: 'body' });
    expect(app.bodies.bytes).toBe(0);
  });

  test.each(CODINGS)(
    '%s: nested brackets are refused before all are decoded',
    async (coding, encode) => {
      const error = await errorOf(await send(encode('['.repeat(20_000_000)), coding), 400);
      expect(error.message).toBe('The body is nested too deeply.');
    },
  );

  test.each(CODINGS)('%s: other bytes, and a cut body, get 400', async (coding, encode) => {
    const whole = encode(JSON.stringify(CHAT));
    for (const bytes of [whole.subarray(0, whole.byteLength - 6), new Uint8Array(0)]) {
      // The platform's decoder of zstd reports no cut body. The text is cut then, so it is no JSON.
      const param = coding === 'zstd' ? 'body' : 'Content-Encoding';
      expect(await errorOf(await send(bytes, coding), 400)).toMatchObject({ param });
    }
    const plain = await send(new TextEncoder().encode('{"model":"gpt-4o"}'), coding);
    expect(await errorOf(plain, 400)).toMatchObject({ param: 'Content-Encoding' });
  });

  test('a window of zstd above 8 MB is refused (RFC 9659, 3)', async () => {
    const params = { [constants.ZSTD_c_windowLog]: 25, [constants.ZSTD_c_compressionLevel]: 1 };
    const text = new TextEncoder().encode(JSON.stringify(CHAT) + ' '.repeat(30_000_000));
    const error = await errorOf(await send(zstdCompressSync(text, { params }), 'zstd'), 400);
    expect(error.param).toBe('Content-Encoding');
  });

  test('an unknown coding of compressed bytes gets 415, which lists the known ones', async () => {
    for (const coding of ['compress', 'gzip, gzip']) {
      const error = await errorOf(await send(gzipSync(JSON.stringify(CHAT)), coding), 415);
      expect(error.param).toBe('Content-Encoding');
      expect(error.hint).toContain('gzip, deflate, br, zstd');
    }
  });

  test('a plain body with the value utf-8 is read', async () => {
    expect((await send(new TextEncoder().encode(JSON.stringify(CHAT)), 'utf-8')).status).toBe(200);
  });

  test('a form may be compressed', async () => {
    const form = new FormData();
    form.set('model', 'no-such-model');
    form.set('file', new File(['sound'], 'a.mp3'));
    const plain = new Request('http://unused.invalid', { method: 'POST', body: form });
    const type = plain.headers.get('content-type') as string;
    const body = gzipSync(await plain.bytes()) as Uint8Array<ArrayBuffer>;
    const headers = { 'content-type': type, 'content-encoding': 'gzip' };
    const response = await app.fetch('/v1/audio/transcriptions', { method: 'POST', headers, body });
    expect(await errorOf(response, 400)).toMatchObject({ code: 'model_not_found' });
  });
});

describe('a compressed answer', () => {
  /** The answer as it is on the wire. */
  async function answered(accepted: string, answer: Response) {
    app.answer = () => answer;
    const headers = { 'content-type': 'application/json', 'accept-encoding': accepted };
    const response = await app.fetch('/v1/chat/completions', {
      ...{ method: 'POST', headers, body: JSON.stringify(CHAT), decompress: false },
    });
    return { headers: response.headers, bytes: await response.bytes() };
  }
  const json = (text: string, type = 'application/json') =>
    new Response(text, { headers: { 'content-type': type } });
  const LARGE = JSON.stringify({ text: 'Hello, größe 🙂. '.repeat(1_000) });

  test.each(CODINGS)('%s, if the client asks for it', async (coding, _, decode) => {
    const { headers, bytes } = await answered(coding, json(LARGE));
    expect(headers.get('content-encoding')).toBe(coding.toLowerCase().replace('x-', ''));
    expect(headers.get('vary')).toBe('accept-encoding');
    expect(headers.get('content-type')).toBe('application/json');
    expect(bytes.byteLength).toBeLessThan(LARGE.length / 4);
    expect(new TextDecoder().decode(decode(bytes))).toBe(LARGE);
  });

  // The first four are the defaults of undici, httpx, Go's net/http and curl --compressed.
  test.each([
    ['gzip, deflate', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip', 'gzip'],
    ['deflate, gzip, br, zstd', 'zstd'],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'br'],
    ['*', 'zstd'],
    ['zstd;q=0, gzip;q=0.5', 'gzip'],
    ['identity;q=1, gzip;q=1', 'gzip'],
    ['identity;q=1, gzip;q=0.5', null],
    ['gzip;q=0', null],
    ['identity', null],
    ['', null],
    ['snappy', null],
    ['gzip;q=nonsense', null],
  ])('Accept-Encoding: %s → %s', async (accepted, coding) => {
    const { headers } = await answered(accepted, json(LARGE));
    expect(headers.get('content-encoding')).toBe(coding);
  });

  test('a small answer, a stream and another type are sent as they are', async () => {
    const small = `"${'x'.repeat(COMPRESSED_FROM_BYTES - 3)}"`;
    const stream = (type: string) =>
      new Response(new Blob([LARGE]).stream(), { headers: { 'content-type': type } });
    for (const answer of [json(small), stream('text/event-stream'), json(LARGE, 'audio/mpeg')]) {
      const text = await answer.clone().text();
      const { headers, bytes } = await answered('gzip', answer);
      expect(headers.get('content-encoding')).toBeNull();
      expect(new TextDecoder().decode(bytes)).toBe(text);
    }
    const { headers } = await answered('gzip', json(`${small} `));
    expect(headers.get('content-encoding')).toBe('gzip');
  });

  test('the list of models is compressed too', async () => {
    const response = await app.fetch('/v1/models', { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(((await response.json()) as { data: unknown[] }).data.length).toBeGreaterThan(10);
  });
});
