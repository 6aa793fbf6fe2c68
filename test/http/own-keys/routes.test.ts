/** The routes with which organizations manage their own upstream keys, on two replicas. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { OWN_CANARY, OwnKeysWorld, type OwnKeyView } from '../../support/own-keys-world.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let world: OwnKeysWorld;
beforeAll(async () => {
  world = await OwnKeysWorld.start({ replicas: 2 });
});
afterAll(() => world.stop());
afterEach(() => world.clear());

const PATH = '/v1/management/upstream-keys';
const post = (path: string, body: object = {}, headers: Record<string, string> = {}) =>
  world.send(world.home.management_token, 'POST', PATH + path, body, headers);

describe('POST /v1/management/upstream-keys', () => {
  test('200: serves on every replica', async () => {
    const made = await world.add();
    expect(made).toMatchObject({
      ...{ name: 'openai', status: 'active', protocol: 'openai', key_tested: true, priority: 0 },
      ...{ models: [{ id: 'gpt-4o', upstream_model: 'gpt-4o' }], last_refusal: null },
    });
    const [first, second] = world.replicas;
    for (const weir of [first, second]) {
      await until('the replica uses the key', async () => {
        const before = await world.served();
        await (await world.chat({}, world.home, weir)).text();
        return (await world.served()) === before + 1;
      });
    }
  });

  test('200: without models, all that the account lists', async () => {
    const { models } = await world.add({ models: undefined });
    expect(models).toContainEqual({ id: 'gpt-4o', upstream_model: 'gpt-4o' });
  });

  test('no answer, no row and no audit line shows the key', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const made = await post('', world.account(), headers);
    const text = await made.text();
    const { id } = JSON.parse(text) as OwnKeyView;
    const again = await (await post('', world.account(), headers)).text();
    expect(again).toBe(text);
    await (await world.chat()).text();
    const rotated = await (
      await post(`/${id}/rotate`, { api_key: `sim-${OWN_CANARY}-new` })
    ).text();
    const tested = await (await post(`/${id}/test`)).text();
    const { sql } = world.database;
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`;
    const rows = await Promise.all(
      tables.map(async ({ name }) => JSON.stringify(await sql`select * from ${sql(name)}`)),
    );
    const shown = [text, rotated, tested, JSON.stringify(await world.keys()), ...rows];
    for (const each of shown) expect(each).not.toContain(OWN_CANARY);
    expect(made.headers.get('cache-control')).toBe('no-store');
  });

  test('400: a refused key is not kept, and its owner is told why', async () => {
    await world.simulator.setAccount(OWN_CANARY, { revoked: true });
    const error = await world.refuse({});
    expect(error).toMatchObject({ param: 'api_key', fault: 'account' });
    expect(error.message).toContain('The provider refused the key');
    const active = (await world.keys()).filter(({ status }) => status === 'active');
    expect(active).toEqual([]);
  });

  test.each([
    ['protocol', { protocol: 'nothing' }],
    ['base_url', { protocol: 'kling', base_url: undefined, models: undefined }],
    ['models', { protocol: 'kling', models: undefined }],
    ['models.nothing-1', { models: { 'nothing-1': 'x' } }],
    ['models.kling-3.0', { models: { 'kling-3.0': 'x' } }],
    ['api_key', { api_key: 'with space' }],
    ['api_key', { api_key: 'env:SECRET' }],
    ['name', { name: '' }],
    ['own', { own: 1 }],
  ])('400: names %s', async (param, more) => {
    expect((await world.refuse(more)).param).toBe(param);
  });

  test.each([
    'http://127.0.0.1:1/v1',
    'https://127.0.0.1/v1',
    'https://localhost/v1',
    'https://[::1]/v1',
    'https://[::ffff:10.0.0.1]/v1',
    'https://10.1.2.3/v1',
    'https://169.254.169.254/latest',
    'https://168.63.129.16/v1',
    'https://0x7f.1/v1',
    'https://2130706433/v1',
    'http://example.com/v1',
    'ftp://example.com/v1',
    'https://user:secret@example.com/v1',
  ])('400: the address %s', async (base_url) => {
    const error = await world.refuse({ base_url });
    expect(error.param).toBe('base_url');
    expect(error.message).not.toContain('secret');
  });

  test('a name that leads to an internal address is refused when Weir connects', async () => {
    // The name of this machine resolves to an address that is not public.
    const error = await world.refuse({ base_url: 'https://ip6-localhost/v1' });
    expect(error.message).toContain('cannot connect');
  });
});

test('429: an organization tests two keys at a time', async () => {
  await world.simulator.setAccount(OWN_CANARY, { latency_ms: 1_000 });
  const answers = await Promise.all([1, 2, 3, 4].map(() => post('', world.account())));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 200, 429, 429]);
  for (const answer of answers.filter(({ status }) => status === 429)) {
    expect((await errorOf(answer, 429)).retry_after).toBeGreaterThan(0);
  }
});

describe('rotate, change, test and revoke', () => {
  test('a rotated key serves at once, and the old one no longer', async () => {
    const { id } = await world.add();
    const body = { api_key: `sim-${OWN_CANARY}-2` };
    const rotated = await world.manage<OwnKeyView>('POST', `/upstream-keys/${id}/rotate`, body);
    expect(rotated.id).toBe(id);
    await (await world.chat()).text();
    expect(await world.served(`${OWN_CANARY}-2`)).toBe(1);
    expect(await world.served()).toBe(0);
  });

  test('400: a rotation to a refused key leaves the old one in use', async () => {
    const { id } = await world.add();
    await world.simulator.setAccount('wrong', { revoked: true });
    const refused = await post(`/${id}/rotate`, { api_key: 'sim-wrong' });
    expect((await errorOf(refused, 400)).param).toBe('api_key');
    await (await world.chat()).text();
    expect(await world.served()).toBe(1);
  });

  test('models and priority can change, and the account cannot', async () => {
    const { id } = await world.add();
    const path = `/upstream-keys/${id}`;
    const body = { name: 'mine', models: { 'gpt-4o': 'gpt-4o-2024-11-20' }, priority: 3 };
    const changed = await world.manage<OwnKeyView>('PATCH', path, body);
    expect(changed).toMatchObject({ name: 'mine', priority: 3 });
    expect(changed.models).toEqual([{ id: 'gpt-4o', upstream_model: 'gpt-4o-2024-11-20' }]);
    for (const fixed of ['base_url', 'protocol', 'api_key']) {
      const token = world.home.management_token;
      const refused = await world.send(token, 'PATCH', `/v1/management${path}`, { [fixed]: 'x' });
      expect((await errorOf(refused, 400)).param).toBe(fixed);
    }
  });

  test('a key with a lower priority is tried first', async () => {
    await world.add({ priority: 2 });
    await world.add({ priority: 1, api_key: `sim-${OWN_CANARY}-first` });
    for (let calls = 0; calls < 4; calls += 1) await (await world.chat()).text();
    expect([await world.served(), await world.served(`${OWN_CANARY}-first`)]).toEqual([0, 4]);
  });

  test('the owner is told why a call’s key was refused; the client is not', async () => {
    const { id } = await world.add();
    await world.simulator.setAccount(OWN_CANARY, { revoked: true });
    const response = await world.chat();
    const text = await response.text();
    expect(response.status).toBe(503);
    expect(text).not.toMatch(/refused|key|401|simulator/i);
    const refusal = await until('the refusal is stored', async () => {
      return (await world.keys()).find((key) => key.id === id)?.last_refusal ?? undefined;
    });
    expect(refusal).toMatchObject({ model: 'gpt-4o', message: expect.stringContaining('401') });
    const failed = await world.manage<object>('POST', `/upstream-keys/${id}/test`);
    expect(failed).toMatchObject({ ok: false, fault: 'account' });
    // The operator does not see the own keys of organizations.
    const { sql } = world.database;
    const [transitions] = await sql`
      select count(*)::int4 as count from channel_transition where channel_id like 'own:%'`;
    expect(transitions?.['count']).toBe(0);
    await world.simulator.setAccount(OWN_CANARY, {});
    const mended = await world.manage<object>('POST', `/upstream-keys/${id}/test`);
    expect(mended).toMatchObject({ ok: true, key_tested: true });
    expect((await world.keys()).find((key) => key.id === id)?.last_refusal).toBeNull();
    expect((await world.chat()).status).toBe(200);
  });

  test('a revoked key is gone for good, and a repeat changes nothing', async () => {
    const { id } = await world.add();
    const path = `/upstream-keys/${id}/revoke`;
    const revoked = await world.manage<OwnKeyView>('POST', path, {});
    expect(revoked).toMatchObject({ status: 'revoked', revoked_at: expect.any(String) });
    expect(await world.manage<OwnKeyView>('POST', path, {})).toEqual(revoked);
    const [row] = await world.database.sql`select sealed_key from upstream_key where id = ${id}`;
    expect(row?.['sealed_key']).toBe('');
    for (const act of ['test', 'rotate']) {
      const body = act === 'rotate' ? { api_key: 'sim-x' } : {};
      expect((await errorOf(await post(`/${id}/${act}`, body), 400)).param).toBe('id');
    }
  });

  test('every change has a line in the organization’s audit log', async () => {
    const { id } = await world.add();
    await world.manage('PATCH', `/upstream-keys/${id}`, { name: 'mine' });
    await world.manage('POST', `/upstream-keys/${id}/rotate`, { api_key: `sim-${OWN_CANARY}-3` });
    await world.manage('POST', `/upstream-keys/${id}/test`);
    await world.manage('POST', `/upstream-keys/${id}/revoke`);
    const rows = await world.database.sql<{ action: string; organization_id: string }[]>`
      select action, organization_id from audit_log where subject_id = ${id} order by seq`;
    expect(rows.map(({ action }) => action)).toEqual(
      ['create', 'update', 'rotate', 'test', 'revoke'].map((verb) => `upstream_key.${verb}`),
    );
    expect(new Set(rows.map(({ organization_id }) => organization_id))).toEqual(
      new Set([world.home.id]),
    );
  });
});

describe('P6: another organization’s key', () => {
  test('404: answers exactly like a missing one', async () => {
    const { id } = await world.add({}, world.away);
    const acts: [method: string, path: string, body?: object][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'mine' }],
      ['POST', '/test', {}],
      ['POST', '/rotate', { api_key: `sim-${OWN_CANARY}` }],
      ['POST', '/revoke', {}],
    ];
    for (const [method, path, body] of acts) {
      const answers = await Promise.all(
        [id, `upkey_${'0'.repeat(32)}`].map(async (each) => {
          const token = world.home.management_token;
          const response = await world.send(token, method, `${PATH}/${each}${path}`, body);
          return [response.status, (await response.text()).replace(/req_[0-9a-f]+/, '')];
        }),
      );
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.[0]).toBe(404);
    }
    expect(await world.keys()).not.toContainEqual(expect.objectContaining({ id }));
    expect((await world.keys(world.away)).find((key) => key.id === id)?.status).toBe('active');
  });

  test('never serves a call of this organization', async () => {
    await world.add({}, world.away);
    for (let calls = 0; calls < 3; calls += 1) await (await world.chat()).text();
    expect(await world.served()).toBe(0);
    await world.add({ api_key: `sim-${OWN_CANARY}-home` });
    await (await world.chat()).text();
    expect([await world.served(), await world.served(`${OWN_CANARY}-home`)]).toEqual([0, 1]);
  });

  test('sealed for one organization, it is of no use in another', async () => {
    const { id } = await world.add({}, world.away);
    await world.choose('only');
    const { sql } = world.database;
    await sql`update upstream_key set organization_id = ${world.home.id} where id = ${id}`;
    // A change makes the replicas read the rows of the organization again.
    await world.manage('PATCH', `/upstream-keys/${id}`, { name: 'moved' });
    const response = await world.chat();
    await response.text();
    expect(response.status).toBe(503);
    expect(await world.served()).toBe(0);
  });
});
