import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import {
  answerOf,
  chunks,
  nativeEvents,
  refusal,
  UPSTREAM_HEADERS,
} from '../support/upstream-answers.ts';
import { streamed } from '../upstreams/upstream.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.answer = answerOf;
});

const OWN = {
  openai: { physical: 'canary-model-small', secret: 'canary-secret-openai' },
  anthropic: { physical: 'canary-model-haiku', secret: 'canary-secret-anthropic' },
};
const HOMES = { openai: '/v1/chat/completions', anthropic: '/v1/messages' };
const MODELS = { openai: 'gpt-4o-mini', anthropic: 'claude-haiku-4-5' } as const;
const TURNS = { messages: [{ role: 'user', content: 'hello' }] };

/** Every chat route on every upstream: pass-through and translated. */
const ROUTES = (['openai', 'anthropic'] as const).flatMap((upstream) => {
  const model = MODELS[upstream];
  const known = { model, own: OWN[upstream], upstream };
  return [
    { ...known, path: '/v1/chat/completions', question: TURNS },
    { ...known, path: '/v1/messages', question: TURNS },
    { ...known, path: '/v1/responses', question: { input: 'hello' } },
  ];
});

describe.each(ROUTES)('P5: POST $path on $upstream shows nothing of it', (route) => {
  const { path, model, own, upstream, question } = route;
  const { physical } = own;
  // Translations share the failure handling of pass-through, so one failure of each kind is enough.
  const isHome = path === HOMES[upstream];
  const send = (more: object = {}) =>
    gateway.post(path, {
      model,
      ...(path.endsWith('responses') ? {} : { max_tokens: 500 }),
      ...question,
      ...more,
    });

  /** Returns the body of a response after checking that it has no canary. */
  async function clean(response: Response, status: number): Promise<string> {
    const text = await response.text();
    expect({ status: response.status, text }).toEqual({ status, text });
    const headers = JSON.stringify([...response.headers]);
    expect(headers + text).not.toMatch(/canary/i);
    for (const name of UPSTREAM_HEADERS) expect(response.headers.get(name)).toBeNull();
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    return text;
  }

  test('200: in a complete answer', async () => {
    const response = await send();
    const answer = JSON.parse(await clean(response, 200));
    expect(answer.model).toBe(model);
    const id = response.headers.get('x-request-id')?.slice('req_'.length) ?? '';
    expect(answer.id).toEndWith(id);
  });

  test('200: in a stream', async () => {
    const text = await clean(await send({ stream: true }), 200);
    expect(text).toContain('answer.');
    expect(text).toContain(JSON.stringify(model));
  });

  test('200: if the upstream returns another model name', async () => {
    gateway.upstream.answer = async (request) => {
      const response = answerOf(request);
      const text = (await response.text()).replaceAll(physical, 'canary-model-2031-01-01');
      return new Response(text, { headers: response.headers });
    };
    await clean(await send(), 200);
    await clean(await send({ stream: true }), 200);
  });

  test('200: in a stream that breaks in the middle', async () => {
    const events = upstream === 'anthropic' ? nativeEvents(physical) : chunks(physical);
    gateway.upstream.answer = () => streamed(events.slice(0, 4), true);
    const text = await clean(await send({ stream: true }), 200);
    expect(text).toContain('A whole ');
    expect(text).toContain('"error"');
  });

  test('200: in a stream that ends with an error of the upstream', async () => {
    const events = upstream === 'anthropic' ? nativeEvents(physical) : chunks(physical);
    const refused = (await refusal(own, 500).json()) as object;
    const error = JSON.stringify({ type: 'error', ...refused });
    gateway.upstream.answer = () =>
      streamed([...events.slice(0, 4), `event: error\ndata: ${error}\n\n`]);
    const text = await clean(await send({ stream: true }), 200);
    expect(text).toContain('A whole ');
    expect(text).toContain('"error"');
  });

  test.each([false, true])('400: in a refusal of the request, stream: %p', async (stream) => {
    const words = `${physical} does not like temperature`;
    gateway.upstream.answer = () => refusal(own, 400, { message: words, param: 'temperature' });
    const { error } = JSON.parse(await clean(await send({ stream }), 400));
    // The part of the message that helps the client stays.
    expect(error).toMatchObject({ param: 'temperature' });
    expect(error.message).toBe(`${model} does not like temperature`);
  });

  test('400: in a refusal with every name in it', async () => {
    gateway.upstream.answer = () => refusal(own, 400, { type: 'invalid_request_error' });
    const { error } = JSON.parse(await clean(await send(), 400));
    expect(error.message).toContain(model);
  });

  /** Sends one call to a Weir of its own, because a failure counts against the channel. */
  async function onceAnswered(answer: () => Response, stream: boolean): Promise<Response> {
    const fresh = await startGateway();
    try {
      fresh.upstream.answer = answer;
      const response = await fresh.post(path, {
        ...{ model, stream, ...question },
        ...(path.endsWith('responses') ? {} : { max_tokens: 9 }),
      });
      return new Response(await response.text(), response);
    } finally {
      await fresh.stop();
    }
  }

  const FAILURES = [
    [401, { code: 'invalid_api_key' }, 503],
    [403, { type: 'permission_error' }, 503],
    [404, { code: 'model_not_found' }, 502],
    [429, { type: 'rate_limit_error' }, 429],
    [500, {}, 502],
    [529, { type: 'overloaded_error' }, 503],
  ] as const;
  test.each(isHome ? FAILURES : FAILURES.filter(([status]) => status === 500))(
    'in the response to an upstream %d',
    async (status, error, expected) => {
      const response = await onceAnswered(
        () => refusal(own, status, error, { 'retry-after': '3' }),
        false,
      );
      const body = JSON.parse(await clean(response, expected));
      expect(body.error.retryable).toBe(true);
      expect(response.headers.get('x-should-retry')).toBe('true');
      expect(response.headers.get('retry-after')).toBe(body.error.retry_after?.toString() ?? null);
    },
  );

  const NONSENSE: [what: string, answer: () => Response][] = [
    ['no JSON', () => new Response('<html>canary-host</html>')],
    ['an empty body', () => new Response('')],
    ['a redirect', () => Response.redirect('https://canary-host.internal/v1')],
    ['an array', () => Response.json(['canary'])],
    ['no required member', () => Response.json({ id: 'canary' })],
  ];
  test.each(isHome ? NONSENSE : NONSENSE.slice(0, 1))(
    '502: in what becomes of %s',
    async (_what, answer) => {
      for (const stream of [false, true]) await clean(await onceAnswered(answer, stream), 502);
    },
  );
});

test('P5: the upstream gets its own key, and neither the key nor the headers of the client', async () => {
  gateway.upstream.asked.length = 0;
  const headers = { cookie: 'a=b', 'x-forwarded-for': '10.1.2.3', 'user-agent': 'client/1' };
  for (const { path, model, question } of ROUTES) {
    const body = { model, ...question, ...('messages' in question ? { max_tokens: 9 } : {}) };
    expect((await gateway.post(path, body, { headers })).status).toBe(200);
  }
  expect(gateway.upstream.asked).toHaveLength(ROUTES.length);
  for (const { headers: got } of gateway.upstream.asked) {
    const all = JSON.stringify([...got]);
    expect(all).toContain('canary-secret-');
    expect(all).not.toContain(gateway.api_key);
    for (const name of ['cookie', 'x-forwarded-for']) expect(got.get(name)).toBeNull();
    expect(got.get('user-agent')).not.toBe('client/1');
  }
});
