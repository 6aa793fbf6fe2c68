/** Changes and ends of channels that operators made, on two replicas. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { verifyAudit } from '../../../db/audit/verify.ts';
import { CANARY, ChannelWorld, chatOn, sourcesOn } from '../../support/channel-world.ts';
import { errorOf } from '../../support/envelope.ts';
import { OperatedChannels } from '../../support/operated-channels.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

let world: ChannelWorld;
beforeAll(async () => {
  world = await ChannelWorld.start();
});
afterAll(() => world.stop());
afterEach(() => world.clear());

describe('PATCH /v1/operator/channels/{id}', () => {
  test('200: what it names changes, live on every replica', async () => {
    await world.create({ id: 'mine' });
    const changes = { models: { 'gpt-4o': 'gpt-4o', 'gpt-5': 'gpt-5' }, priority: 3, weight: 2 };
    const changed = await world.channels.ask('PATCH', '/mine', changes);
    expect(changed).toMatchObject({ priority: 3, weight: 2, enabled: true, max_concurrency: 200 });
    expect(changed.models.map(({ id }) => id)).toEqual(['gpt-5', 'gpt-4o']);
    await until('the other replica has the change', async () => {
      const [shown] = await world.second.list();
      return shown?.priority === 3 && shown.models.length === 2;
    });
    expect((await chatOn(world.replicas[1], 'gpt-4o-mini')).status).toBe(400);
    await world.channels.ask('PATCH', '/mine', { enabled: false });
    await until('the other replica has turned the channel off', async () => {
      return (await world.second.list())[0]?.state === 'disabled';
    });
    for (const weir of world.replicas) expect((await chatOn(weir)).status).toBe(503);
    await world.channels.ask('PATCH', '/mine', { enabled: true });
    await until('the other replica has turned the channel on', async () => {
      return (await world.second.list())[0]?.state !== 'disabled';
    });
    for (const weir of world.replicas) expect((await chatOn(weir)).status).toBe(200);
  });

  test('a new key is tested before it replaces the old one, and is used from then on', async () => {
    const before = await world.create({ id: 'mine' });
    const wrong = await world.channels.send('PATCH', '/mine', { api_key: `wrong-${CANARY}` });
    expect((await errorOf(wrong, 400)).param).toBe('api_key');
    expect((await chatOn(world.replicas[0])).status).toBe(200);
    const api_key = `sim-${CANARY}-2`;
    const after = await world.channels.ask('PATCH', '/mine', { api_key });
    expect(after.api_key_changed_at > before.api_key_changed_at).toBe(true);
    // The list is read from the database, which knows the key before the replica does. The provider's books tell.
    await until('the other replica uses the new key', async () => {
      await chatOn(world.replicas[1]);
      const { calls } = await world.simulator.closedBooks();
      return calls.toSorted((one, other) => one.at - other.at).at(-1)?.account === `${CANARY}-2`;
    });
    await world.simulator.setAccount(CANARY, { revoked: true });
    for (const weir of world.replicas) expect((await chatOn(weir)).status).toBe(200);
    const lines = await world.auditOf('mine');
    expect(lines.at(-1)).toMatchObject({
      action: 'channel.update',
      before: { api_key_changed_at: before.api_key_changed_at },
      after: { api_key_changed_at: after.api_key_changed_at },
    });
    expect(JSON.stringify(lines)).not.toContain(CANARY);
  });

  test('412: the channel is not as the operator read it', async () => {
    await world.create({ id: 'mine' });
    const read = await world.channels.send('GET', '/mine');
    const etag = read.headers.get('etag') ?? '';
    const changed = await world.channels.send(
      'PATCH',
      '/mine',
      { weight: 2 },
      { 'if-match': etag },
    );
    expect(changed.status).toBe(200);
    const late = await world.channels.send('PATCH', '/mine', { weight: 3 }, { 'if-match': etag });
    expect((await errorOf(late, 412)).param).toBe('If-Match');
    const lateDelete = await world.channels.send('DELETE', '/mine', undefined, {
      'if-match': etag,
    });
    expect(lateDelete.status).toBe(412);
    const fresh = { 'if-match': changed.headers.get('etag') ?? '' };
    expect((await world.channels.send('PATCH', '/mine', { weight: 3 }, fresh)).status).toBe(200);
    // A call changes the health of the channel, but not its settings.
    const settings = (await world.channels.send('GET', '/mine')).headers.get('etag');
    await chatOn(world.replicas[0]);
    expect((await world.channels.send('GET', '/mine')).headers.get('etag')).toBe(settings);
  });

  test('200: a repeat changes nothing, and needs no provider', async () => {
    await world.create({ id: 'mine' });
    const read = await world.channels.send('GET', '/mine');
    const headers = {
      'idempotency-key': crypto.randomUUID(),
      'if-match': read.headers.get('etag') ?? '',
    };
    const body = { weight: 2, api_key: `sim-${CANARY}` };
    const first = await world.channels.ask('PATCH', '/mine', body, headers);
    await world.channels.ask('PATCH', '/mine', { weight: 5 });
    await world.simulator.setAccount(CANARY, { revoked: true });
    expect(await world.channels.ask('PATCH', '/mine', body, headers)).toEqual(first);
    expect((await world.channels.list())[0]?.weight).toBe(5);
  });

  test('a change that changes nothing has no line in the audit log', async () => {
    await world.create({ id: 'mine' });
    const before = await world.auditOf('mine');
    await world.channels.ask('PATCH', '/mine', { weight: 1, models: undefined });
    expect(await world.auditOf('mine')).toEqual(before);
  });

  test.each([
    ['body', {}],
    ['id', { id: 'other' }],
    ['protocol', { protocol: 'anthropic' }],
    ['base_url', { base_url: 'https://attacker.example/v1' }],
    ['weight', { weight: -1 }],
    ['models.gpt-9', { models: { 'gpt-9': 'x' } }],
    ['api_key', { api_key: 'a b' }],
    ['wait', { wait: 1 }],
  ])('400: names %s in %j', async (param, body) => {
    await world.create({ id: 'mine' });
    const error = await errorOf(await world.channels.send('PATCH', '/mine', body), 400);
    expect(error.param).toBe(param);
  });

  test.each(['nobody', 'a%00b', '..%2Fx'])('404: %s', async (id) => {
    for (const [method, body] of [
      ...([
        ['PATCH', { weight: 2 }],
        ['DELETE', undefined],
      ] as const),
    ]) {
      const response = await world.channels.send(method, `/${id}`, body);
      expect((await errorOf(response, 404)).param).toBe('id');
    }
  });

  test('409: the channels of the simulator cannot be changed', async () => {
    for (const [method, body] of [
      ...([
        ['PATCH', { weight: 2 }],
        ['DELETE', undefined],
      ] as const),
    ]) {
      const error = await errorOf(await world.channels.send(method, '/demo-openai', body), 409);
      expect(error).toMatchObject({ param: 'id', code: 'conflict' });
      expect(error.message).toContain('simulator');
    }
  });
});

describe('DELETE /v1/operator/channels/{id}', () => {
  test('200: the channel and its switch are gone, and the audit log says who did what', async () => {
    await world.create({ id: 'mine', models: { 'gpt-4o': 'gpt-4o' } });
    await world.channels.ask('POST', '/mine/disable', { reason: 'a test' });
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const gone = { object: 'channel', id: 'mine', deleted: true };
    expect(await world.channels.ask<object>('DELETE', '/mine', undefined, headers)).toEqual(gone);
    expect(await world.channels.ask<object>('DELETE', '/mine', undefined, headers)).toEqual(gone);
    expect((await world.channels.send('DELETE', '/mine')).status).toBe(404);
    await world.create({ id: 'mine' });
    expect((await world.channels.list())[0]).toMatchObject({
      state: expect.stringMatching(/^(?!dis)/),
    });
    const lines = (await world.auditOf('mine')).slice(-4);
    expect(lines.map(({ action }) => action)).toEqual([
      ...['channel.create', 'channel.disable', 'channel.delete', 'channel.create'],
    ]);
    expect(lines[0]).toMatchObject({
      ...{ actor_kind: 'operator', before: null },
      after: {
        protocol: 'openai',
        base_url: world.simulator.openai_url,
        models: { 'gpt-4o': 'gpt-4o' },
      },
    });
    expect(lines[2]).toMatchObject({ after: null, before: { protocol: 'openai' } });
    expect((await verifyAudit(world.database.sql, null)).broken_at).toBeNull();
  });

  test('409: while tasks run on the channel', async () => {
    const google = {
      protocol: 'veo',
      base_url: `${world.simulator.url}/google/v1beta`,
      id: 'film',
    };
    await world.create(google);
    const { base_url, api_key } = world.replicas[0];
    const response = await fetch(`${base_url}/v1/videos/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'veo-3.1', prompt: 'A film [[sim task_ms=3000]]' }),
    });
    expect([200, 202]).toContain(response.status);
    await until('the task runs on the channel', async () => {
      const [row] = await world.database.sql`
        select from task where channel_id = 'film' and status in ('pending', 'processing')`;
      return row !== undefined;
    });
    const error = await errorOf(await world.channels.send('DELETE', '/film'), 409);
    expect(error.message).toContain('1 task runs');
    await until('the task has ended', async () => {
      const running = await world.database.sql`
        select from task where channel_id = 'film' and status in ('pending', 'processing')`;
      return running.length === 0;
    });
    await world.channels.ask('DELETE', '/film');
  });
});

test('a channel that cannot be decrypted is off, says so, and gets a new key', async () => {
  await world.create({ id: 'mine' });
  await world.database.sql`update channel set sealed_key = 'AAAA' where id = 'mine'`;
  await world.channels.ask('PATCH', '/mine', { weight: 2 });
  const [shown] = await world.channels.list();
  expect(shown).toMatchObject({ state: 'disabled', api_key_readable: false, enabled: true });
  expect((await errorOf(await world.channels.send('POST', '/mine/enable'), 400)).hint).toContain(
    'api_key',
  );
  await world.channels.ask('PATCH', '/mine', { api_key: `sim-${CANARY}` });
  expect((await world.channels.list())[0]).toMatchObject({ api_key_readable: true });
  expect((await chatOn(world.replicas[0])).status).toBe(200);
});

test('a key that was moved to another address cannot be decrypted', async () => {
  await world.create({ id: 'mine' });
  await world.database
    .sql`update channel set base_url = 'http://attacker.example/v1' where id = 'mine'`;
  await world.channels.ask('PATCH', '/mine', { weight: 2 });
  expect((await world.channels.list())[0]).toMatchObject({
    state: 'disabled',
    api_key_readable: false,
  });
});

test('a replica that starts later has the channels before its first call', async () => {
  await world.create({ id: 'mine' });
  const third = await world.startReplica();
  try {
    expect((await chatOn(third)).status).toBe(200);
    expect(await sourcesOn(new OperatedChannels(() => third))).toEqual(['row mine']);
  } finally {
    await third.stop();
  }
});
