/** Tests of accounts at providers, before and after an operator makes a channel of one. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { CANARY, ChannelWorld, sourcesOn } from '../../support/channel-world.ts';
import { errorOf } from '../../support/envelope.ts';

setDefaultTimeout(60_000);

let world: ChannelWorld;
beforeAll(async () => {
  world = await ChannelWorld.start();
});
afterAll(() => world.stop());
afterEach(() => world.clear());

describe('POST /v1/operator/channels/check', () => {
  test('200: the models of the catalogue with their prices, and the unknown names', async () => {
    const answer = await world.channels.check(world.account());
    expect(answer).toMatchObject({
      ...{ object: 'channel_check', protocol: 'openai', base_url: world.simulator.openai_url },
      ...{ key_tested: true, lists_models: true, suggested_id: 'openai' },
    } as object);
    expect(answer.unknown_models).toEqual(['gpt-3.5-turbo', 'omni-moderation-latest']);
    const by_id = new Map(answer.models.map((model) => [model.id, model]));
    expect(by_id.get('gpt-4o')).toEqual({
      ...{ id: 'gpt-4o', upstream_model: 'gpt-4o', other_upstream_models: ['gpt-4o-2024-11-20'] },
      ...{ protocol: 'openai', category: 'chat', owned_by: 'openai', pricing_unit: 'token' },
      pricing: expect.objectContaining({ input_usd_per_mtok: 2.5, output_usd_per_mtok: 10 }),
      pricing_provenance: { source: 'OpenAI price list', date: '2026-11-20' },
    });
    // Another channel at the same address can serve images.
    expect(by_id.get('gpt-image-1')?.protocol).toBe('openai-images');
    expect(JSON.stringify(answer)).not.toContain(CANARY);
    expect(await sourcesOn(world.channels)).not.toContain('row openai');
  });

  test('200: Anthropic and Gemini', async () => {
    const anthropic = { protocol: 'anthropic', base_url: world.simulator.anthropic_url };
    const claude = await world.channels.check(world.account(anthropic));
    expect(claude.models.find(({ id }) => id === 'claude-opus-4-5')).toMatchObject({
      ...{ upstream_model: 'claude-opus-4-5-20251101', protocol: 'anthropic' },
    });
    expect(claude.unknown_models).toEqual(['claude-3-haiku-20240307']);
    const google = { protocol: 'gemini', base_url: `${world.simulator.url}/google/v1beta` };
    const gemini = await world.channels.check(world.account(google));
    const protocols = new Map(gemini.models.map(({ id, protocol }) => [id, protocol]));
    expect(protocols.get('gemini-2.5-flash')).toBe('gemini');
    expect(protocols.get('gemini-2.5-flash-image')).toBe('gemini');
    expect(protocols.get('veo-3.1')).toBe('veo');
    expect(gemini.unknown_models).toEqual(['gemma-3-27b-it', 'aqa']);
  });

  test.each(['openai', 'anthropic', 'gemini'])(
    '400: names api_key, says what %s said and whose fault it is',
    async (protocol) => {
      const addresses = new Map([
        ['openai', world.simulator.openai_url],
        ['anthropic', world.simulator.anthropic_url],
      ]);
      const base_url = addresses.get(protocol) ?? `${world.simulator.url}/google/v1beta`;
      const body = { protocol, base_url, api_key: `wrong-${CANARY}` };
      const error = await errorOf(await world.channels.send('POST', '/check', body), 400);
      expect(error).toMatchObject({ param: 'api_key', fault: 'account' });
      expect(error.message).toContain('The provider refused the key');
      expect(error.message).toContain(error.provider_message?.slice(0, 20) ?? '?');
      expect(error.hint).toContain('api_key');
      expect(JSON.stringify(error)).not.toContain(CANARY);
    },
  );

  test('a provider that is dead, slow or no provider names base_url', async () => {
    const dead = await startDead();
    const cases: [string, number][] = [
      [dead, 400],
      // A server that is no model API.
      [`${world.simulator.url}/nothing`, 400],
      [`${world.simulator.openai_url}/chat/completions`, 400],
    ];
    for (const [base_url, status] of cases) {
      const response = await world.channels.send('POST', '/check', world.account({ base_url }));
      const error = await errorOf(response, status);
      expect([base_url, error.param, error.fault]).toEqual([base_url, 'base_url', 'broken']);
    }
  });

  test('503: a provider that limits the key blames nobody’s parameter', async () => {
    const server = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      fetch: () => Response.json({ error: { message: 'Slow down' } }, { status: 429 }),
    });
    const base_url = `http://127.0.0.1:${server.port}/v1`;
    const response = await world.channels.send('POST', '/check', world.account({ base_url }));
    expect(await errorOf(response, 503)).toMatchObject({
      ...{ param: null, fault: 'throttle', provider_message: 'Slow down', provider_status: 429 },
    });
    await server.stop(true);
  });

  test('200: a list without a key proves nothing, so the key is tested with a call', async () => {
    const server = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      fetch: (request) => {
        if (request.url.endsWith('/models')) return Response.json({ data: [{ id: 'gpt-4o' }] });
        const isRight = request.headers.get('authorization') === `Bearer right-${CANARY}`;
        const message = isRight ? 'messages is empty' : 'No auth credentials found';
        return Response.json({ error: { message } }, { status: isRight ? 400 : 401 });
      },
    });
    const base_url = `http://127.0.0.1:${server.port}/v1`;
    const right = world.account({ base_url, api_key: `right-${CANARY}` });
    expect(await world.channels.check(right)).toMatchObject({ key_tested: true });
    const wrong = world.account({ base_url, api_key: `wrong-${CANARY}` });
    const error = await errorOf(await world.channels.send('POST', '/check', wrong), 400);
    expect(error).toMatchObject({ param: 'api_key', provider_status: 401 });
    await server.stop(true);
  });

  test('200: `channel` stands for the account of a channel, also with another key', async () => {
    await world.create({ id: 'mine' });
    const known = await world.channels.check({ channel: 'mine' });
    expect(known).toMatchObject({ suggested_id: 'mine', base_url: world.simulator.openai_url });
    const body = { channel: 'mine', api_key: 'wrong' };
    const error = await errorOf(await world.channels.send('POST', '/check', body), 400);
    expect(error.param).toBe('api_key');
  });

  test.each([
    ['protocol', { api_key: 'k' }],
    ['protocol', { protocol: 'azure-openai', api_key: 'k' }],
    ['api_key', { protocol: 'openai' }],
    ['api_key', { protocol: 'openai', api_key: '' }],
    ['api_key', { protocol: 'openai', api_key: 'two words' }],
    ['api_key', { protocol: 'openai', api_key: 'x'.repeat(4_097) }],
    ['api_key', { protocol: 'openai', api_key: 'env:OPENAI_API_KEY' }],
    ['base_url', { protocol: 'openai', api_key: 'k', base_url: 'api.example.com' }],
    ['base_url', { protocol: 'openai', api_key: 'k', base_url: 'ftp://example.com' }],
    ['base_url', { protocol: 'openai', api_key: 'k', base_url: 'https://u:p@example.com' }],
    ['base_url', { protocol: 'openai', api_key: 'k', base_url: 'https://example.com?a=1' }],
    ['base_url', { channel: 'x', base_url: 'https://example.com' }],
    ['protocol', { channel: 'x', protocol: 'openai' }],
    ['key', { protocol: 'openai', key: 'k' }],
  ])('400: names %s in %j', async (param, body) => {
    const error = await errorOf(await world.channels.send('POST', '/check', body), 400);
    expect(error.param).toBe(param);
    expect(error.message).not.toContain('two words');
  });

  test('404: names channel', async () => {
    const response = await world.channels.send('POST', '/check', { channel: 'nobody' });
    expect((await errorOf(response, 404)).param).toBe('channel');
  });
});

/** Returns an address at which nothing listens. */
async function startDead(): Promise<string> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') });
  const { port } = server;
  await server.stop(true);
  return `http://127.0.0.1:${port}/v1`;
}
