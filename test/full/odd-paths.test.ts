/**
 * Paths that no client library writes. Each is answered like any unknown path, never with a 500.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../support/envelope.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { sendRaw } from './support/raw-http.ts';

setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const ENCODED = ['%2f', '%2F', '%5c', '%252f', '%c0%af', '%e2%88%95', '%ef%bc%8f'];

/** Targets that name no route. They get 404, or 405 if only the method is wrong. */
const PATHS = [
  // These paths have encoded slashes.
  ...ENCODED.map((slash) => `/v1${slash}models`),
  ...ENCODED.map((slash) => `/v1/management${slash}balance`),
  ...['//v1/models', '/v1//models', '///', '//', '/v1/models//', '/v1/management//balance'],
  // Dot segments, plain and encoded.
  ...['/v1/./nothing', '/v1/../nothing', '/v1/x/../nothing', '/../../../etc/passwd'],
  ...['/%2e%2e/%2e%2e/etc/passwd', '/v1/files/..%2f..%2fetc%2fpasswd', '/v1/files/%2e%2e/x'],
  ...['/v1/files/....//....//etc/passwd', '/v1/files/..\\..\\x', '/.', '/..', '/...'],
  // Control characters, broken escapes, broken UTF-8.
  ...[
    '/v1/models/%00',
    '/v1/models/a%00b',
    '/v1/%0d%0aset-cookie:x',
    '/v1/%ff',
    '/v1/%',
    '/v1/%zz',
  ],
  ...[
    '/v1/%e0%a4%a',
    '/v1/models/%ed%a0%80',
    '/v1/tasks/%00',
    '/v1/tasks/%00/events',
    '/v1/responses/%00',
  ],
  ...['/v1/responses/%00/input_items', '/v1/responses/%00/cancel', '/v1/messages/batches/%00'],
  ...['/v1/messages/batches/%00/results', '/v1/messages/batches/%00/cancel', '/v1/images/%00'],
  ...['/v1/images/generations/%00', '/v1/music/generations/%00', '/v1/files/%00'],
  ...['/v1/operator%00', '/v1beta/models/%ff:countTokens'],
  // These paths have other letters, other scripts or other endings.
  ...['/V1/models', '/v1/Models', '/v1/MODELS/gpt-4o', '/v1/mødels', '/v1/%F0%9F%90%99'],
  ...['/v1/models;x=1', '/v1/models.json', '/v1/models%20', '/v1/models%09', '/v1/models%3f'],
  ...['/v1/chat/completions/', '/v1/messages/', '/v1/chat', '/v1/chat/completions%2f'],
  ...['/__proto__', '/constructor', '/v1/__proto__', '/v1/models/__proto__', '/v1/tasks/__proto__'],
  ...['/v1/*', '/*', '/v1/:id', '/v1/tasks/:id', '/v1/models/*'],
  ...['/.env', '/.git/config', '/index.html', '/favicon.ico', '/v1/operator', '/v1/management/'],
  // These paths are too long.
  `/${'a'.repeat(8_000)}`,
  `/v1/models/${'a'.repeat(8_000)}`,
  `/${'a/'.repeat(3_000)}`,
  `/v1/tasks/${'%41'.repeat(2_000)}`,
  `/v1/models?${'q=1&'.repeat(2_000)}category=nothing`,
];

/**
 * Sends one request over its own connection. Returns the answer as a `Response`, because `errorOf`
 * takes one; undefined if the server closed the connection without an answer.
 */
async function ask(method: string, target: string): Promise<Response | undefined> {
  const { text } = await sendRaw(gateway.base_url, [
    `${method} ${target} HTTP/1.1\r\nHost: weir.test\r\nConnection: close\r\n` +
      `Authorization: Bearer ${gateway.api_key}\r\nContent-Length: 0\r\n\r\n`,
  ]);
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [status_line = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(status_line)?.[1]);
  if (Number.isNaN(status)) return undefined;
  const headers = lines.map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at), line.slice(at + 1).trim()];
  });
  return new Response(body, { status, headers });
}

test('the list has at least 51 paths', () => {
  expect(new Set(PATHS).size).toBeGreaterThanOrEqual(51);
});

describe.each(['GET', 'POST', 'DELETE'])('%s of a path that names no route', (method) => {
  test.each(PATHS.map((path) => [path.slice(0, 60), path]))('%s', async (_, path) => {
    gateway.errors.length = 0;
    const response = await ask(method, path);
    if (!response) throw new Error('no answer');
    const { status } = response;
    // Weir ignores a slash at the end. So such a path may name a route, which refuses the empty
    // body with 400 or 415.
    expect([400, 404, 405, ...(method === 'POST' ? [415] : [])]).toContain(status);
    const text = await response.clone().text();
    expect(text).not.toMatch(/ at \S+ \(|\.ts:\d|root:/);
    // Google's envelope has its own members. A refusal by the HTTP parser itself has no body.
    if (text !== '' && !text.includes('google.rpc')) await errorOf(response, status);
    expect(gateway.errors).toEqual([]);
  });
});

test('a path with percent-encoded letters is the same path', async () => {
  expect((await ask('GET', '/v1/models/gpt-4o'))?.status).toBe(200);
  expect((await ask('GET', '/v1/models/gpt%2D4o'))?.status).toBe(200);
});

test('Weir still serves calls after all these requests', async () => {
  expect((await ask('GET', '/v1/models'))?.status).toBe(200);
});
