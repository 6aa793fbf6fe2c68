/**
 * Requests with a `Host` header that names no host, to every route that costs money. Each is answered
 * with 400 before anything is created, reserved or charged (RFC 9112, 3.2).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { sendRaw } from '../full/support/raw-http.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await createTestDatabase();
  drop = fresh.drop;
  database = connectDatabase(fresh.url, { pool: 'single' });
  weir = await startWeir({ env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await database.close();
  await drop();
});

/** The first lines of a request: its target and its `Host` headers. */
type Head = (path: string) => string;
const host = (value: string): Head => {
  return (path) => `POST ${path} HTTP/1.1\r\nHost: ${value}\r\n`;
};

const MALFORMED: Readonly<Record<string, Head>> = {
  'no Host': (path) => `POST ${path} HTTP/1.1\r\n`,
  'no Host in HTTP/1.0': (path) => `POST ${path} HTTP/1.0\r\n`,
  'an empty Host': host(''),
  'a Host of spaces': host('   '),
  'a space': host('weir test'),
  'a tab': host('weir\ttest'),
  'an open bracket': host('[::'),
  'an address with a zone': host('[fe80::1%25eth0]'),
  'a letter outside of ASCII': host('w\u00eeir.test'),
  'a broken escape': host('%zz'),
  'an escape': host('%77eir.test'),
  'port 99999': host('weir.test:99999'),
  'a port that is no number': host('weir.test:http'),
  'an address out of range': host('999.1.1.1'),
  'a broken IDN label': host('xn--'),
  'user information': host('user:password@weir.test'),
  'a path': host('weir.test/v1'),
  'a query': host('weir.test?v1'),
  'a fragment': host('weir.test#v1'),
  'a comma': host('weir.test,weir.test'),
  'a URL': host('http://weir.test'),
  'two Host headers': (path) => `POST ${path} HTTP/1.1\r\nHost: weir.test\r\nHost: evil.test\r\n`,
  'the same Host twice': (path) =>
    `POST ${path} HTTP/1.1\r\nHost: weir.test\r\nHost: weir.test\r\n`,
  'a complete URL as the target, and a broken Host': (path) =>
    `POST http://weir.test${path} HTTP/1.1\r\nHost: [::\r\n`,
};

const WELL_FORMED: Readonly<Record<string, Head>> = {
  'a host name': host('weir.test'),
  'a name and a port': host('weir.test:8080'),
  'a name with an underscore': host('my_weir:3000'),
  'an IPv4 address': host('127.0.0.1:3000'),
  'an IPv6 address': host('[::1]:3000'),
  'a complete URL as the target': (path) =>
    `POST http://weir.test${path} HTTP/1.1\r\nHost: weir.test\r\n`,
};

const turn = { messages: [{ role: 'user', content: 'Hello' }] };
const contents = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const prompt = 'A lighthouse';
const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

/** Every route that costs money, with a body that the route accepts. */
const ROUTES: readonly [path: string, body: object | FormData][] = [
  ['/v1/chat/completions', { model: 'gpt-4o', ...turn }],
  ['/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 9, ...turn }],
  [
    '/v1/messages/batches',
    {
      requests: [{ custom_id: 'a', params: { model: 'claude-haiku-4-5', max_tokens: 9, ...turn } }],
    },
  ],
  ['/v1/responses', { model: 'gpt-4o', input: 'Hello' }],
  ['/v1beta/models/gemini-2.5-flash:generateContent', contents],
  ['/v1beta/models/gemini-2.5-flash:streamGenerateContent', contents],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello' }],
  ['/v1/audio/speech', { model: 'tts-1', voice: 'alloy', input: 'Hello' }],
  ['/v1/audio/transcriptions', sound()],
  ['/v1/audio/translations', sound()],
  ['/v1/rerank', { model: 'rerank-v3.5', query: 'a', documents: ['a'] }],
  ['/v1/translations', { text: 'Hello', target_lang: 'DE' }],
  ['/v1/images/generations', { model: 'gpt-image-2', prompt }],
  ['/v1/images/edits', { model: 'gpt-image-2', prompt, image: PICTURE }],
  ['/v1/videos/generations', { model: 'veo-3.1', prompt }],
  ['/v1/music/generations', { prompt }],
  ['/v1/3d/generations', { model: 'trellis', image_url: PICTURE }],
  ['/v1/audio/generations', { model: 'elevenlabs-sound-effects', prompt }],
];

function sound(): FormData {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(32_000)], 'speech.wav', { type: 'audio/wav' }));
  form.set('model', 'whisper-1');
  return form;
}

