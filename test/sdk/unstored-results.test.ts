/**
 * Images whose result Weir must not fetch, and images that every provider refuses without a reason that
 * blames somebody. The provider answers with the form of OpenAI docs, Create image, or with a payload
 * of an issue thread; the openai package reads Weir's error.
 */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI, { APIError } from 'openai';
import { failureOf } from '../support/failure-of.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { VENDOR_ERRORS } from '../upstreams/transport/errors/all.ts';
import { isProved } from '../upstreams/transport/errors/payload.ts';
import { startUpstream } from '../upstreams/upstream.ts';

setDefaultTimeout(60_000);

const upstream = startUpstream();
let weir: RunningWeir;
let openai: OpenAI;
beforeAll(async () => {
  const channel = (id: string) => ({
    ...{ id, protocol: 'openai-images', base_url: upstream.url, api_key: 'none' },
    models: { 'dall-e-3': 'dall-e-3' },
  });
  const channels = [channel('one'), channel('two')];
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
  openai = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key, maxRetries: 0 });
});
afterAll(async () => {
  await weir.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.asked.length = 0;
});

const make = () => openai.images.generate({ model: 'dall-e-3', prompt: 'A lighthouse' });

async function read<Answer>(path: string, token: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}` };
  return (await (await fetch(`${weir.base_url}/v1${path}`, { headers })).json()) as Answer;
}

interface Balance {
  used: number;
  held: number;
}

/** The addresses of RFC 1918, RFC 3927 and RFC 4193, and the loopback. */
test.each([
  'http://10.0.0.7/a.png',
  'http://192.168.1.1/a.png',
  'http://172.16.0.1/a.png',
  'http://169.254.169.254/latest/meta-data',
  'http://[fd00::1]/a.png',
  'http://127.0.0.1:1/a.png',
])('a result at %s says why it is missing: to the client, and to the operator', async (url) => {
  upstream.answer = () => Response.json({ created: 1_713_833_628, data: [{ url }] });
  const failure = (await failureOf(make())) as APIError;
  expect(failure).toBeInstanceOf(APIError);
  expect(failure.message).toContain('The result of the generation could not be stored.');
  // P5: only the operator learns the address.
  expect(JSON.stringify(failure.error)).not.toContain(new URL(url).hostname);
  expect(weir.output()).toContain('the host is not on the public internet');
  expect(await read('/management/balance', weir.management_token)).toMatchObject({
    ...{ used: 0, held: 0 },
  } satisfies Balance);
});

/** Refusals that prove nobody's fault, as providers sent them. */
const UNCLEAR = VENDOR_ERRORS.flatMap(({ vendor, source, payloads }) =>
  payloads
    .filter((each) => each.fault === 'unclear' && each.protocol === undefined)
    .filter((each) => isProved(each.source ?? source) && each.status !== 429)
    .map((each) => [vendor, each.source ?? source ?? '', each] as const),
);

test('there are such refusals', () => expect(UNCLEAR.length).toBeGreaterThanOrEqual(5));

test.each(UNCLEAR)(
  'a task that all channels refuse as %s did (%s) fails at once, without a charge',
  async (_vendor, _source, { status, body }) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    upstream.answer = () => new Response(text, { status });
    const began = performance.now();
    const failure = (await failureOf(make())) as APIError;
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(failure).toBeInstanceOf(APIError);
    expect(failure.status === 502 || failure.status === 413).toBe(true);
    // Both channels were tried once, and neither is blamed.
    expect(upstream.asked).toHaveLength(2);
    const { data } = await read<{ data: { state: string }[] }>(
      '/operator/channels',
      weir.operator_token,
    );
    expect(data.map(({ state }) => state)).toEqual(['healthy', 'healthy']);
    expect(await read('/management/balance', weir.management_token)).toMatchObject({
      ...{ used: 0, held: 0 },
    });
  },
);
