/** Lists of models, as good and bad providers answer them. */
import { afterEach, describe, expect, test } from 'bun:test';
import type { ChannelProtocol } from '../../../src/protocols/names.ts';
import { TRANSPORTS } from '../../../src/upstreams/contract.ts';
import { listProviderModels, probeChatKey } from '../../../src/upstreams/direct/model-lists.ts';
import { ProviderRefusal } from '../../../src/upstreams/direct/provider-refusal.ts';
import { freePort } from '../../support/ports.ts';

const API_KEY = 'sk-canary-9f1c7a2b';

let server: Bun.Server<undefined> | undefined;
afterEach(() => server?.stop(true));

/** Starts a provider, and returns its address. */
function provider(answer: (request: Request) => Response | Promise<Response>): string {
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer });
  return `http://127.0.0.1:${server.port}/v1`;
}

const accountAt = (base_url: string, protocol: ChannelProtocol = 'openai') => ({
  ...{ protocol, base_url, api_key: API_KEY, transport: 'own' as const, timeout_ms: 5_000 },
});
const list = (answer: Parameters<typeof provider>[0], protocol: ChannelProtocol = 'openai') =>
  listProviderModels(accountAt(provider(answer), protocol));

async function refusalOf(listing: Promise<unknown>): Promise<ProviderRefusal> {
  const error = await listing.catch((thrown: unknown) => thrown);
  if (!(error instanceof ProviderRefusal)) throw new Error(`no refusal: ${String(error)}`);
  // Neither what is shown nor what is logged has the key.
  expect(`${error.said} ${error.message} ${error.stack}`).not.toContain(API_KEY);
  return error;
}

describe('a list', () => {
  test.each([
    ['OpenAI', { object: 'list', data: [{ id: 'a' }, { id: 'b' }] }],
    ['a bare array', [{ id: 'a' }, { id: 'b' }]],
    ['a member models', { models: [{ id: 'a' }, { id: 'b' }] }],
    ['odd entries', { data: [{ id: 'a' }, null, 5, {}, { id: 7 }, { id: '' }, { id: 'b' }] }],
    [
      'repeated and unusable ids',
      { data: ['a', 'a', 'b', 'x\ny', 'z'.repeat(201)].map((id) => ({ id })) },
    ],
  ])('as %s', async (_, body) => {
    const seen: string[] = [];
    const listed = await list((request) => {
      seen.push(`${new URL(request.url).pathname} ${request.headers.get('authorization')}`);
      return Response.json(body);
    });
    expect(listed).toEqual(['a', 'b']);
    expect(seen).toEqual([`/v1/models Bearer ${API_KEY}`]);
  });

  test('of Anthropic, in pages', async () => {
    const pages: string[] = [];
    const listed = await list((request) => {
      const { pathname, searchParams } = new URL(request.url);
      expect(pathname).toBe('/v1/v1/models');
      expect(request.headers.get('x-api-key')).toBe(API_KEY);
      expect(request.headers.get('anthropic-version')).toBe('2023-06-01');
      const after = searchParams.get('after_id') ?? '';
      pages.push(after);
      const id = { '': 'a', a: 'b/é' }[after] ?? 'c';
      return Response.json({ data: [{ id }], has_more: id !== 'c', last_id: id });
    }, 'anthropic');
    expect(listed).toEqual(['a', 'b/é', 'c']);
    expect(pages).toEqual(['', 'a', 'b/é']);
  });

  test('of Gemini, in pages', async () => {
    const listed = await list((request) => {
      const { searchParams } = new URL(request.url);
      expect(request.headers.get('x-goog-api-key')).toBe(API_KEY);
      expect(request.url).not.toContain(API_KEY);
      return searchParams.get('pageToken') === 'next&'
        ? Response.json({ models: [{ name: 'models/b' }] })
        : Response.json({ models: [{ name: 'models/a' }], nextPageToken: 'next&' });
    }, 'gemini');
    expect(listed).toEqual(['a', 'b']);
  });

  test.each(['anthropic', 'gemini'] as const)('of %s that never ends, ends', async (protocol) => {
    let pages = 0;
    const listed = await list(() => {
      pages += 1;
      const id = `m${pages}`;
      return protocol === 'gemini'
        ? Response.json({ models: [{ name: `models/${id}` }], nextPageToken: id })
        : Response.json({ data: [{ id }], has_more: true, last_id: id });
    }, protocol);
    expect([pages, listed?.length]).toEqual([10, 10]);
  });

  test('has at most 10,000 ids', async () => {
    const data = Array.from({ length: 20_000 }, (_, number) => ({ id: `m${number}` }));
    expect(await list(() => Response.json({ data }))).toHaveLength(10_000);
  });

  test('does not bring the key, if the provider echoes it', async () => {
    const listed = await list(() => Response.json({ data: [{ id: `x-${API_KEY}` }, { id: 'a' }] }));
    expect(JSON.stringify(listed)).not.toContain(API_KEY);
  });

  test.each([404, 405, 410, 501])('%d: there is none', async (status) => {
    expect(await list(() => new Response('no', { status }))).toBeUndefined();
  });
});

