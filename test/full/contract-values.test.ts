/**
 * Tests each boundary of each parameter. The value at the boundary is accepted. The value beyond it
 * is refused, and the error names the parameter.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { isGenerationFamily } from '../../src/catalogue/families.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { accept, generationModel } from '../support/contracts.ts';
import { type PropertySchema, valuesOf } from './support/contract-values.ts';

const makers = builtInModels().filter(({ family }) => isGenerationFamily(family));

interface Cell {
  model: string;
  name: string;
  value: unknown;
}

function cells(side: 'inside' | 'outside'): Cell[] {
  return makers.flatMap(({ id }) =>
    Object.entries(generationModel(id).contract.schema.properties).flatMap(([name, schema]) =>
      valuesOf(schema as PropertySchema)[side].map((value) => ({ model: id, name, value })),
    ),
  );
}

const PICTURE = 'https://example.com/a.png';
const FILM = 'https://example.com/a.mp4';
/** Parameters that a model needs besides its prompt, or instead of it. */
const NEEDED: Record<string, object> = {
  'kling-3.0-motion-control': { image_url: PICTURE, video_url: FILM },
  'runway-gen4-turbo': { image_url: PICTURE },
  // These models take an image instead of a prompt.
  trellis: { image_url: PICTURE, prompt: undefined },
  'hunyuan3d-2.1': { image_url: PICTURE, prompt: undefined },
  ...{ 'runway-aleph-2': { video_url: FILM }, 'topaz-video-upscale': { video_url: FILM } },
};
/**
 * Parameters that depend on the model or on other parameters. The tests of the contracts cover them.
 */
const DEPENDING = new Set([
  ...['operation', 'task_id', 'extend_at', 'extend_times', 'reference_image_type', 'async'],
  ...['continue_clip_id', 'continue_at', 'action'],
]);

/**
 * Returns the parameter that is refused; undefined if the value is accepted. Throws all other
 * errors.
 */
function refusedParam({ model, name, value }: Cell): string | undefined {
  try {
    accept(model, { ...NEEDED[model], [name]: value });
    return undefined;
  } catch (error) {
    if (error instanceof WeirError && error.entry.status === 400) {
      expect(error.message).not.toBe('');
      return error.details.param ?? 'none';
    }
    throw error;
  }
}

const shown = ({ model, name, value }: Cell) =>
  `${model}.${name} = ${JSON.stringify(value)}`.slice(0, 90);

test('the contracts give at least 430 values', () => {
  expect(cells('inside').length + cells('outside').length).toBeGreaterThanOrEqual(430);
});

test('a value outside of a published contract is refused, and the error names the parameter', () => {
  const wrong = cells('outside').flatMap((cell) => {
    const param = refusedParam(cell);
    const isNamed = param === cell.name || param?.startsWith(`${cell.name}.`);
    return isNamed ? [] : [`${shown(cell)}: ${param ?? 'accepted'}`];
  });
  expect(wrong).toEqual([]);
});

