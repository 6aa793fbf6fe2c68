/** The connection of a request that is answered before its body has arrived. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

const MB = 1024 * 1024;
/** What the buffers of both sides may take of an endless body before the connection ends, bytes. */
const MAX_TAKEN_BYTES = 40 * MB;
const NODE_CLIENT = fileURLToPath(new URL('../support/large-body-client.mjs', import.meta.url));

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true, env: { WEIR_BODY_MEMORY_MB: '8' } });
});
afterAll(() => weir?.stop());

interface Ended {
  head: string;
  taken_bytes: number;
}

/** Sends a request without an end. Resolves when Weir has closed the connection. */
function flood(head: string, framing: Framing): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const socket = connect(weir.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve({ head: answer, taken_bytes: socket.bytesWritten }));
  socket.write(`${head}${framing.header}\r\n\r\n`);
  const pump = () => {
    if (!socket.destroyed) socket.write(framing.part, () => setImmediate(pump));
  };
  pump();
  return promise;
}

interface Framing {
  header: string;
  part: Buffer;
}

const PART = Buffer.alloc(64 * 1024, ' ');
const FRAMINGS: Readonly<Record<string, Framing>> = {
  'Content-Length': { header: `Content-Length: ${1024 ** 4}`, part: PART },
  chunks: {
    header: 'Transfer-Encoding: chunked',
    part: Buffer.concat([Buffer.from('10000\r\n'), PART, Buffer.from('\r\n')]),
  },
};

const JSON_TYPE = 'Content-Type: application/json';
type Head = (key: string) => string;
const head = (line: string, type = JSON_TYPE): Head => {
  return (key) => `${line} HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${key}\r\n${type}\r\n`;
};

const ENDLESS: Readonly<Record<string, [head: Head, status: number]>> = {
  'a wrong key': [() => head('POST /v1/chat/completions')('sk-wrong'), 401],
  'no such path': [head('POST /v1/nothing'), 404],
  'a wrong method': [head('PUT /v1/chat/completions'), 405],
  'a wrong type': [head('POST /v1/chat/completions', 'Content-Type: text/plain'), 415],
  'a broken Host': [() => 'POST /v1/chat/completions HTTP/1.1\r\nHost: [::\r\n', 400],
  'a body above the limit': [head('POST /v1/chat/completions'), 413],
  'a form above the limit': [
    head('POST /v1/images/edits', 'Content-Type: multipart/form-data; boundary=a'),
    413,
  ],
  'a recording above the limit': [
    head('POST /v1/audio/transcriptions', 'Content-Type: multipart/form-data; boundary=a'),
    413,
  ],
};

describe.each(Object.entries(FRAMINGS))('P20: an endless body in %s', (_, framing) => {
  test.each(Object.entries(ENDLESS))('%s', async (_, [head, status]) => {
    const ended = await flood(head(weir.api_key), framing);
    expect(ended.head).toStartWith(`HTTP/1.1 ${status} `);
    expect(ended.head).toMatch(/^connection: close\r$/im);
    expect(ended.taken_bytes).toBeLessThan(MAX_TAKEN_BYTES);
  });

  // Bun reads the body of a GET without a stop, so the answer may be lost.
  test.each(['/v1/models', '/v1/nothing', '/healthz'])('GET %s', async (path) => {
    const { taken_bytes } = await flood(head(`GET ${path}`)(weir.api_key), framing);
    expect(taken_bytes).toBeLessThan(MAX_TAKEN_BYTES);
  });
});

/** Sends a request and only the start of its body. Resolves with the head of the answer. */
async function headOf(key: string, length: number, start = '{'): Promise<string> {
  const socket = connect(weir.port, '127.0.0.1');
  const { promise: answered, resolve: onAnswered } = Promise.withResolvers<void>();
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes.toString('latin1');
    if (answer.includes('\r\n\r\n')) onAnswered();
  });
  socket.write(
    `${head('POST /v1/chat/completions')(key)}Content-Length: ${length}\r\n\r\n${start}`,
  );
  await answered;
  socket.destroy();
  return answer;
}

