/** Two administrators who change one object at the same time lose no update (`If-Match`). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { ManagedKeys, record } from '../../support/managed-keys.ts';

let app: TestApp;
const keys = new ManagedKeys(() => app);
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const tagOf = ({ headers }: { headers: Pick<Headers, 'get'> }) => headers.get('etag') ?? '';

test('the answers with a key have the entity tag of its settings', async () => {
  const created = await keys.create({ name: 'tagged' });
  const { id } = await record(created);
  const changed = await keys.patch(id, { name: 'changed' });
  expect(tagOf(created)).toMatch(/^"[\w-]+"$/);
  expect(tagOf(changed)).not.toBe(tagOf(created));
  expect(tagOf(await keys.get(id))).toBe(tagOf(changed));
});

test('a charge does not change the tag, so an administrator need not repeat his change', async () => {
  const { id } = await keys.add();
  const tag = tagOf(await keys.get(id));
  await app.database.sql`update api_key set used_nano_usd = 5 where id = ${id}`;
  expect(tagOf(await keys.get(id))).toBe(tag);
  expect((await keys.patch(id, { name: 'x' }, { 'if-match': tag })).status).toBe(200);
});

test('412: the change of settings that somebody else changed is refused', async () => {
  const { id } = await keys.add({ models: ['gpt-4o'] });
  const tag = tagOf(await keys.get(id));
  await keys.patch(id, { models: ['gpt-4o', 'o3'] });
  for (const response of [
    await keys.patch(id, { models: ['gpt-4o', 'gpt-5'] }, { 'if-match': tag }),
    await keys.remove(id, { 'if-match': tag }),
    await keys.rotate(id, {}, { 'if-match': tag }),
  ]) {
    const error = await errorOf(response, 412);
    expect(error).toMatchObject({ code: 'precondition_failed', param: 'If-Match' });
  }
  expect(await keys.find(id)).toMatchObject({ models: ['gpt-4o', 'o3'], status: 'active' });
});

test('400: a malformed If-Match changes nothing', async () => {
  const { id } = await keys.add({ name: 'same' });
  const response = await keys.patch(id, { name: 'x' }, { 'if-match': 'xyzzy' });
  expect((await errorOf(response, 400)).param).toBe('If-Match');
  expect((await keys.find(id))?.name).toBe('same');
});

test('of concurrent read-change-write cycles with If-Match, none is lost', async () => {
  const { id } = await keys.add({ tags: [] });
  async function addTag(tag: string): Promise<void> {
    for (;;) {
      const read = await keys.get(id);
      const { tags } = await record(read);
      const body = { tags: [...tags, tag] };
      const response = await keys.patch(id, body, { 'if-match': tagOf(read) });
      if (response.status === 200) return;
      await errorOf(response, 412);
    }
  }
  const all = Array.from({ length: 12 }, (_, n) => `tag-${n}`);
  await Promise.all(all.map(addTag));
  expect([...((await keys.find(id))?.tags ?? [])].sort()).toEqual([...all].sort());
});
