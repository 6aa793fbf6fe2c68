/** Channels that operators make by a route, on two replicas without a weir.yaml. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { CANARY, ChannelWorld, chatOn, sourcesOn } from '../../support/channel-world.ts';
import { errorOf } from '../../support/envelope.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

let world: ChannelWorld;
beforeAll(async () => {
  world = await ChannelWorld.start();
});
afterAll(() => world.stop());
afterEach(() => world.clear());

describe('POST /v1/operator/channels', () => {
  test('200: the channel serves calls on every replica, and the simulator’s channels are gone', async () => {
    expect(await sourcesOn(world.channels)).toContain('simulator demo-openai');
    const made = await world.create();
    const { models, ...settings } = made;
    expect(settings).toEqual({
      ...{ object: 'channel', id: 'openai', source: 'row', protocol: 'openai' },
      ...{ base_url: world.simulator.openai_url, priority: 0, weight: 1, max_concurrency: 200 },
      ...{ timeout_ms: 120_000, enabled: true, wins: { rule: expect.any(String), over: [] } },
      api_key_changed_at: expect.any(String),
      created_at: expect.any(String),
    } as never);
    expect(models).toContainEqual({ id: 'gpt-4o', upstream_model: 'gpt-4o' });
    // This replica has applied the change before the answer, the other one soon after.
    expect(await sourcesOn(world.channels)).toEqual(['row openai']);
    await until('the other replica has the channel', async () => {
      return (await sourcesOn(world.second)).join() === 'row openai';
    });
    for (const weir of world.replicas) {
      const response = await chatOn(weir);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    }
    const { calls } = await world.simulator.closedBooks({ account: CANARY });
    expect(calls.filter(({ outcome }) => outcome === 'whole')).toHaveLength(2);
    // The simulator of the demo serves Claude, and this account does not.
    for (const weir of world.replicas) {
      expect((await errorOf(await chatOn(weir, 'claude-haiku-4-5'), 400)).code).toBe(
        'model_not_found',
      );
    }
    await world.channels.ask('DELETE', '/openai');
    await until('the simulator is back on both replicas', async () => {
      const shown = await Promise.all([sourcesOn(world.channels), sourcesOn(world.second)]);
      return shown.every((each) => each.includes('simulator demo-openai'));
    });
  });

  test('no answer, no row and no audit line shows the key', async () => {
    const made = await world.channels.send('POST', '', world.account({ id: 'mine' }));
    const texts = [
      await made.text(),
      JSON.stringify(await world.channels.list()),
      await (await world.channels.send('GET', '/mine')).text(),
      await (await world.channels.send('POST', '/mine/test')).text(),
      JSON.stringify(await world.database.sql`select * from channel`),
      JSON.stringify(await world.database.sql`select * from audit_log`),
      JSON.stringify(await world.database.sql`select * from kept_change`),
    ];
    for (const text of texts) expect(text).not.toContain(CANARY);
    expect(made.headers.get('cache-control')).toBe('no-store');
  });

  test('200: chosen settings; ids are the protocol’s, with a number if it is taken', async () => {
    const chosen = {
      ...{ models: { 'gpt-4o': 'gpt-4o-2024-11-20' }, priority: -1, weight: 0.5 },
      ...{ max_concurrency: 7, timeout_ms: 5_000, enabled: false },
    };
    const made = await world.create(chosen);
    expect(made).toMatchObject({
      ...{ ...chosen, models: [{ id: 'gpt-4o', upstream_model: 'gpt-4o-2024-11-20' }] },
    });
    expect((await world.create()).id).toBe('openai-2');
    expect((await world.create({ id: 'mine' })).id).toBe('mine');
    const [first] = await world.channels.list();
    expect(first).toMatchObject({ id: 'openai', state: 'disabled', enabled: false });
  });

  test('200: spaces and slashes around what people paste are removed', async () => {
    const pasted = { base_url: ` ${world.simulator.openai_url}// `, api_key: `\n sim-${CANARY}\n` };
    expect(await world.create(pasted)).toMatchObject({ base_url: world.simulator.openai_url });
  });

  test('200: a repeat makes nothing, and needs no provider', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const body = world.account({ id: 'mine' });
    const first = await world.channels.send('POST', '', body, headers);
    await world.simulator.setAccount(CANARY, { revoked: true });
    const again = await world.channels.send('POST', '', body, headers);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await again.text()).toBe(await first.text());
    const other = await world.channels.send('POST', '', world.account({ id: 'other' }), headers);
    expect((await errorOf(other, 422)).code).toBe('idempotency_key_reused');
    expect((await world.channels.list()).map(({ id }) => id)).toEqual(['mine']);
  });

  test('at the same time on both replicas: each gets an id of its own', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        (number % 2 === 0 ? world.channels : world.second).ask('POST', '', world.account()),
      ),
    );
    const ids = made.map(({ id }) => id).sort();
    expect(ids).toEqual(['openai', ...[2, 3, 4, 5, 6, 7, 8].map((number) => `openai-${number}`)]);
  });

  test('a refused key makes nothing, and no line in the audit log', async () => {
    await world.refuse({ id: 'mine', api_key: 'wrong' });
    expect(await sourcesOn(world.channels)).not.toContain('row mine');
    const lines = await world.auditOf('mine');
    expect(lines.filter(({ action }) => action === 'channel.create').length).toBe(
      lines.filter(({ action }) => action === 'channel.delete').length,
    );
  });

  test.each([
    ['id', { id: 'Upper' }],
    ['id', { id: '' }],
    ['id', { id: 'a'.repeat(65) }],
    ['models', { models: {} }],
    ['models', { models: ['gpt-4o'] }],
    ['models.gpt-4o', { models: { 'gpt-4o': '' } }],
    ['models.gpt-4o', { models: { 'gpt-4o': 5 } }],
    ['models.gpt-40', { models: { 'gpt-40': 'gpt-4o' } }],
    ['models.gpt-image-1', { models: { 'gpt-image-1': 'gpt-image-1' } }],
    ['models.veo-3.1', { models: { 'gpt-4o': 'gpt-4o', 'veo-3.1': 'veo' } }],
    ['models.nano-banana', { models: { 'nano-banana': 'x' } }],
    ['models.__proto__', JSON.parse('{"models":{"__proto__":"x"}}')],
    ['priority', { priority: 0.5 }],
    ['priority', { priority: 2_000_000 }],
    ['weight', { weight: 0 }],
    ['weight', { weight: '1' }],
    ['max_concurrency', { max_concurrency: 0 }],
    ['timeout_ms', { timeout_ms: 99 }],
    ['enabled', { enabled: 'yes' }],
    ['source', { source: 'row' }],
    ['api_key', { api_key: undefined }],
    ['protocol', { protocol: 'ftp' }],
  ])('400: names %s in %j', async (param, more) => {
    expect((await world.refuse(more)).param).toBe(param);
  });

  test('409: an id that is taken, or that is a path', async () => {
    await world.create({ id: 'mine' });
    for (const id of ['mine', 'check']) {
      expect(await world.refuse({ id }, 409)).toMatchObject({
        param: 'id',
        code: 'already_exists',
      });
    }
  });

  test('400: an account without a model of the catalogue names models', async () => {
    const google = { protocol: 'veo', base_url: `${world.simulator.url}/google/v1beta` };
    expect((await world.create(google)).models).toEqual([
      { id: 'veo-3.1', upstream_model: 'veo-3.1-generate-preview' },
    ]);
    const server = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      fetch: () => Response.json({ data: [{ id: 'my-own' }] }),
    });
    const base_url = `http://127.0.0.1:${server.port}/v1`;
    expect((await world.refuse({ base_url })).param).toBe('models');
    expect(await world.create({ base_url, models: { 'gpt-4o': 'my-own' } })).toMatchObject({
      models: [{ id: 'gpt-4o', upstream_model: 'my-own' }],
    });
    await server.stop(true);
  });

  test('401 and 403: only operators who may write', async () => {
    const { api_key, management_token } = world.replicas[0];
    for (const token of [api_key, management_token, 'op-nobody']) {
      const headers = { authorization: `Bearer ${token}` };
      for (const [method, path] of [
        ...([
          ['POST', '/check'],
          ['POST', ''],
          ['PATCH', '/x'],
          ['DELETE', '/x'],
        ] as const),
      ]) {
        const body = method === 'DELETE' ? undefined : world.account();
        expect((await world.channels.send(method, path, body, headers)).status).toBe(401);
      }
    }
  });
});
