import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { MAX_IDLE_CONNECTIONS } from '../../../../src/upstreams/transport/http.ts';
import { MAX_BUFFERED_BYTES } from '../../../../src/upstreams/transport/http1/response.ts';
import { failureOf } from '../../../support/failure-of.ts';
import { until } from '../../../support/until.ts';
import { proveUpstream } from '../proven.ts';
import { answerOf, startTcpUpstream, type TcpUpstream } from '../tcp-upstream.ts';
import { post } from './post.ts';

let upstream: TcpUpstream;
beforeEach(() => {
  upstream = startTcpUpstream();
});
afterEach(() => upstream.stop());

const send = async (body = '{}', headers: Record<string, string> = {}) =>
  (await post(`${upstream.url}/v1/chat?a=b`, headers, body).response).text();

describe('posting to an upstream', () => {
  test('sends the given headers and body, and returns the response', async () => {
    upstream.respond = ({ socket }) => socket.write(answerOf('grüße'));
    expect(await send('{"name":"Jürgen"}', { Authorization: 'Bearer sk', 'X-Name': 'é' })).toBe(
      'grüße',
    );
    const [request] = upstream.received;
    expect(request?.body).toBe('{"name":"Jürgen"}');
    const lines = request?.head.split('\r\n') ?? [];
    expect(lines[0]).toBe('POST /v1/chat?a=b HTTP/1.1');
    expect(lines).toContain(`Host: ${new URL(upstream.url).host}`);
    expect(lines).toContain('Authorization: Bearer sk');
    expect(lines).toContain('X-Name: é');
    expect(lines).toContain('accept-encoding: identity');
  });

  test('sends each call its own headers, independent of the call before', async () => {
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    const all: Record<string, string>[] = [
      { 'X-One': 'a' },
      { 'X-One': 'b' },
      { 'X-One': 'b', 'X-Two': 'é' },
      { 'X-Two': 'é' },
      { 'X-Two': 'e' },
      {},
      { 'X-One': 'a' },
    ];
    for (const headers of all) await send('"é"', headers);
    const sent = upstream.received.map(({ head }) =>
      Object.fromEntries(
        head
          .split('\r\n')
          .flatMap((line) =>
            [...line.matchAll(/^(X-\w+): (.*)/g)].map(([, name, value]) => [name, value]),
          ),
      ),
    );
    expect(sent).toEqual(all);
    expect(upstream.received.map(({ body }) => body)).toEqual(all.map(() => '"é"'));
  });

  test('throws for a header value that would start another header', async () => {
    for (const value of ['a\r\nX-Evil: 1', 'a\nb', 'a\0', '→']) {
      expect(() => post(upstream.url, { 'X-Name': value }, '{}')).toThrow('cannot be sent');
    }
    expect(upstream.opened).toBe(0);
  });

  test('sends a body of many megabytes to an upstream that reads slowly', async () => {
    const body = JSON.stringify({ text: 'ü€😀'.repeat(1_000_000) });
    await proveUpstream(upstream);
    const { opened } = upstream;
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    expect(await send(body)).toBe('ok');
    expect(upstream.received[0]?.body === body).toBe(true);
    expect(await send('{}')).toBe('ok');
    expect(upstream.opened).toBe(opened);
  });

  test('reuses connections, also for many calls at the same time', async () => {
    await proveUpstream(upstream);
    const { opened: before } = upstream;
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    for (let call = 0; call < 5; call += 1) await send();
    expect(upstream.opened).toBe(before);
    const calls = await Promise.all(Array.from({ length: 200 }, () => send()));
    expect(calls.every((text) => text === 'ok')).toBe(true);
    const { opened } = upstream;
    expect(opened).toBeLessThanOrEqual(200 + before);
    // All connections are reused. Bun's own client would keep only 64 of them.
    await Promise.all(Array.from({ length: 200 }, () => send()));
    expect(upstream.opened).toBe(opened);
  });

  test('reuses one connection more often than there may be idle connections', async () => {
    await proveUpstream(upstream);
    const { opened } = upstream;
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    for (let call = 0; call < 2 * MAX_IDLE_CONNECTIONS.calls; call += 1) await send();
    expect(upstream.opened).toBe(opened);
  });

  test('sends nothing over idle connections that were closed', async () => {
    await proveUpstream(upstream);
    const { closed, opened } = upstream;
    upstream.respond = ({ socket }) => {
      socket.write(answerOf('ok'));
      setTimeout(() => socket.end(), 5);
    };
    // Each call uses up one of the connections from before. The last calls find none.
    const calls = opened - closed + 3;
    for (let call = 1; call <= calls; call += 1) {
      expect(await send()).toBe('ok');
      await until('the connection is closed', () => upstream.closed === closed + call);
      // The end of the connection reaches Weir's side.
      await Bun.sleep(5);
    }
    expect(upstream.received).toHaveLength(calls);
    expect(upstream.opened).toBe(closed + calls);
  });

  test('returns each call its own response while many calls are open', async () => {
    upstream.respond = ({ socket, body }) => {
      const answer = answerOf(`${body} ${'x'.repeat(Number(body) * 400)}`);
      const middle = Math.floor(answer.length / 2);
      socket.write(answer.slice(0, middle));
      setTimeout(() => socket.write(answer.slice(middle)), Number(body) % 7);
    };
    const calls = Array.from({ length: 100 }, (_, number) => send(String(number)));
    for (const [number, text] of (await Promise.all(calls)).entries()) {
      expect(text).toBe(`${number} ${'x'.repeat(number * 400)}`);
    }
  });

  test('sends the request again if an idle connection was closed before any byte came', async () => {
    await proveUpstream(upstream);
    const { opened } = upstream;
    upstream.respond = ({ socket, connection }) => {
      if (upstream.received.length === 1) socket.end();
      else socket.write(answerOf(`over ${connection}`));
    };
    expect(await send('1')).toBe(`over ${opened}`);
    expect(upstream.received.map(({ body }) => body)).toEqual(['1', '1']);
  });

  test('does not send a request again over a new connection or after a part of a response', async () => {
    upstream.respond = ({ socket }) => socket.end();
    expect(await failureOf(send('new'))).toBeInstanceOf(Error);
    expect(upstream.received).toHaveLength(1);
    await proveUpstream(upstream);
    upstream.respond = ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nContent-');
    expect(await failureOf(send('partly'))).toBeInstanceOf(Error);
    expect(upstream.received.map(({ body }) => body)).toEqual(['partly']);
  });

  test('does not reuse a connection after an invalid end of a response', async () => {
    const odd = [
      answerOf('ok', 'Connection: close\r\n'),
      'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
      `${answerOf('ok')}HTTP/1.1 200 OK\r\n\r\n`,
    ];
    for (const [calls, answer] of odd.entries()) {
      upstream.respond = ({ socket }) => socket.write(answer);
      expect(await send()).toBe('ok');
      await until('the connection is closed', () => upstream.closed === calls + 1);
    }
  });

  test('returns a response that comes before the whole body is sent', async () => {
    const early = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.pause();
          socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno');
        },
      },
    });
    const response = await post(`http://127.0.0.1:${early.port}`, {}, 'x'.repeat(32_000_000))
      .response;
    expect([response.status, response.ok, await response.text()]).toEqual([413, false, 'no']);
    early.stop(true);
  });

  test('rejects with the reason if there is no response', async () => {
    upstream.respond = ({ socket }) => socket.write('SSH-2.0\r\n\r\n');
    expect(String(await failureOf(send()))).toContain('no valid HTTP/1.1 head');
    upstream.respond = ({ socket }) => socket.end(answerOf('hello').slice(0, -1));
    expect(String(await failureOf(send()))).toContain('closed');
    upstream.stop();
    expect(await failureOf(send())).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('closes the connection of an aborted request: before it is open, before the response, before the body', async () => {
    const early = post(upstream.url, {}, '{}');
    early.abort();
    expect(await failureOf(early.response)).toBeInstanceOf(Error);
    const sent = post(upstream.url, {}, '{}');
    await until('the request was received', () => upstream.received.length === 1);
    sent.abort();
    expect(await failureOf(sent.response)).toBeInstanceOf(Error);
    upstream.respond = ({ socket }) => socket.write(answerOf('hello').slice(0, -1));
    const started = post(upstream.url, {}, '{}');
    const text = (await started.response).text();
    started.abort();
    expect(await failureOf(text)).toBeInstanceOf(Error);
    await until('all are closed', () => upstream.closed === upstream.opened);
  });

  test('closes the connection of an aborted request during the TLS handshake', async () => {
    let opened = 0;
    let closed = 0;
    const silent = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open: () => {
          opened += 1;
        },
        data: () => undefined,
        close: () => {
          closed += 1;
        },
      },
    });
    const posted = post(`https://localhost:${silent.port}`, {}, '{}');
    await until('the connection is open', () => opened === 1);
    posted.abort();
    expect(await failureOf(posted.response)).toBeInstanceOf(Error);
    await until('the connection is closed', () => closed === 1);
    silent.stop(true);
  });

  test('does not end another call if a request is aborted after its response', async () => {
    await proveUpstream(upstream);
    const { opened } = upstream;
    upstream.respond = ({ socket }) => socket.write(answerOf('first'));
    const first = post(upstream.url, {}, '{}');
    const response = await first.response;
    upstream.respond = ({ socket }) => setTimeout(() => socket.write(answerOf('second')), 50);
    const second = send();
    await until('both requests were received', () => upstream.received.length === 2);
    expect(upstream.opened).toBe(opened);
    first.abort();
    await response.body?.getReader().cancel();
    expect(await second).toBe('second');
  });

  test('stops reading from an upstream while the body is not read', async () => {
    const piece = 'x'.repeat(64 * 1024);
    let sent = 0;
    const writeAll = (socket: { write(text: string): number }) => {
      for (let written = piece.length; written === piece.length; sent += written) {
        written = Math.max(0, socket.write(piece));
      }
    };
    const endless = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          writeAll(socket);
        },
        drain: writeAll,
      },
    });
    const posted = post(`http://127.0.0.1:${endless.port}`, {}, '{}');
    const reader = (await posted.response).body?.getReader();
    let before = -1;
    await until('nothing more is sent', async () => {
      before = sent;
      await Bun.sleep(100);
      return sent > 0 && sent === before;
    });
    // The two kernels buffer bytes too, so only a rough upper limit is checked.
    let read = 0;
    while (read <= before) read += (await reader?.read())?.value?.byteLength ?? 0;
    expect(sent).toBeGreaterThan(before);
    expect(before).toBeLessThan(64 * 1024 * 1024);
    expect(MAX_BUFFERED_BYTES).toBeLessThan(before);
    posted.abort();
    endless.stop(true);
  });

  test('reads compressed bodies, and rejects an unknown content coding', async () => {
    const codings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    for (const [name, compress] of Object.entries(codings)) {
      const body = compress('hello');
      upstream.respond = ({ socket }) => {
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Encoding: ${name}\r\nContent-Length: ${body.byteLength}\r\n\r\n`,
        );
        socket.write(body);
      };
      expect(await send()).toBe('hello');
    }
    upstream.respond = ({ socket }) => socket.write(answerOf('x', 'Content-Encoding: pack200\r\n'));
    expect(String(await failureOf(send()))).toContain('unknown content coding');
  });
});