async function send(head: Head, path: string, body: object | FormData) {
  const encoded = body instanceof FormData ? new Response(body) : Response.json(body);
  const bytes = Buffer.from(await encoded.arrayBuffer());
  const request =
    `${head(path)}Connection: close\r\nAuthorization: Bearer ${weir.api_key}\r\n` +
    `anthropic-version: 2023-06-01\r\nContent-Type: ${encoded.headers.get('content-type')}\r\n` +
    `Content-Length: ${bytes.length}\r\n\r\n${bytes.toString('latin1')}`;
  // A well-formed call may take a second, so the silence is long. A closed connection ends it.
  return sendRaw(weir.base_url, [request], 10_000);
}

/** The log lines of level `error`, and those with a stack. */
const loggedErrors = () =>
  weir
    .output()
    .split('\n')
    .filter((line) => /"level":50|\\n\s+at /.test(line));

/** The rows that a paid call leaves behind, and the money that is not free any more, nano-USD. */
async function traces(): Promise<object> {
  const [row] = await database.sql`
    select (select count(*)::int from task) as tasks, (select count(*)::int from hold) as holds,
      (select count(*)::int from usage_line) as usage_lines,
      (select count(*)::int from message_batch) as batches,
      (select count(*)::int from stored_response) as responses,
      (select count(*)::int from quota_grant) as grants,
      (select sum(deposited_nano_usd - balance_nano_usd)::int8 from organization) as spent`;
  return { ...row };
}

const NO_TRACES = {
  ...{ tasks: 0, holds: 0, usage_lines: 0, batches: 0, responses: 0, grants: 0, spent: 0 },
};

describe('a malformed Host is refused before anything is made or charged', () => {
  test.each(ROUTES)('%s', async (path, body) => {
    const answers = await Promise.all(
      Object.entries(MALFORMED).map(async ([name, head]) => {
        const { statuses, text } = await send(head, path, body);
        return { name, statuses, text };
      }),
    );
    for (const { name, statuses, text } of answers) {
      expect({ name, statuses, text }).toMatchObject({ statuses: [400] });
      // The HTTP parser itself refuses some heads, without a body.
      if (!text.endsWith('\r\n\r\n')) expect(text).toContain('Host must be');
      expect(text).not.toMatch(/ at \S+ \(|\.ts:\d/);
    }
    expect(await traces()).toEqual(NO_TRACES);
  });

  test('the log has no stack and no error', () => {
    expect(loggedErrors()).toEqual([]);
  });

  test('a path that does not exist is refused in the same way', async () => {
    for (const head of Object.values(MALFORMED)) {
      expect((await send(head, '/v1/nothing', {})).statuses).toEqual([400]);
    }
    expect(loggedErrors()).toEqual([]);
  });
});

test.each(Object.entries(WELL_FORMED))('%s is served', async (_, head) => {
  const { statuses } = await send(head, '/v1/chat/completions', { model: 'gpt-4o', ...turn });
  expect(statuses).toEqual([200]);
});

test.each(['/healthz', '/readyz', '/metrics'])('%s needs no Host in HTTP/1.0', async (path) => {
  const { statuses } = await sendRaw(weir.base_url, [`GET ${path} HTTP/1.0\r\n\r\n`], 5_000);
  expect(statuses).toEqual([200]);
});
