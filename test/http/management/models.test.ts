/** The catalogue for people, who read it without an API key. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { join } from '../../support/people.ts';

setDefaultTimeout(60_000);

let app: TestApp;
const unavailable = new Set(['veo-3.1']);
beforeAll(async () => {
  app = await startTestApp({ isServed: ({ id }) => !unavailable.has(id) });
});
afterAll(() => app.stop());

interface Listed {
  id: string;
  status: string;
  pricing: Record<string, unknown>;
  operations: string[];
}

async function read<Value>(path: string): Promise<Value> {
  const answer = await app.manage('GET', path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Value;
}

describe('GET /v1/management/models', () => {
  test('lists the whole catalogue with prices and what a caller may expect now', async () => {
    const { data } = await read<{ data: Listed[] }>('/models');
    const declared = builtInModels();
    expect(data.map(({ id }) => id)).toEqual(declared.map(({ id }) => id));
    expect(data.map(({ pricing }) => pricing)).toEqual(declared.map(({ price }) => ({ ...price })));
    expect(data.filter(({ status }) => status === 'unavailable').map(({ id }) => id)).toEqual([
      ...unavailable,
    ]);
  });

  test('says what a model can', async () => {
    const { data } = await read<{ data: (Listed & { capabilities: string[] })[] }>('/models');
    const of = (id: string) => data.find((each) => each.id === id);
    expect(of('gpt-4o')).toMatchObject({ operations: ['chat'], capabilities: ['tools', 'vision'] });
    expect(of('veo-3.1')?.operations).toContain('image-to-video');
    expect(of('tts-1')?.operations).toEqual(['text-to-speech']);
  });

  test('is for people of every role, without an API key', async () => {
    const viewer = await join(app, 'viewer@example.com', 'viewer');
    expect((await viewer.send('GET', '/v1/management/models')).status).toBe(200);
    expect((await fetch(`${app.base_url}/v1/management/models`)).status).toBe(401);
  });
});

describe('GET /v1/management/models/{model}', () => {
  test('shows the contract that GET /v1/models/{model} shows', async () => {
    for (const id of ['veo-3.1', 'flux-1.1-pro', 'tts-1', 'whisper-1']) {
      const { contract } = await read<{ contract: unknown }>(`/models/${id}`);
      const { weir } = (await (await app.fetch(`/v1/models/${id}`)).json()) as {
        weir: { public_contract: unknown };
      };
      expect(contract).toEqual(weir.public_contract);
    }
  });

  test('shows what a chat model takes, without its source', async () => {
    const shown = await read<Record<string, unknown>>('/models/gpt-4o');
    expect(shown).toMatchObject({ contract: null, abilities: { sampling: 'always' } });
    expect(JSON.stringify(shown)).not.toContain('ai-sdk');
  });

  test('finds a model by an alias', async () => {
    expect(await read('/models/flux-2')).toMatchObject({ id: 'flux-2-pro' });
  });

  test('404 with what was meant, for a name that is unknown', async () => {
    for (const name of ['gpt-4oo', '%E0%A4%A', 'a%2Fb']) {
      await errorOf(await app.manage('GET', `/models/${name}`), 404);
    }
    const error = await errorOf(await app.manage('GET', '/models/gpt-4oo'), 404);
    expect(error).toMatchObject({ code: 'model_not_found', did_you_mean: 'gpt-4o' });
  });
});