test('clients that leave at once do not take the answers of later ones', async () => {
  const line = head('POST /v1/chat/completions')('sk-wrong');
  for (let client = 0; client < 30; client += 1) {
    const socket = connect(weir.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`${line}Content-Length: ${20 * MB}\r\n\r\n{`, () => socket.destroy());
  }
  await until('an answer arrives before the connection is closed', async () => {
    const ended = await flood(line, FRAMINGS.chunks as Framing);
    return ended.head.startsWith('HTTP/1.1 401 ') && ended.head.includes('chunked');
  });
});

/** How long a refused client waits before it sends the end of its body. */
const PAUSE_MS = 100;
/** Weir ends the answer after a second, also if the body has not ended. */
const MOST_MS = 900;

/**
 * A refused client: it sends the start of a body, reads the content of the answer, and later sends
 * the end of the body. Resolves with true if the answer ended only after the body. Resolves with
 * undefined if that cannot be judged: Weir was waiting for too many other clients, or this process
 * was so slow that Weir ended the answer.
 */
async function endsAfterItsBody(): Promise<boolean | undefined> {
  const socket = connect(weir.port, '127.0.0.1');
  const { promise: answered, resolve: onContent } = Promise.withResolvers<void>();
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  let answer = '';
  const hasEnded = () => answer.endsWith('\r\n0\r\n\r\n');
  socket.on('data', (bytes) => {
    answer += bytes.toString('latin1');
    if (answer.includes('}')) onContent();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => onClosed());
  const started_ms = performance.now();
  socket.write(
    `${head('POST /v1/chat/completions')('sk-wrong')}${FRAMINGS.chunks?.header}\r\n\r\n`,
  );
  socket.write('1\r\n{\r\n');
  await answered;
  await Bun.sleep(PAUSE_MS);
  const ended_early = hasEnded();
  if (!socket.destroyed) socket.write('1\r\n}\r\n0\r\n\r\n');
  await closed;
  if (!/^transfer-encoding: chunked\r$/im.test(answer)) return undefined;
  if (performance.now() - started_ms > MOST_MS) return undefined;
  return !ended_early && hasEnded();
}

test('the answer to a refused client ends when its body has ended', async () => {
  for (let client = 0; client < 3; client += 1) {
    let judged: boolean | undefined;
    await until('a client was judged', async () => {
      judged = await endsAfterItsBody();
      return judged !== undefined;
    });
    expect(judged).toBe(true);
  }
});

test('the connection of a small refused body stays open', async () => {
  const answer = await headOf('sk-wrong', 64 * 1024);
  expect(answer).toStartWith('HTTP/1.1 401 ');
  expect(answer).not.toMatch(/^connection: close/im);
});

test('a body that is nested too deeply is refused before all of it has arrived', async () => {
  expect(await headOf(weir.api_key, 3 * MB, '['.repeat(MB))).toStartWith('HTTP/1.1 400 ');
});

test('a short refused body in chunks is answered without a wait for more', async () => {
  const socket = connect(weir.port, '127.0.0.1');
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes.toString('latin1');
  });
  socket.on('close', () => onClosed());
  const chunked = `${FRAMINGS.chunks?.header}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
  socket.write(head('POST /v1/chat/completions')('sk-wrong') + chunked);
  await closed;
  expect(answer).toStartWith('HTTP/1.1 401 ');
  expect(answer).toEndWith('0\r\n\r\n');
});

// Node writes while the connection is closed. Other clients read the answer first (Bun, curl).
test.each([
  ['a wrong key', 'sk-wrong', ['20'], [401]],
  ['a body above the limit', undefined, ['40'], [413]],
  ['a body above the limit, in chunks', undefined, ['40', 'chunks'], [413, 503]],
])('the OpenAI SDK in Node gets each answer: %s', async (_, key, options, expected) => {
  const env = { ...process.env, OPENAI_BASE_URL: `${weir.base_url}/v1` };
  const client = Bun.spawn(['node', NODE_CLIENT, ...options], {
    env: { ...env, OPENAI_API_KEY: key ?? weir.api_key },
    stderr: 'inherit',
  });
  const seen: number[] = JSON.parse(await new Response(client.stdout).text());
  expect(seen).toHaveLength(8);
  expect(seen.filter((status) => !expected.includes(status))).toEqual([]);
});
