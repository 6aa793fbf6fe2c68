/** Defaults of Bun and Elysia that would break a gateway. Weir must override each of them. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { connect } from 'node:net';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';
import { until } from '../support/until.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

let app: TestApp;
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeAll(async () => {
  app = await startTestApp();
  process.on('unhandledRejection', note);
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  await app.stop();
});
beforeEach(() => {
  app.calls.length = 0;
});

const HELLO = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
const chat = (init: RequestInit = {}) =>
  app.fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(HELLO),
    ...init,
  });

describe('Bun’s idle timeout of 10 s', () => {
  const SILENCE_MS = 12_000;

  test('ends neither a late answer nor a stream that pauses', async () => {
    app.answer = async ({ stream }) => {
      if (!stream) {
        await Bun.sleep(SILENCE_MS);
        return Response.json({ late: true });
      }
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue('first ');
          await Bun.sleep(SILENCE_MS);
          controller.enqueue('last');
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const [late, paused] = await Promise.all([
      chat().then((response) => response.json()),
      chat({ body: JSON.stringify({ ...HELLO, stream: true }) }).then((answer) => answer.text()),
    ]);
    expect(late).toEqual({ late: true });
    expect(paused).toBe('first last');
  });
});

describe('Bun’s 413 without a body', () => {
  test('is never sent: a content length of any size gets our envelope before the body is sent', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const { port, hostname } = new URL(app.base_url);
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          'POST /v1/chat/completions HTTP/1.1\r\nHost: weir\r\n' +
            `Authorization: Bearer ${app.credentials.api_key}\r\n` +
            'Content-Type: application/json\r\nContent-Length: 4000000000000\r\n\r\n{',
        );
      });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
        if (!text.includes('}}')) return;
        resolve(text);
        socket.destroy();
      });
      socket.on('error', reject);
    });
    expect(answer).toStartWith('HTTP/1.1 413');
    // The body comes as a chunk, because its end is held back for a while.
    const body = answer.slice(answer.indexOf('{'), answer.indexOf('}}') + 2);
    expect(JSON.parse(body)).toMatchObject({
      error: { code: 'payload_too_large', param: 'body' },
    });
  });
});

describe('Elysia’s parsing and validation', () => {
  test('remove no field of a body', async () => {
    app.answer = () => Response.json({});
    const body = { ...HELLO, unknown: { nested: [1] }, messages: [{ ...HELLO.messages[0], x: 1 }] };
    await chat({ body: JSON.stringify(body) });
    expect(app.calls[0]?.body).toEqual(body);
  });

  test('convert no value: "1" is no integer', async () => {
    const response = await chat({ body: JSON.stringify({ ...HELLO, max_tokens: '1' }) });
    expect((await errorOf(response, 400)).param).toBe('max_tokens');
  });

  test('send no response of their own: no route sends 422', async () => {
    const body = JSON.stringify({ limitAmount: 'x' });
    for (const path of ['/v1/chat/completions', '/v1/management/api-keys']) {
      const headers = { authorization: `Bearer ${app.credentials.management_token}` };
      const response = await app.fetch(path, { method: 'POST', headers, body });
      expect([401, 415]).toContain(response.status);
      await errorOf(response, response.status);
    }
  });
});

describe('an unhandled rejection ends the process', () => {
  test('a client that leaves at any moment causes no unhandled rejection', async () => {
    let waiting = 0;
    app.answer = ({ signal, stream }) => {
      waiting += 1;
      const left = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      if (!stream) return left;
      const body = new ReadableStream({
        pull: async (controller) => {
          controller.enqueue('data: x\n\n');
          await Promise.race([Bun.sleep(1), left.catch(() => undefined)]);
        },
      });
      left.catch(() => undefined);
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const visitors = Array.from({ length: 60 }, async (_, n) => {
      const leave = new AbortController();
      const kind = n % 3;
      const endless = new ReadableStream({
        pull: async (controller) => {
          controller.enqueue(new TextEncoder().encode(' '));
          await Bun.sleep(1);
        },
      });
      const body = kind === 0 ? endless : JSON.stringify({ ...HELLO, stream: kind === 1 });
      const request = chat({ body, signal: leave.signal }).then(async (response) => {
        const reader = response.body?.getReader();
        await reader?.read();
        leave.abort();
        await reader?.read();
      });
      if (kind !== 1) setTimeout(() => leave.abort(), 5 + n);
      await request.catch(() => undefined);
    });
    await Promise.all(visitors);
    expect(waiting).toBeGreaterThan(0);
    // Weir ends the rest of these calls while it serves other calls.
    await until('the app serves on', async () => (await app.fetch('/v1/models')).ok);
    await Bun.sleep(50);
    expect(unhandled).toEqual([]);
  });
});

describe('the signal of a request, which Bun makes when it is first read', () => {
  test('is aborted, though it is first read after the client left', async () => {
    const left = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    app.answer = async ({ signal }) => {
      await left.promise;
      const isAborted = until('the signal is aborted', () => signal.aborted);
      await isAborted.then(() => ended.resolve(), ended.reject);
      return Response.json({});
    };
    const leave = new AbortController();
    const answer = chat({ signal: leave.signal }).catch(() => undefined);
    await until('the call runs', () => app.calls.length === 1);
    leave.abort();
    await answer;
    // Bun learns in the meantime that the connection is closed.
    setTimeout(left.resolve, 300);
    await ended.promise;
  });
});

describe('Bun’s limit of 256 fetches at a time', () => {
  const CALLS = 300;

  /** How many of 300 unanswered calls reach their server. */
  async function arrivals(env: Record<string, string | undefined>): Promise<number> {
    const script = `
      let arrived = 0;
      const never = new Promise(() => {});
      const server = Bun.serve({ port: 0, fetch: () => { arrived += 1; return never; } });
      for (let n = 0; n < ${CALLS}; n += 1) fetch(server.url).catch(() => {});
      let last = -1;
      while (arrived !== last || arrived === 0) { last = arrived; await Bun.sleep(300); }
      console.log(arrived);
      process.exit(0);`;
    const child = Bun.spawn([process.execPath, '-e', script], {
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: undefined, ...env },
      stdout: 'pipe',
    });
    return Number(await new Response(child.stdout).text());
  }

  test('applies by default, and the environment of bin/start raises it', async () => {
    const prepare = await Bun.file(`${import.meta.dir}/../../bin/lib/prepare.sh`).text();
    const limit = /BUN_CONFIG_MAX_HTTP_REQUESTS:-(\d+)/.exec(prepare)?.[1];
    expect(Number(limit)).toBeGreaterThan(CALLS);
    const [bare, lifted] = await Promise.all([
      arrivals({}),
      arrivals({ BUN_CONFIG_MAX_HTTP_REQUESTS: limit }),
    ]);
    expect(bare).toBe(256);
    expect(lifted).toBe(CALLS);
  });
});

describe('the allocator of Bun', () => {
  /** The allocator's own words about an option. */
  async function optionOf(name: string, env: Record<string, string | undefined>): Promise<string> {
    const child = Bun.spawn([process.execPath, '-e', '0'], {
      env: { ...process.env, MIMALLOC_VERBOSE: '1', ...env },
      stderr: 'pipe',
    });
    const words = await new Response(child.stderr).text();
    return new RegExp(`option '${name}': (\\S+)`).exec(words)?.[1] ?? 'unknown';
  }

  test.each([['MIMALLOC_PURGE_DELAY'], ['MIMALLOC_PURGE_HOLES']])(
    'keeps memory for less time by default, and obeys %s of bin/start',
    async (variable) => {
      const prepare = await Bun.file(`${import.meta.dir}/../../bin/lib/prepare.sh`).text();
      const value = new RegExp(`${variable}:-(\\d+)`).exec(prepare)?.[1];
      const option = variable.replace('MIMALLOC_', '').toLowerCase();
      expect(value).toBeDefined();
      expect(await optionOf(option, { [variable]: value })).toBe(String(value));
      expect(await optionOf(option, { [variable]: undefined })).not.toBe(String(value));
    },
  );
});