test('a value inside of a published contract is accepted', () => {
  const alone = cells('inside').filter(({ name }) => !DEPENDING.has(name));
  const wrong = alone.flatMap((cell) => {
    const param = refusedParam(cell);
    return param === undefined ? [] : [`${shown(cell)}: ${param}`];
  });
  expect(wrong).toEqual([]);
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const CHAT = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
const MESSAGES = { ...CHAT, model: 'claude-haiku-4-5', max_tokens: 9 };
const RESPONSES = { model: 'gpt-4o', input: 'hi', store: false };
const EMBEDDINGS = { model: 'text-embedding-3-small', input: 'hi' };
const SPEECH = { model: 'tts-1', input: 'hi', voice: 'alloy' };
const RERANK = { model: 'rerank-v3.5', query: 'hi', documents: ['a'] };
const TRANSLATION = { text: 'hi', target_lang: 'DE' };

type Row = [path: string, body: object, name: string, inside: unknown[], outside: unknown[]];
/** The values come from the providers' references of each route. */
const ROWS: Row[] = [
  ['/v1/chat/completions', CHAT, 'temperature', [0, 2, 1.5], [-0.01, 2.01, '1', true, []]],
  ['/v1/chat/completions', CHAT, 'top_p', [0, 1], [-0.01, 1.01, '1', true]],
  ['/v1/chat/completions', CHAT, 'n', [1, 128], [0, 129, 1.5, '1']],
  ['/v1/chat/completions', CHAT, 'max_tokens', [1, 100], [-1, 1.5, '1', true]],
  ['/v1/chat/completions', CHAT, 'max_completion_tokens', [1, 100], [-1, 1.5, '1', true]],
  ['/v1/chat/completions', CHAT, 'stream', [true, false, null], ['true', 1]],
  ['/v1/chat/completions', CHAT, 'stop', ['x', ['x', 'y'], null], [7, [7]]],
  ['/v1/chat/completions', CHAT, 'user', ['u'], [7, {}]],
  ['/v1/chat/completions', CHAT, 'tools', [[]], ['x', [7], [{}]]],
  ['/v1/chat/completions', CHAT, 'messages', [], [[], 'hi', [7], [{}], null]],
  ['/v1/chat/completions', CHAT, 'model', [], ['', 7, null, 'x'.repeat(201)]],
  ['/v1/messages', MESSAGES, 'temperature', [0, 1], [-0.01, 1.01, '1', null]],
  ['/v1/messages', MESSAGES, 'top_p', [0, 1], [-0.01, 1.01, '1']],
  ['/v1/messages', MESSAGES, 'top_k', [0, 500], [-1, 1.5, '1']],
  ['/v1/messages', MESSAGES, 'max_tokens', [1, 64_000], [0, -1, 1.5, '1', null]],
  ['/v1/messages', MESSAGES, 'stream', [true, false], ['true', 1]],
  ['/v1/messages', MESSAGES, 'stop_sequences', [['x']], ['x', [7]]],
  ['/v1/messages', MESSAGES, 'system', ['x', [{ type: 'text', text: 'x' }]], [7, [7]]],
  ['/v1/messages', MESSAGES, 'messages', [], [[], 'hi', [7], [{}], null]],
  ['/v1/responses', RESPONSES, 'temperature', [0, 2], [-0.01, 2.01, '1']],
  ['/v1/responses', RESPONSES, 'top_p', [0, 1], [-0.01, 1.01, '1']],
  ['/v1/responses', RESPONSES, 'max_output_tokens', [16, 100], [0, -1, 1.5, '1']],
  ['/v1/responses', RESPONSES, 'stream', [true, false], ['true', 1]],
  ['/v1/responses', RESPONSES, 'store', [false], ['false', 0]],
  ['/v1/responses', RESPONSES, 'instructions', ['x', null], [7, {}]],
  ['/v1/responses', RESPONSES, 'input', ['x'], [7, {}, null, [7]]],
  ['/v1/embeddings', EMBEDDINGS, 'dimensions', [1, 1_536], [0, 1_537, 1.5, '8']],
  ['/v1/embeddings', EMBEDDINGS, 'encoding_format', ['float', 'base64'], ['hex', 7]],
  ['/v1/embeddings', EMBEDDINGS, 'input', ['x', ['x'], [1]], ['', [], {}, 7]],
  ['/v1/audio/speech', SPEECH, 'speed', [0.25, 4], [0.24, 4.01, '1']],
  [
    '/v1/audio/speech',
    SPEECH,
    'response_format',
    ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'],
    ['ogg', 7],
  ],
  ['/v1/audio/speech', SPEECH, 'input', ['x', 'x'.repeat(4_096)], ['', 'x'.repeat(4_097), 7]],
  ['/v1/rerank', RERANK, 'top_n', [1], [0, -1, 1.5, '1']],
  ['/v1/rerank', RERANK, 'documents', [['a'], [{ text: 'a' }]], [[], 'a', [7]]],
  ['/v1/rerank', RERANK, 'query', ['x'], ['', 7, null]],
  ['/v1/translations', TRANSLATION, 'target_lang', ['DE', 'pt-BR'], ['Klingon please', 7]],
  ['/v1/translations', TRANSLATION, 'text', ['x', ['x']], ['', [], 7]],
];

describe('the parameters of the routes without tasks', () => {
  const send = (path: string, body: object) =>
    app.post(path, body, { 'anthropic-version': '2023-06-01' });

  test.each(ROWS.map((row) => [`${row[0]} ${row[2]}`, row] as const))('%s', async (_, row) => {
    const [path, body, name, inside, outside] = row;
    for (const value of inside) {
      const response = await send(path, { ...body, [name]: value });
      const text = await response.text();
      // In this app no channel serves some models. Then a correct call gets 503.
      expect({ name, value, ok: [200, 503].includes(response.status), text }).toMatchObject({
        ok: true,
      });
    }
    for (const value of outside) {
      const response = await send(path, { ...body, [name]: value });
      const { error } = (await response.json()) as { error: { param: string } };
      const seen = { name, value, status: response.status, param: error?.param };
      expect(seen).toMatchObject({ status: 400 });
      expect({
        ...seen,
        isNamed: seen.param === name || seen.param?.startsWith(`${name}.`),
      }).toMatchObject({ isNamed: true });
    }
  });
});
