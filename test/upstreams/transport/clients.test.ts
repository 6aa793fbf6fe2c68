/** The same cases for all HTTP clients: Weir's own, also guarded, and the platform's `fetch`. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { TRANSPORTS } from '../../../src/upstreams/contract.ts';
import {
  MAX_ANSWER_BYTES,
  MAX_ERROR_BYTES,
} from '../../../src/upstreams/transport/bounded-body.ts';
import {
  Exchange,
  type ExchangeRequest,
  readChunks,
  readFailure,
  requestWhole,
} from '../../../src/upstreams/transport/exchange.ts';
import { MAX_HEAD_BYTES, MAX_IDLE_CONNECTIONS } from '../../../src/upstreams/transport/http.ts';
import { allowGuardedHosts } from '../../../src/upstreams/transport/http1/guarded-connection.ts';
import { fieldsBody, jsonBody } from '../../../src/upstreams/transport/request-body.ts';
import { failureOf } from '../../support/failure-of.ts';
import { until } from '../../support/until.ts';
import { proveUpstream } from './proven.ts';
import { answerOf, startTcpUpstream, type TcpUpstream } from './tcp-upstream.ts';

let upstream: TcpUpstream;
beforeEach(() => {
  upstream = startTcpUpstream();
  // Some cases start another upstream.
  allowGuardedHosts({ has: () => true } as unknown as ReadonlySet<string>);
});
afterEach(() => upstream.stop());

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const LONG_MS = 60_000;
const SHORT_MS = 150;

describe.each([...TRANSPORTS, 'guarded'] as const)('the HTTP client %s', (transport) => {
  const callWith = (timeout_ms: number, signal = new AbortController().signal) => ({
    target: { timeout_ms, transport },
    signal,
  });
  const requestTo = (changes: Partial<ExchangeRequest> = {}): ExchangeRequest => ({
    ...{ method: 'POST', url: `${upstream.url}/v1/chat?a=b`, headers: {}, body: jsonBody('{}') },
    ...{ pool: 'calls', may_repeat: true, ...changes },
  });
  const ask = (changes: Partial<ExchangeRequest> = {}, timeout_ms = LONG_MS) =>
    requestWhole(callWith(timeout_ms), requestTo(changes), ({ status, headers }, text) => ({
      ...{ status, text, type: headers.get('content-type') },
    }));
  /** Opens an exchange and attaches its response. */
  const open = async (call: ReturnType<typeof callWith>) => {
    const exchange = new Exchange(call);
    exchange.attach(await exchange.send(requestTo()));
    return exchange;
  };
  const respond = (text: string) => {
    upstream.respond = ({ socket }) => socket.write(text);
  };

  test('returns status, headers and body', async () => {
    respond(answerOf('grüße', 'Content-Type: text/plain\r\n'));
    expect(await ask()).toEqual({ status: 200, text: 'grüße', type: 'text/plain' });
    respond('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno');
    expect(await ask()).toEqual({ status: 404, text: 'no', type: null });
    respond('HTTP/1.1 204 No Content\r\n\r\n');
    expect(await ask()).toMatchObject({ status: 204, text: '' });
  });

  test('sends method, path, headers and body', async () => {
    respond(answerOf('ok'));
    const headers = { authorization: 'Bearer sk', 'x-name': 'é' };
    await ask({ headers, body: jsonBody('{"name":"Jürgen"}') });
    await ask({ method: 'PUT', body: undefined });
    await ask({ method: 'GET', body: undefined });
    await ask({ method: 'DELETE', body: undefined, headers: { accept: 'image/*' } });
    await ask({ body: fieldsBody(new URLSearchParams({ 'a b': '&' })) });
    const seen = upstream.received.map(({ head, body }) => {
      const [line, ...lines] = head.split('\r\n');
      const fields = lines.map((each) => /^([^:]*): ?(.*)$/.exec(each)?.slice(1) ?? []);
      const named = fields.map(([name = '', value]) => [name.toLowerCase(), value]);
      const { connection: _, ...rest } = Object.fromEntries(named);
      // Only `fetch` adds a length of 0 to DELETE.
      if (line?.startsWith('DELETE')) delete rest['content-length'];
      return { line, body, ...rest } as Record<string, unknown>;
    });
    const host = new URL(upstream.url).host;
    const common = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'weir', host };
    const path = '/v1/chat?a=b HTTP/1.1';
    const json = { 'content-type': 'application/json', 'content-length': '18' };
    expect(seen).toEqual([
      { line: `POST ${path}`, body: '{"name":"Jürgen"}', ...common, ...json, ...headers },
      { line: `PUT ${path}`, body: '', ...common, 'content-length': '0' },
      { line: `GET ${path}`, body: '', ...common },
      { line: `DELETE ${path}`, body: '', ...common, accept: 'image/*' },
      {
        ...{ line: `POST ${path}`, body: 'a+b=%26', ...common, 'content-length': '7' },
        'content-type': 'application/x-www-form-urlencoded',
      },
    ]);
  });

  test('sends a form with a file', async () => {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const form = await request.formData();
        const file = form.get('file') as File;
        const bytes = Buffer.from(await file.arrayBuffer());
        return Response.json([form.get('model'), file.name, file.type, Bun.hash(bytes).toString()]);
      },
    });
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const form = new FormData();
    form.set('model', 'é');
    form.set('file', new File([bytes, bytes], 'ü.mp3', { type: 'audio/mpeg' }));
    const { text } = await ask({ url: `http://127.0.0.1:${server.port}/`, body: form });
    const hash = Bun.hash(Buffer.concat([bytes, bytes])).toString();
    expect(JSON.parse(text)).toEqual(['é', 'ü.mp3', 'audio/mpeg', hash]);
    await server.stop(true);
  });

  test('reads the response to HEAD, which has no body', async () => {
    respond('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n');
    const exchange = new Exchange(callWith(LONG_MS));
    const response = await exchange.send(requestTo({ method: 'HEAD', body: undefined }));
    expect(response.status).toBe(200);
    exchange.close();
  });

  test('returns a stream piece by piece', async () => {
    upstream.respond = ({ socket }) => socket.write(`${CHUNKED}3\r\none\r\n`);
    const exchange = await open(callWith(LONG_MS));
    const pieces = readChunks(exchange);
    const next = async () => Buffer.from((await pieces.next()).value ?? []).toString();
    expect(await next()).toBe('one');
    upstream.received[0]?.socket.write('3\r\ntwo\r\n');
    expect(await next()).toBe('two');
    upstream.received[0]?.socket.write('0\r\n\r\n');
    expect(await next()).toBe('');
  });

  test('reads chunks with extensions and trailers, compressed bodies, and 1xx responses', async () => {
    respond(`${CHUNKED}3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n`);
    expect((await ask()).text).toBe('hello');
    respond(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${answerOf('hello')}`);
    expect(await ask()).toMatchObject({ status: 200, text: 'hello' });
    const body = gzipSync('hello');
    upstream.respond = ({ socket }) => {
      const length = `Content-Length: ${body.byteLength}\r\n`;
      socket.write(`${HEAD}Content-Encoding: gzip\r\n${length}\r\n`);
      socket.write(body);
    };
    expect((await ask()).text).toBe('hello');
  });

  test('returns a redirect and does not follow it', async () => {
    respond(`HTTP/1.1 307 Moved\r\nLocation: ${upstream.url}/b\r\nContent-Length: 0\r\n\r\n`);
    expect((await ask({ headers: { authorization: 'Bearer sk' } })).status).toBe(307);
    expect(upstream.received).toHaveLength(1);
  });

  test('times out before the head, and in the middle of the body', async () => {
    expect(await failureOf(ask({}, SHORT_MS))).toMatchObject({ failure: 'timeout' });
    respond(`${HEAD}Content-Length: 5\r\n\r\nhel`);
    expect(await failureOf(ask({}, SHORT_MS))).toMatchObject({ failure: 'timeout' });
    respond(`${CHUNKED}3\r\nhel\r\n`);
    expect(await failureOf(ask({}, SHORT_MS))).toMatchObject({ failure: 'timeout' });
    await until('the connections are closed', () => upstream.closed === upstream.opened);
  });

  test('fails with the reason of a client that leaves, and closes the connection', async () => {
    const left = new Error('the client left');
    for (const text of ['', `${HEAD}Content-Length: 5\r\n\r\nhel`, `${CHUNKED}3\r\nhel\r\n`]) {
      const client = new AbortController();
      upstream.respond = ({ socket }) => {
        if (text !== '') socket.write(text);
        setTimeout(() => client.abort(left), 20);
      };
      const work = open(callWith(LONG_MS, client.signal)).then((exchange) =>
        readFailure(exchange, (text) => text),
      );
      // Before the head, nothing is attached, and the raw error is not converted yet.
      const error = await failureOf(work);
      expect(text === '' ? error instanceof Error : error === left).toBe(true);
    }
    await until('the connections are closed', () => upstream.closed === upstream.opened);
    const gone = callWith(LONG_MS, AbortSignal.abort(left));
    expect(await failureOf(requestWhole(gone, requestTo(), () => 0))).toBe(left);
  });

  test('fails if the body is too large: declared, in chunks, and after decompression', async () => {
    const tooLarge = { failure: 'malformed', message: 'the answer is too large' };
    respond(`${HEAD}Content-Length: ${MAX_ANSWER_BYTES + 1}\r\n\r\nhel`);
    expect(await failureOf(ask())).toMatchObject(tooLarge);
    const piece = Buffer.alloc(1024 * 1024);
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) => {
        const isBomb = url.endsWith('/bomb');
        const bomb = () => Bun.gzipSync(new Uint8Array(MAX_ANSWER_BYTES + 1));
        const headers: Record<string, string> = isBomb ? { 'content-encoding': 'gzip' } : {};
        const stream = () =>
          new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
        return new Response(isBomb ? bomb() : stream(), { headers });
      },
    });
    for (const path of ['stream', 'bomb']) {
      const url = `http://127.0.0.1:${server.port}/${path}`;
      expect(await failureOf(ask({ url }))).toMatchObject(tooLarge);
    }
    await server.stop(true);
    const length = `Content-Length: ${MAX_ERROR_BYTES + 1}\r\n`;
    respond(`HTTP/1.1 500 Error\r\n${length}\r\n${'x'.repeat(100)}`);
    expect(await failureOf(ask())).toMatchObject(tooLarge);
  });

  test('fails with a malformed response', async () => {
    const malformed = [
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      answerOf('x', 'Content-Encoding: pack200\r\n'),
      answerOf('x', `X-Long: ${'x'.repeat(MAX_HEAD_BYTES)}\r\n`),
      `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nhe`,
      `${CHUNKED}zz\r\nhello\r\n`,
    ];
    for (const text of malformed) {
      respond(text);
      expect(await failureOf(ask({}, 5_000))).toMatchObject({ failure: 'connection' });
    }
  });

  test('fails if the connection breaks, before and in the middle of the response', async () => {
    const starts = ['', `${HEAD}Content-Length: 5\r\n\r\nhel`, `${CHUNKED}3\r\nhel\r\n`];
    for (const start of starts) {
      upstream.respond = ({ socket }) => {
        if (start !== '') socket.write(start);
        setTimeout(() => socket.terminate(), 20);
      };
      // A new connection, so that the request is not sent again.
      expect(await failureOf(ask({ may_repeat: false }))).toMatchObject({ failure: 'connection' });
    }
    expect(upstream.received).toHaveLength(starts.length);
  });

  test('tells whether the request was sent', async () => {
    const send = (changes: Partial<ExchangeRequest>) =>
      new Exchange(callWith(LONG_MS)).send(requestTo(changes));
    const unsent = { name: 'UnsentRequestError' };
    for (const value of ['a\r\nX-Evil: 1', 'a\nb', 'a\0', '→']) {
      const failed = failureOf((async () => send({ headers: { 'x-name': value } }))());
      expect(await failed).toMatchObject(unsent);
    }
    expect(upstream.opened).toBe(0);
    expect(await failureOf(send({ url: 'http://no-such-host.invalid/' }))).toMatchObject(unsent);
    upstream.respond = ({ socket }) => socket.terminate();
    expect(await failureOf(send({ may_repeat: false }))).not.toMatchObject(unsent);
    upstream.stop();
    expect(await failureOf(send({}))).toMatchObject({ ...unsent, code: 'ECONNREFUSED' });
  });

  test('sends a request that must not be sent twice over a connection of its own', async () => {
    await proveUpstream(upstream);
    respond(answerOf('ok'));
    await ask({ body: jsonBody('1') });
    // Each idle connection closes when the next request arrives on it.
    const { opened } = upstream;
    upstream.respond = ({ socket, connection }) => {
      if (connection < opened) socket.end();
      else socket.write(answerOf('ok'));
    };
    expect((await ask({ body: jsonBody('2'), may_repeat: false })).text).toBe('ok');
    expect(upstream.received.map(({ body }) => body)).toEqual(['1', '2']);
    expect(upstream.received[1]?.connection).toBe(opened);
  });

  test('answers calls while many polls of jobs hang at the same host', async () => {
    const client = new AbortController();
    upstream.respond = ({ head, socket }) => {
      if (head.startsWith('POST')) socket.write(answerOf('ok'));
    };
    const polls = Array.from({ length: 200 }, (_, job) => {
      const poll = requestTo({ method: 'GET', url: `${upstream.url}/jobs/${job}`, pool: 'jobs' });
      const { body: _body, ...request } = poll;
      return failureOf(requestWhole(callWith(LONG_MS, client.signal), request, () => 0));
    });
    await until('the polls were received', () => upstream.received.length === polls.length);
    expect((await ask()).text).toBe('ok');
    client.abort();
    await Promise.all(polls);
  });
});

test('polls of jobs close no idle connection of calls', async () => {
  await proveUpstream(upstream);
  const waiting: (() => void)[] = [];
  upstream.respond = ({ socket }) => waiting.push(() => socket.write(answerOf('ok')));
  const burst = async (count: number, pool: 'calls' | 'jobs') => {
    const answers = Array.from({ length: count }, () =>
      requestWhole(
        { target: { timeout_ms: LONG_MS }, signal: new AbortController().signal },
        { method: 'GET', url: upstream.url, headers: {}, pool, may_repeat: true },
        (_, text) => text,
      ),
    );
    await until('all requests were received', () => waiting.length === count);
    for (const answer of waiting.splice(0)) answer();
    await Promise.all(answers);
  };
  await burst(100, 'calls');
  await burst(300, 'jobs');
  // Only some idle connections of jobs are kept.
  await until('the others are closed', () => upstream.closed === 300 - MAX_IDLE_CONNECTIONS.jobs);
  const { opened } = upstream;
  await burst(100, 'calls');
  expect(upstream.opened).toBe(opened);
});
