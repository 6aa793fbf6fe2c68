import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { post } from '../../../../src/upstreams/transport/http1/post.ts';
import { MAX_HELD_BYTES } from '../../../../src/upstreams/transport/http1/response.ts';
import { failureOf } from '../../../support/failure-of.ts';
import { removeFolder, throwawayFolder } from '../../../support/throwaway.ts';
import { until } from '../../../support/until.ts';
import { AUTHORITY, ELSEWHERE, LOCALHOST } from './certificates.ts';
import { answerOf, startTcpUpstream, type TcpUpstream } from './tcp-upstream.ts';

let upstream: TcpUpstream;
beforeEach(() => {
  upstream = startTcpUpstream();
});
afterEach(() => upstream.stop());

const ask = async (body = '{}', headers: Record<string, string> = {}) =>
  (await post(`${upstream.url}/v1/chat?a=b`, headers, body).answer).text();

describe('posting to an upstream', () => {
  test('sends what it was given, and gives back what came', async () => {
    upstream.respond = ({ socket }) => socket.write(answerOf('grüße'));
    expect(await ask('{"name":"Jürgen"}', { Authorization: 'Bearer sk', 'X-Name': 'é' })).toBe(
      'grüße',
    );
    const [request] = upstream.received;
    expect(request?.body).toBe('{"name":"Jürgen"}');
    const lines = request?.head.split('\r\n') ?? [];
    expect(lines[0]).toBe('POST /v1/chat?a=b HTTP/1.1');
    expect(lines).toContain(`Host: ${new URL(upstream.url).host}`);
    expect(lines).toContain('Authorization: Bearer sk');
    expect(lines).toContain('X-Name: é');
    expect(lines).toContain('Accept-Encoding: identity');
  });

  test('sends each call its own headers, whatever the one before it had', async () => {
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
    for (const headers of all) await ask('"é"', headers);
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

  test('never sends a header that would be two', async () => {
    for (const value of ['a\r\nX-Evil: 1', 'a\nb', 'a\0', '→']) {
      expect(() => post(upstream.url, { 'X-Name': value }, '{}')).toThrow('cannot be sent');
    }
    expect(upstream.opened).toBe(0);
  });

  test('sends a body of many megabytes to an upstream that reads slowly', async () => {
    const body = JSON.stringify({ text: 'ü€😀'.repeat(1_000_000) });
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    expect(await ask(body)).toBe('ok');
    expect(upstream.received[0]?.body === body).toBe(true);
    expect(await ask('{}')).toBe('ok');
    expect(upstream.opened).toBe(1);
  });

  test('uses a connection again, for as many calls at a time as there are', async () => {
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    for (let call = 0; call < 5; call += 1) await ask();
    expect(upstream.opened).toBe(1);
    const calls = await Promise.all(Array.from({ length: 200 }, () => ask()));
    expect(calls.every((said) => said === 'ok')).toBe(true);
    const { opened } = upstream;
    expect(opened).toBeLessThanOrEqual(200);
    // Bun's own client keeps 64 of them and throws the others away.
    await Promise.all(Array.from({ length: 200 }, () => ask()));
    expect(upstream.opened).toBe(opened);
  });

  test('gives each call its own answer, whatever else is under way', async () => {
    upstream.respond = ({ socket, body }) => {
      const answer = answerOf(`${body} ${'x'.repeat(Number(body) * 400)}`);
      const middle = Math.floor(answer.length / 2);
      socket.write(answer.slice(0, middle));
      setTimeout(() => socket.write(answer.slice(middle)), Number(body) % 7);
    };
    const calls = Array.from({ length: 100 }, (_, number) => ask(String(number)));
    for (const [number, said] of (await Promise.all(calls)).entries()) {
      expect(said).toBe(`${number} ${'x'.repeat(number * 400)}`);
    }
  });

  test('asks anew where an idle connection was closed just now, and only then', async () => {
    upstream.respond = ({ socket, connection }) => {
      if (upstream.received.length === 2) socket.end();
      else socket.write(answerOf(`over ${connection}`));
    };
    expect(await ask('1')).toBe('over 0');
    expect(await ask('2')).toBe('over 1');
    expect(upstream.received.map(({ body }) => body)).toEqual(['1', '2', '2']);
  });

  test('asks nobody twice who may have begun: a new connection, or a part of an answer', async () => {
    upstream.respond = ({ socket }) => socket.end();
    expect(await failureOf(ask('new'))).toBeInstanceOf(Error);
    expect(upstream.received).toHaveLength(1);
    upstream.respond = ({ socket }) => socket.write(answerOf('ok'));
    await ask('first');
    upstream.respond = ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nContent-');
    expect(await failureOf(ask('partly'))).toBeInstanceOf(Error);
    expect(upstream.received.map(({ body }) => body)).toEqual(['new', 'first', 'partly']);
  });

  test('does not go on with a connection whose two sides are out of step', async () => {
    const odd = [
      answerOf('ok', 'Connection: close\r\n'),
      `${answerOf('ok')}HTTP/1.1 200 OK\r\n\r\n`,
      'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
    ];
    for (const [calls, answer] of odd.entries()) {
      upstream.respond = ({ socket }) => socket.write(answer);
      expect(await ask()).toBe('ok');
      await until('the connection is closed', () => upstream.closed === calls + 1);
    }
    // Nobody asked for this: the next call must not take it for its answer.
    upstream.respond = ({ socket }) => {
      socket.write(answerOf('ok'));
      setTimeout(() => socket.write(answerOf('unasked')), 20);
    };
    expect(await ask()).toBe('ok');
    await until('the connection is closed', () => upstream.closed === odd.length + 1);
  });

  test('does not read on while a body is still being sent that the answer came before', async () => {
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
    const answer = await post(`http://127.0.0.1:${early.port}`, {}, 'x'.repeat(32_000_000)).answer;
    expect([answer.status, answer.ok, await answer.text()]).toEqual([413, false, 'no']);
    early.stop(true);
  });

  test('says why there is no answer', async () => {
    upstream.respond = ({ socket }) => socket.write('SSH-2.0\r\n\r\n');
    expect(String(await failureOf(ask()))).toContain('no head of HTTP/1.1');
    upstream.respond = ({ socket }) => socket.end(answerOf('hello').slice(0, -1));
    expect(String(await failureOf(ask()))).toContain('closed');
    upstream.stop();
    expect(await failureOf(ask())).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('that is given up is cut: before it is connected, answered, or read', async () => {
    const early = post(upstream.url, {}, '{}');
    early.abort();
    expect(await failureOf(early.answer)).toBeInstanceOf(Error);
    const asked = post(upstream.url, {}, '{}');
    await until('it was asked', () => upstream.received.length === 1);
    asked.abort();
    expect(await failureOf(asked.answer)).toBeInstanceOf(Error);
    upstream.respond = ({ socket }) => socket.write(answerOf('hello').slice(0, -1));
    const begun = post(upstream.url, {}, '{}');
    const text = (await begun.answer).text();
    begun.abort();
    expect(await failureOf(text)).toBeInstanceOf(Error);
    await until('all are closed', () => upstream.closed === upstream.opened);
  });

  test('that is given up is cut while the other side says nothing of TLS', async () => {
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
    await until('it is connected', () => opened === 1);
    posted.abort();
    expect(await failureOf(posted.answer)).toBeInstanceOf(Error);
    await until('it is closed', () => closed === 1);
    silent.stop(true);
  });

  test('cuts nobody else’s call when it is given up after its answer', async () => {
    upstream.respond = ({ socket }) => socket.write(answerOf('first'));
    const first = post(upstream.url, {}, '{}');
    const answer = await first.answer;
    upstream.respond = ({ socket }) => setTimeout(() => socket.write(answerOf('second')), 50);
    const second = ask();
    await until('both were asked', () => upstream.received.length === 2);
    expect(upstream.opened).toBe(1);
    first.abort();
    await answer.body?.getReader().cancel();
    expect(await second).toBe('second');
  });

  test('makes an upstream wait whose answer nobody reads', async () => {
    const PIECE = 'x'.repeat(64 * 1024);
    let sent = 0;
    const pour = (socket: { write(text: string): number }) => {
      for (let taken = PIECE.length; taken === PIECE.length; sent += taken) {
        taken = Math.max(0, socket.write(PIECE));
      }
    };
    const endless = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          pour(socket);
        },
        drain: pour,
      },
    });
    const posted = post(`http://127.0.0.1:${endless.port}`, {}, '{}');
    const reader = (await posted.answer).body?.getReader();
    let before = -1;
    await until('nothing more is sent', async () => {
      before = sent;
      await Bun.sleep(100);
      return sent > 0 && sent === before;
    });
    // What the two kernels hold is not ours; of what is, there is one piece beyond the mark.
    let read = 0;
    while (read <= before) read += (await reader?.read())?.value?.byteLength ?? 0;
    expect(sent).toBeGreaterThan(before);
    expect(before).toBeLessThan(64 * 1024 * 1024);
    expect(MAX_HELD_BYTES).toBeLessThan(before);
    posted.abort();
    endless.stop(true);
  });

  test('reads a compressed body that nobody asked for, and refuses what it cannot read', async () => {
    const coded = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    for (const [name, compress] of Object.entries(coded)) {
      const body = compress('hello');
      upstream.respond = ({ socket }) => {
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Encoding: ${name}\r\nContent-Length: ${body.byteLength}\r\n\r\n`,
        );
        socket.write(body);
      };
      expect(await ask()).toBe('hello');
    }
    upstream.respond = ({ socket }) => socket.write(answerOf('x', 'Content-Encoding: pack200\r\n'));
    expect(String(await failureOf(ask()))).toContain('unknown coding');
  });
});

describe('posting over TLS', () => {
  const ASK = fileURLToPath(new URL('ask.ts', import.meta.url));

  async function asked(server: { cert: string; key: string }, trusted: boolean): Promise<string> {
    const folder = throwawayFolder('tls');
    const authority = join(folder, 'authority.pem');
    writeFileSync(authority, AUTHORITY);
    const requests: string[] = [];
    const upstream = Bun.serve({
      port: 0,
      tls: server,
      async fetch(request) {
        requests.push(await request.text());
        return new Response('hello');
      },
    });
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
    const child = Bun.spawn([process.execPath, ASK, `https://localhost:${upstream.port}/`], {
      env: trusted ? { ...env, NODE_EXTRA_CA_CERTS: authority } : env,
      stdout: 'pipe',
    });
    const said = (await new Response(child.stdout).text()).trim();
    await upstream.stop(true);
    removeFolder(folder);
    return `${said} (${requests.length} asked)`;
  }

  test('asks only whose certificate is trusted, and is the host’s', async () => {
    expect(await asked(LOCALHOST, true)).toBe('hello (1 asked)');
    expect(await asked(LOCALHOST, false)).toBe(
      'refused: UNABLE_TO_VERIFY_LEAF_SIGNATURE (0 asked)',
    );
    expect(await asked(ELSEWHERE, true)).toBe('refused: ERR_TLS_CERT_ALTNAME_INVALID (0 asked)');
  });
});
