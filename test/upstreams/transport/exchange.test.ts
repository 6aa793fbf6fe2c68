import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { openaiProtocol } from '../../../src/upstreams/chat/openai.ts';
import type { UpstreamCall } from '../../../src/upstreams/contract.ts';
import { MAX_ANSWER_BYTES } from '../../../src/upstreams/transport/bounded-body.ts';
import { Exchange } from '../../../src/upstreams/transport/exchange.ts';
import { inTurn } from '../../../src/upstreams/transport/turns.ts';
import { callOf, readStream, rejection, startUpstream, streamed } from '../upstream.ts';

const upstream = startUpstream();
afterEach(() => {
  upstream.asked.length = 0;
});
afterAll(() => upstream.stop());

const ANSWER = { choices: [{ message: { content: 'Hi' } }] };
const CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
const END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** Unhandled rejections. Each of them would end the process. */
const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

function call(changes: Partial<UpstreamCall> = {}, timeout_ms = 20_000): UpstreamCall {
  const base = callOf(upstream.url, { model: 'gpt-test', stream: true }, changes);
  return { ...base, target: { ...base.target, timeout_ms } };
}

/** A stream that sends this text and then nothing until it is aborted. */
function silentAfter(text: string): Response {
  const encoder = new TextEncoder();
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (isSent) await new Promise(() => undefined);
      isSent = true;
      controller.enqueue(encoder.encode(text));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

describe('an exchange with an upstream', () => {
  test('accepts a base URL with and without a slash at its end', async () => {
    upstream.answer = () => Response.json(ANSWER);
    for (const url of [`${upstream.url}/v1`, `${upstream.url}/v1/`]) {
      await openaiProtocol.complete(callOf(url, { model: 'm' }));
    }
    expect(upstream.asked.map((asked) => asked.path)).toEqual([
      '/v1/chat/completions',
      '/v1/chat/completions',
    ]);
  });

  test('does not follow a redirect, which would send the key to another host', async () => {
    upstream.answer = () =>
      new Response(null, { status: 307, headers: { location: `${upstream.url}/elsewhere` } });
    expect(await rejection(openaiProtocol.complete(call()))).toMatchObject({
      failure: 'malformed',
      status: 307,
    });
    expect(upstream.asked).toHaveLength(1);
  });

  test('fails with `connection` if the upstream is not reachable', async () => {
    const stopped = startUpstream();
    await stopped.stop();
    const error = await rejection(openaiProtocol.complete(callOf(stopped.url, { model: 'm' })));
    expect(error).toMatchObject({ failure: 'connection' });
  });

  test('reports the wait that the upstream requests', async () => {
    upstream.answer = () => new Response('', { status: 429, headers: { 'retry-after': '7' } });
    expect(await rejection(openaiProtocol.stream(call()))).toMatchObject({
      failure: 'throttle',
      status: 429,
      retry_after_ms: 7_000,
    });
  });

  test('needs checks of its deadline until it is closed', () => {
    const exchange = new Exchange(call());
    const now = performance.now();
    expect(exchange.check(now)).toBe(true);
    exchange.close();
    expect(exchange.check(now)).toBe(false);
  });

  test('times out before the answer, in its middle, and between two events', async () => {
    upstream.answer = () => new Promise<Response>(() => undefined);
    const timeout = { failure: 'timeout' };
    expect(await rejection(openaiProtocol.complete(call({}, 100)))).toMatchObject(timeout);
    expect(await rejection(openaiProtocol.stream(call({}, 100)))).toMatchObject(timeout);
    upstream.answer = () => silentAfter('{"choices":');
    expect(await rejection(openaiProtocol.complete(call({}, 100)))).toMatchObject(timeout);
    upstream.answer = () => silentAfter(CHUNK);
    const { produced, error } = await readStream(openaiProtocol, call({}, 100));
    expect(produced).toBe('a');
    expect(error).toMatchObject(timeout);
    await Promise.all(upstream.asked.map((asked) => asked.aborted));
  });

  test('P9: a slow client does not count as a slow upstream', async () => {
    upstream.answer = () => streamed([CHUNK, CHUNK, END]);
    const stream = await openaiProtocol.stream(call({}, 100));
    let produced = '';
    for await (const batch of stream.events) {
      for (const event of batch) produced += event.produced;
      await Bun.sleep(150);
    }
    expect(produced).toBe('aa');
  });

  test('P9: the wait of a large request for its turn does not count as a slow upstream', async () => {
    upstream.answer = () => Response.json(ANSWER);
    const end_ms = performance.now() + 300;
    void inTurn(() => {
      while (performance.now() < end_ms);
    });
    const base = callOf(upstream.url, { model: 'm', user: 'x'.repeat(2 * 1024 * 1024) });
    await openaiProtocol.complete({ ...base, target: { ...base.target, timeout_ms: 250 } });
    expect(upstream.asked).toHaveLength(1);
  });

  test('fails if the answer is too large, with and without a content length', async () => {
    const piece = new Uint8Array(1024 * 1024).fill(32);
    const size = MAX_ANSWER_BYTES + piece.byteLength;
    const endless = () =>
      new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece) });
    upstream.answer = () => new Response(endless());
    expect(await rejection(openaiProtocol.complete(call()))).toMatchObject({
      failure: 'malformed',
    });
    upstream.answer = () => new Response(new Uint8Array(size));
    expect(await rejection(openaiProtocol.complete(call()))).toMatchObject({
      failure: 'malformed',
    });
  });

  test('reads answers with a content length, without one, and compressed', async () => {
    const text = JSON.stringify({ ...ANSWER, text: 'é'.repeat(100_000) });
    const compressed = Bun.gzipSync(new TextEncoder().encode(text));
    const answers = [
      () => new Response(text),
      () => streamed([text.slice(0, 5), text.slice(5)]),
      () => new Response(compressed, { headers: { 'content-encoding': 'gzip' } }),
    ];
    for (const answer of answers) {
      upstream.answer = answer;
      expect((await openaiProtocol.complete(call())).body_text).toBe(text);
    }
  });

  test('P8: a client that leaves stops the upstream at once, at every stage of the call', async () => {
    const left = new Error('the client left');
    const leaveDuring = async (answer: () => Response | Promise<Response>, stream: boolean) => {
      const client = new AbortController();
      upstream.asked.length = 0;
      upstream.answer = (asked) => {
        setTimeout(() => client.abort(left), 20);
        void asked;
        return answer();
      };
      const at = call({ signal: client.signal });
      const error = stream
        ? await readStream(openaiProtocol, at).then((read) => read.error)
        : await rejection(openaiProtocol.complete(at));
      expect(error).toBe(left);
      await upstream.asked[0]?.aborted;
    };
    await leaveDuring(() => silentAfter('{"choices":'), false);
    await leaveDuring(() => silentAfter(CHUNK), true);
    upstream.answer = () => new Promise<Response>(() => undefined);
    const client = new AbortController();
    const failure = rejection(openaiProtocol.complete(call({ signal: client.signal })));
    client.abort(left);
    expect(await failure).toBe(left);
    const late = call({ signal: AbortSignal.abort(left) });
    expect(await rejection(openaiProtocol.stream(late))).toBe(left);
  });

  test('P8: a stream that is no longer read is stopped too', async () => {
    upstream.answer = () => silentAfter(CHUNK);
    const client = new AbortController();
    const stream = await openaiProtocol.stream(call({ signal: client.signal }));
    for await (const _ of stream.events) break;
    await upstream.asked[0]?.aborted;
    // The client leaves between two events, without leaving the loop.
    const other = await openaiProtocol.stream(call({ signal: client.signal }));
    await other.events[Symbol.asyncIterator]().next();
    client.abort();
    await upstream.asked[1]?.aborted;
  });

  test('returns its connection to the pool, also after a stream', async () => {
    const ports = new Set<number | undefined>();
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request, serving) {
        ports.add(serving.requestIP(request)?.port);
        const { stream } = JSON.parse(await request.text());
        return stream ? streamed([CHUNK, END, ': the end comes later\n\n']) : Response.json(ANSWER);
      },
    });
    const url = `http://127.0.0.1:${server.port}`;
    for (const stream of [false, true, true, false]) {
      const at = callOf(url, { model: 'm', stream });
      if (stream) await readStream(openaiProtocol, at);
      else await openaiProtocol.complete(at);
      // The end of the stream is read in the background, which takes longer on a busy machine.
      await Bun.sleep(500);
    }
    expect(ports.size).toBe(1);
    await server.stop(true);
  });

  test('the tests above leave no unhandled rejection', async () => {
    await Bun.sleep(20);
    expect(unhandled).toEqual([]);
  });
});