describe('a provider that refuses', () => {
  const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
  test.each([
    [401, error('Incorrect API key', { code: 'invalid_api_key' }), 'account'],
    [402, error('No money'), 'account'],
    [400, error('API key not valid. Please pass a valid API key.'), 'account'],
    [429, error('Slow down'), 'throttle'],
    [503, error('Busy'), 'overload'],
    [500, error('Oops'), 'broken'],
    [400, error('What?'), 'unclear'],
  ])('%d %j: the fault is %s', async (status, body, fault) => {
    const refusal = await refusalOf(list(() => Response.json(body, { status })));
    expect(refusal).toMatchObject({ fault, status, said: body.error.message, failure: undefined });
  });

  test('and quotes the key: the key is removed', async () => {
    const body = error(`Incorrect API key provided: ${API_KEY}`);
    const { said } = await refusalOf(list(() => Response.json(body, { status: 401 })));
    expect(said).toBe('Incorrect API key provided: ***');
  });

  test('with a page for people: only the status counts', async () => {
    const html = '<html>Sign in at https://intranet.local/secret</html>';
    const refusal = await refusalOf(list(() => new Response(html, { status: 403 })));
    expect(refusal).toMatchObject({ said: 'HTTP 403 without a message.', status: 403 });
  });

  test('with a redirect: it is not followed', async () => {
    const location = 'http://127.0.0.1:1/';
    const refusal = await refusalOf(
      list(() => new Response(null, { status: 302, headers: { location } })),
    );
    expect(refusal).toMatchObject({ fault: 'broken', status: 302 });
  });

  test('with a long message: it is cut', async () => {
    const { said } = await refusalOf(
      list(() => Response.json(error('x'.repeat(5_000)), { status: 400 })),
    );
    expect(said).toHaveLength(500);
  });
});

describe('a provider that does not work', () => {
  test.each([
    ['no JSON', 'hello'],
    ['cut JSON', '{"data":[{"id":"a"'],
    ['no list', '{"data":{"id":"a"}}'],
    ['a number', '5'],
    ['null', 'null'],
    ['an empty body', ''],
  ])('%s', async (_, body) => {
    const refusal = await refusalOf(list(() => new Response(body)));
    expect(refusal).toMatchObject({ fault: 'broken', status: 200 });
  });

  test.each(TRANSPORTS)('it is dead (%s)', async (transport) => {
    const account = { ...accountAt(`http://127.0.0.1:${await freePort()}/v1`), transport };
    const refusal = await refusalOf(listProviderModels(account));
    expect(refusal).toMatchObject({ fault: 'broken', status: 0, failure: 'connection' });
  });

  test.each(TRANSPORTS)('it never answers (%s)', async (transport) => {
    const base_url = provider(() => new Promise<Response>(() => undefined));
    const account = { ...accountAt(base_url), transport, timeout_ms: 200 };
    const refusal = await refusalOf(listProviderModels(account));
    expect(refusal).toMatchObject({ fault: 'broken', failure: 'timeout' });
  });

  test('it sends one byte after the other', async () => {
    const base_url = provider(() => {
      let timer: Timer;
      const body = new ReadableStream({
        start: (controller) => {
          timer = setInterval(() => controller.enqueue(new TextEncoder().encode(' ')), 20);
        },
        cancel: () => clearInterval(timer),
      });
      return new Response(body);
    });
    const refusal = await refusalOf(
      listProviderModels({ ...accountAt(base_url), timeout_ms: 300 }),
    );
    expect(refusal).toMatchObject({ fault: 'broken', failure: 'timeout' });
  });

  test.each(['with its length', 'in pieces'])('it sends too much, %s', async (how) => {
    const bytes = new Uint8Array(9 * 1024 * 1024).fill(0x20);
    const refusal = await refusalOf(
      list(() => new Response(how === 'in pieces' ? new Blob([bytes]).stream() : bytes)),
    );
    expect(refusal).toMatchObject({ fault: 'broken', failure: 'malformed' });
  });
});

describe('the probe of a key', () => {
  const probe = (answer: () => Response, protocol: ChannelProtocol = 'openai') =>
    probeChatKey(accountAt(provider(answer), protocol), 'a-model');
  const refused = (message: string, status: number) =>
    Response.json({ error: { message } }, { status });

  test.each([
    [400, 'messages: too short', true],
    [422, 'messages must not be empty', true],
    [200, '', true],
    [404, 'The model a-model does not exist', true],
    [404, 'Not Found', false],
    [405, 'Method Not Allowed', false],
  ])('%d %s: %p', async (status, message, isTested) => {
    expect(await probe(() => refused(message, status))).toBe(isTested);
  });

  test.each([401, 402])('%d: the key is refused', async (status) => {
    expect(await refusalOf(probe(() => refused('No.', status)))).toMatchObject({
      fault: 'account',
    });
  });

  test('asks for nothing that costs', async () => {
    const seen: unknown[] = [];
    const base_url = provider(async (request) => {
      seen.push(new URL(request.url).pathname, await request.json());
      return refused('x', 400);
    });
    await probeChatKey(accountAt(base_url), 'a-model');
    await probeChatKey(accountAt(base_url, 'anthropic'), 'a-model');
    const body = { model: 'a-model', messages: [], max_tokens: 1 };
    expect(seen).toEqual(['/v1/chat/completions', body, '/v1/v1/messages', body]);
    expect(await probeChatKey(accountAt(base_url, 'gemini'), 'a-model')).toBeUndefined();
  });
});
