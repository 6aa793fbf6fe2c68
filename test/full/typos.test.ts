/** Weir refuses a misspelled model or parameter, and the error names the one that was meant. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const NAMES = new Set(builtInModels().flatMap(({ id, aliases = [] }) => [id, ...aliases]));
/**
 * Chat models with long names. In a long name, one wrong letter leaves no doubt about the model.
 */
const CHAT = builtInModels().filter(({ category, id }) => category === 'chat' && id.length > 9);

/** Typing errors. Each is in the middle of the provider's word, where no version number is. */
const SLIPS: Record<string, (id: string) => string> = {
  'a letter twice': (id) => id.slice(0, 2) + id.slice(1),
  'a letter left out': (id) => id.slice(0, 1) + id.slice(2),
  'two letters swapped': (id) => `${id.charAt(1)}${id.charAt(0)}${id.slice(2)}`,
  'a neighbouring key': (id) => `${id.slice(0, 2)}w${id.slice(3)}`,
  'capital letters': (id) => id.toUpperCase(),
  underscores: (id) => id.replaceAll('-', '_'),
};

const generated = CHAT.flatMap(({ id }) =>
  Object.entries(SLIPS).map(([slip, misspell]) => ({ slip, sent: misspell(id), meant: id })),
).filter(({ sent }) => !NAMES.has(sent));

const chat = (model: string) =>
  app.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] });

test('the tests cover at least 85 misspellings', () => {
  expect(generated.length).toBeGreaterThanOrEqual(85);
});

describe.each(Object.keys(SLIPS))('a model name with %s', (slip) => {
  test('is refused, and the error names the model that was meant', async () => {
    const wrong: object[] = [];
    for (const { sent, meant } of generated.filter((each) => each.slip === slip)) {
      const error = await errorOf(await chat(sent), 400);
      expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
      if (error.did_you_mean !== meant) wrong.push({ sent, meant, got: error.did_you_mean });
      expect(error.suggestions?.[0]?.id).toBe(error.did_you_mean);
    }
    expect(wrong).toEqual([]);
    expect(app.calls).toEqual([]);
  });
});

describe('parameters that are misspelled', () => {
  test.each([
    ['/v1/management/api-keys', { limitAmout: 5 }, 'limitAmount'],
    ['/v1/management/api-keys', { nmae: 'x' }, 'name'],
    ['/v1/management/api-keys', { expires_at: null }, 'expiresAt'],
    ['/v1/management/api-keys', { model: ['gpt-4o'] }, 'models'],
  ])('%s with %j is refused by name', async (_, body, meant) => {
    const error = await errorOf(await app.manage('POST', '/api-keys', body), 400);
    expect(error.param).toBe(Object.keys(body)[0] ?? '');
    expect(JSON.stringify(error)).toContain(meant);
  });
});
