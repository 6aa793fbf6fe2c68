/** What the management interface offers for API keys beside the specification. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { ManagedKeys, record } from '../../support/managed-keys.ts';

let app: TestApp;
/** The clock of authentication moves on by this, ms. */
let later_ms = 0;
const keys = new ManagedKeys(() => app);
const announced: string[] = [];
beforeAll(async () => {
  app = await startTestApp({
    announceKey: (key_id) => announced.push(key_id),
    now: () => Date.now() + later_ms,
  });
});
afterAll(() => app.stop());

/** The status of an inference request with a key. */
async function statusWith(secret = ''): Promise<number> {
  const headers = { authorization: `Bearer ${secret}` };
  const response = await app.fetch('/v1/models', { headers });
  await response.text();
  return response.status;
}

describe('GET /v1/management/api-keys/{keyId}', () => {
  test('200: the record as the list has it', async () => {
    const { key: _shown_once, ...visible } = await keys.add({ name: 'one', tags: ['a'] });
    expect(await record(await keys.get(visible.id))).toEqual(visible);
    expect(await keys.find(visible.id)).toEqual(visible);
  });

  test.each(['key_unknown', '%00', 'x'.repeat(3_000)])('404: no key %s', async (id) => {
    expect((await errorOf(await keys.get(id), 404)).param).toBe('keyId');
  });

  test('404: P6: another organization’s key gives the same response as a missing one', async () => {
    const { key_id } = await keys.addStranger();
    for (const call of [
      (id: string) => keys.get(id),
      (id: string) => keys.remove(id),
      (id: string) => keys.rotate(id),
    ]) {
      const answers = await Promise.all([call(key_id), call('key_none')]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      const [theirs, none] = await Promise.all(answers.map((answer) => answer.text()));
      expect(theirs).toBe(none as string);
    }
    const [row] = await app.database.sql`select status from api_key where id = ${key_id}`;
    expect(row?.['status']).toBe('active');
  });
});

describe('tags and external ids', () => {
  test('200: are stored, changed and removed', async () => {
    const { id, tags, external_id } = await keys.add({
      tags: ['team:search', 'b,"{}', 'team:search'],
      external_id: 'customer 7',
    });
    expect({ tags, external_id }).toEqual({
      tags: ['team:search', 'b,"{}'],
      external_id: 'customer 7',
    });
    const changed = await record(await keys.patch(id, { tags: ['x'], external_id: 'c8' }));
    expect(changed).toMatchObject({ tags: ['x'], external_id: 'c8' });
    const cleared = await record(await keys.patch(id, { tags: [], external_id: null }));
    expect(cleared).toMatchObject({ tags: [], external_id: null });
  });

  test('200: the list is filtered by them, and by status', async () => {
    const one = await keys.add({ tags: ['filtered', 'one'], external_id: 'filter-1' });
    const two = await keys.add({ tags: ['filtered'] });
    await keys.patch(two.id, { status: 'suspended' });
    const idsOf = async (query: string) => (await keys.list(query)).data.map(({ id }) => id);
    expect(await idsOf('?external_id=filter-1')).toEqual([one.id]);
    expect(await idsOf('?tag=filtered')).toEqual([one.id, two.id]);
    expect(await idsOf('?tag=filtered&status=suspended')).toEqual([two.id]);
    expect(await idsOf('?tag=one&external_id=filter-2')).toEqual([]);
  });

  test.each([
    ['tags', { tags: 'a' }],
    ['tags.0', { tags: [''] }],
    ['tags.1', { tags: ['a', 'x'.repeat(65)] }],
    ['tags.0', { tags: ['nul\u0000'] }],
    ['tags', { tags: Array.from({ length: 21 }, (_, n) => `${n}`) }],
    ['external_id', { external_id: '' }],
    ['external_id', { external_id: 7 }],
    ['external_id', { external_id: 'x'.repeat(201) }],
    ['external_id', { external_id: '\u0000' }],
  ])('400: names %s in %j', async (param, body) => {
    expect((await errorOf(await keys.create(body), 400)).param).toBe(param);
    const { id } = await keys.add();
    expect((await errorOf(await keys.patch(id, body), 400)).param).toBe(param);
  });

  test.each([
    ['limit', '?limit=10'],
    ['status', '?status=deleted'],
    ['status', '?status=active&status=active'],
    ['external_id', '?external_id=%00'],
  ])('400: names the parameter %s of the list in %s', async (param, query) => {
    const response = await app.manage('GET', `/api-keys${query}`);
    expect((await errorOf(response, 400)).param).toBe(param);
  });

  test('409: an external id has one key of an organization, also if many are created at once', async () => {
    const created = await Promise.all(
      Array.from({ length: 10 }, () => keys.create({ external_id: 'once' })),
    );
    const statuses = created.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    for (const response of created.filter(({ status }) => status !== 200)) {
      const error = await errorOf(response, 409);
      expect(error).toMatchObject({ code: 'already_exists', param: 'external_id' });
    }
    const other = await keys.add();
    const error = await errorOf(await keys.patch(other.id, { external_id: 'once' }), 409);
    expect(error).toMatchObject({ code: 'already_exists', param: 'external_id' });
    const [holder] = (await keys.list('?external_id=once')).data;
    expect((await keys.patch(holder?.id ?? '', { external_id: 'once' })).status).toBe(200);
  });

  test('200: another organization may use the same external id', async () => {
    const { token } = await keys.addStranger();
    await keys.add({ external_id: 'shared' });
    const response = await fetch(`${app.base_url}/v1/management/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ external_id: 'shared' }),
    });
    expect((await record(response)).external_id).toBe('shared');
  });
});

describe('DELETE /v1/management/api-keys/{keyId}', () => {
  test('200: the key stops at once and leaves the list, and a repeat says the same', async () => {
    const { id, key } = await keys.add({ name: 'deleted' });
    expect(await statusWith(key)).toBe(200);
    announced.length = 0;
    for (const _ of ['first', 'repeat']) {
      const response = await keys.remove(id);
      expect(response.status).toBe(200);
      expect((await response.json()) as object).toEqual({
        ...{ object: 'api_key.deleted', id, deleted: true },
      });
    }
    expect(announced).toEqual([id]);
    expect(await statusWith(key)).toBe(401);
    expect(await keys.find(id)).toBeUndefined();
    expect(await record(await keys.get(id))).toMatchObject({
      ...{ name: 'deleted', status: 'revoked', deleted_at: expect.stringMatching(/Z$/) },
    });
  });

  test('200: P1: the usage and the bill of a deleted key stay readable', async () => {
    const { id } = await keys.add();
    await app.database.sql`update api_key set used_nano_usd = 7000000000 where id = ${id}`;
    await keys.remove(id);
    for (const path of ['usage', 'billing']) {
      expect((await app.manage('GET', `/api-keys/${id}/${path}`)).status).toBe(200);
    }
    expect((await record(await keys.get(id))).used_amount).toBe(7);
  });

  test('404: a deleted key is not changed', async () => {
    const { id } = await keys.add();
    await keys.remove(id);
    await errorOf(await keys.patch(id, { name: 'x' }), 404);
    await errorOf(await keys.patch(id, { status: 'active' }), 404);
    await errorOf(await keys.rotate(id), 404);
  });

  test('200: its external id and its place are free again', async () => {
    const { id } = await keys.add({ external_id: 'free again' });
    await keys.remove(id);
    const next = await keys.add({ external_id: 'free again' });
    expect(next.id).not.toBe(id);
    const crowded = await startTestApp();
    await crowded.database.sql`
      insert into api_key (id, organization_id, name, key_hash, key_prefix)
      select 'key_' || n, ${crowded.organization_id}, 'n', 'h' || n, 'sk-…'
      from generate_series(1, 9999) n`;
    await errorOf(await crowded.manage('POST', '/api-keys', {}), 400);
    await crowded.manage('DELETE', '/api-keys/key_1');
    expect((await crowded.manage('POST', '/api-keys', {})).status).toBe(200);
    await crowded.manage('DELETE', '/api-keys/key_2');
    await crowded.database.sql`
      insert into api_key (id, organization_id, name, key_hash, key_prefix, status, deleted_at)
      select 'gone_' || n, ${crowded.organization_id}, 'n', 'g' || n, 'sk-…', 'revoked', now()
      from generate_series(1, 90000) n`;
    const error = await errorOf(await crowded.manage('POST', '/api-keys', {}), 400);
    expect(error.message).toContain('100000 with the deleted ones');
    await crowded.stop();
  });
});

describe('POST /v1/management/api-keys/{keyId}/rotate', () => {
  test('200: the old secret ends at once; limit, usage and id stay', async () => {
    const { key: old, ...before } = await keys.add({ limitAmount: 5, models: ['gpt-4o'] });
    await app.database.sql`update api_key set used_nano_usd = 2000000000 where id = ${before.id}`;
    expect(await statusWith(old)).toBe(200);
    announced.length = 0;
    const rotated = await record(await keys.rotate(before.id));
    expect(announced).toEqual([before.id]);
    expect(rotated).toMatchObject({
      ...{ id: before.id, limit_amount: 5, used_amount: 2, models: ['gpt-4o'], status: 'active' },
    });
    expect(rotated.key).toMatch(/^sk-[\w-]{43}$/);
    expect(rotated.key?.startsWith(rotated.key_prefix.replace('…', ''))).toBe(true);
    expect(await statusWith(rotated.key)).toBe(200);
    const refused = await app.fetch('/v1/models', { headers: { authorization: `Bearer ${old}` } });
    expect((await errorOf(refused, 401)).code).toBe('expired_api_key');
    expect(JSON.stringify(await keys.list())).not.toContain(rotated.key);
  });

  test('200: with a grace, both secrets work until it ends', async () => {
    const { id, key: old } = await keys.add();
    const rotated = await record(await keys.rotate(id, { grace_s: 3_600 }));
    expect(rotated).toHaveProperty('previous_key_expires_at');
    expect([await statusWith(old), await statusWith(rotated.key)]).toEqual([200, 200]);
    later_ms = 3_601_000;
    expect([await statusWith(old), await statusWith(rotated.key)]).toEqual([401, 200]);
    later_ms = 0;
    expect(await statusWith(old)).toBe(200);
    await keys.patch(id, { status: 'suspended' });
    expect([await statusWith(old), await statusWith(rotated.key)]).toEqual([403, 403]);
    await keys.patch(id, { status: 'active' });
    const third = await record(await keys.rotate(id, { grace_s: 60 }));
    const all = await Promise.all([old, rotated.key, third.key].map(statusWith));
    expect(all).toEqual([401, 200, 200]);
    await keys.remove(id);
    expect([await statusWith(rotated.key), await statusWith(third.key)]).toEqual([401, 401]);
  });

  test('200: ends the old secret on a replica that used the new one before the announcement', async () => {
    const { id, key: old } = await keys.add();
    await statusWith(old);
    // Another replica rotates the key.
    const other = await startTestApp({ requests_go_to: app.database.url });
    const response = await fetch(`${other.base_url}/v1/management/api-keys/${id}/rotate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.credentials.management_token}` },
    });
    const { key } = await record(response);
    expect(await statusWith(key)).toBe(200);
    expect(await statusWith(old)).toBe(401);
    await other.stop();
  });

  test('400: a revoked key is not rotated', async () => {
    const { id } = await keys.add();
    await keys.patch(id, { status: 'revoked' });
    expect((await errorOf(await keys.rotate(id), 400)).param).toBe('status');
  });

  test.each([-1, 1.5, '60', 30 * 86_400 + 1, null])('400: grace_s %p', async (grace_s) => {
    const { id } = await keys.add();
    expect((await errorOf(await keys.rotate(id, { grace_s }), 400)).param).toBe('grace_s');
  });
});

describe('the audit log', () => {
  interface Line {
    action: string;
    subject_id: string;
    before: object | null;
    after: object | null;
  }
  async function linesOf(key_id: string): Promise<Line[]> {
    const response = await app.manage('GET', `/audit-log?subject_id=${key_id}`);
    return ((await response.json()) as { data: Line[] }).data.reverse();
  }

  test('has each change of a key with the changed members, and no secret', async () => {
    const { id, key } = await keys.add({ name: 'audited', limitAmount: 3 });
    await keys.patch(id, { name: 'renamed', limitAmount: 3 });
    await keys.patch(id, { name: 'renamed' });
    await errorOf(await keys.patch(id, { name: '' }), 400);
    await errorOf(await keys.patch(id, { name: 'late' }, { 'if-match': '"old"' }), 412);
    const { key: second, key_prefix } = await record(await keys.rotate(id, { grace_s: 9 }));
    await keys.remove(id);
    await keys.remove(id);
    const lines = await linesOf(id);
    expect(lines.map(({ action }) => action)).toEqual([
      ...['api_key.create', 'api_key.update', 'api_key.rotate', 'api_key.delete'],
    ]);
    const [created, updated, rotated, deleted] = lines;
    expect(created).toMatchObject({ before: null, after: { name: 'audited', limit_amount: 3 } });
    expect(updated).toMatchObject({ before: { name: 'audited' }, after: { name: 'renamed' } });
    expect(Object.keys(updated?.after ?? {})).toEqual(['name']);
    expect(rotated?.after).toMatchObject({ key_prefix });
    expect(deleted?.before).toMatchObject({ status: 'active' });
    expect(deleted?.after).toMatchObject({ status: 'revoked' });
    for (const secret of [key, second]) {
      expect(JSON.stringify(lines)).not.toContain((secret ?? '').slice(10));
    }
  });

  test('has one line of a creation that was repeated', async () => {
    const header = { 'idempotency-key': 'audited-once' };
    const { id } = await record(await keys.create({}, header));
    await keys.create({}, header);
    expect(await linesOf(id)).toHaveLength(1);
  });
});
