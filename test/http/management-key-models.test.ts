/** A key's `models` may name only models of the catalogue, or names that the key already has. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';
import { ManagedKeys, record } from '../support/managed-keys.ts';

let app: TestApp;
const keys = new ManagedKeys(() => app);
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const MODELS = builtInModels();
const NAMES = MODELS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);

/** Sends the list with a new key, and with an existing one. */
const ROUTES: [name: string, send: (models: string[]) => Promise<Response>][] = [
  ['POST', (models) => keys.create({ models })],
  ['PATCH', async (models) => keys.patch((await keys.add()).id, { models })],
];

describe.each(ROUTES)('%s of a key', (_, send) => {
  test('takes every id and every alias', async () => {
    expect((await record(await send(NAMES))).models).toEqual(NAMES);
  });

  test('refuses each misspelled id with its index and a suggestion', async () => {
    for (const [position, { id }] of MODELS.entries()) {
      const misspelled = `${id.slice(0, 1)}${id.slice(2)}`;
      if (NAMES.includes(misspelled)) continue;
      const before = NAMES.slice(0, position % 7);
      const error = await errorOf(await send([...before, misspelled, 'another']), 400);
      expect(error).toMatchObject({
        ...{ code: 'model_not_found', param: `models.${before.length}` },
        hint: 'GET /v1/models lists the models.',
      });
      expect(error.did_you_mean).toBe(error.suggestions?.[0]?.id);
      // The two models with the shortest names resemble others.
      if (id.length > 9) expect(NAMES).toContain(error.did_you_mean ?? misspelled);
    }
  });

  test('names the first unknown entry of a long list', async () => {
    const error = await errorOf(await send([...NAMES, 'x'.repeat(200), 'gpt-4o-mni']), 400);
    expect(error.param).toBe(`models.${NAMES.length}`);
    expect(error.message).toBe(`The model '${'x'.repeat(100)}' does not exist.`);
  });
});

describe('a key with a model that the catalogue has lost', () => {
  async function keyWith(models: string[]): Promise<string> {
    const { id } = await keys.add();
    await app.database.sql`update api_key set models = ${models} where id = ${id}`;
    return id;
  }

  test('stays as it is, and its other members can change', async () => {
    const id = await keyWith(['lost-1', 'gpt-4o']);
    const changed = await record(await keys.patch(id, { name: 'other' }));
    expect(changed.models).toEqual(['lost-1', 'gpt-4o']);
  });

  test('takes its lost models back, but no other unknown name', async () => {
    const id = await keyWith(['lost-1', 'lost-2', 'gpt-4o']);
    const models = ['gpt-5', 'lost-2'];
    expect((await record(await keys.patch(id, { models }))).models).toEqual(models);
    const error = await errorOf(await keys.patch(id, { models: ['lost-2', 'lost-1'] }), 400);
    expect(error).toMatchObject({ code: 'model_not_found', param: 'models.1' });
  });

  test('404: an unknown name for a key that does not exist', async () => {
    await errorOf(await keys.patch('key_none', { models: ['lost-1'] }), 404);
  });
});
