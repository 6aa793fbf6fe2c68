/** What the playground sends and shows, without a browser. */
import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { modelRecord, modelSummary } from '../../src/http/management/model-record.ts';
import { readEvents } from '../../web/calls/event-reader.ts';
import { exampleCall } from '../../web/catalogue/example.ts';
import { parametersOf } from '../../web/contract/parameters.ts';
import { chatBody, chatParameters, membersOf } from '../../web/pages/playground/chat-body.ts';
import { readPlaygroundSearch, sceneOfModel } from '../../web/pages/playground/scenes.ts';
import { LANGUAGES, snippetOf } from '../../web/snippets/languages.ts';

const all = new Catalogue(builtInModels()).all();
const details = all.map((model) => modelRecord(model, modelSummary(model, 'available', undefined)));
const detail = (id: string) => details.find((each) => each.id === id);

describe('a chat call', () => {
  const turn = { id: 1, model: 'x', state: 'complete', began_ms: 0 } as const;
  test('goes on with the conversation, without questions that have no answer', () => {
    const earlier = [
      { ...turn, question: 'One?', answer: '1' },
      { ...turn, question: 'Broken?', answer: '' },
    ];
    const inputs = {
      model: 'm',
      system: 'Be short.',
      earlier,
      question: 'Two?',
      members: { n: 1 },
    };
    expect(chatBody(inputs)).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'One?' },
        { role: 'assistant', content: '1' },
        { role: 'user', content: 'Two?' },
      ],
      n: 1,
      stream: true,
    });
  });

  test('offers the parameters that the model takes', () => {
    const names = (id: string) => chatParameters(detail(id)).map(({ name }) => name);
    expect(names('gpt-4o')).toEqual(['max_completion_tokens', 'temperature']);
    expect(names('claude-opus-4-5')).toContain('reasoning_effort');
    for (const { id, category, abilities } of details) {
      if (category !== 'chat') continue;
      expect(names(id).includes('temperature')).toBe(abilities?.sampling !== 'never');
    }
  });
});

test('a form sends the types of the contract, and nothing for empty fields', () => {
  const parameters = parametersOf(detail('kling-3.0')?.contract ?? { properties: {} });
  const values = {
    ...{ duration: '10', cfg_scale: '0.5', watermark: 'true', output_audio: '' },
    ...{ negative_prompt: '  ', image_urls: 'https://a.example/1\n\nhttps://a.example/2' },
  };
  expect(membersOf(values, parameters)).toEqual({
    ...{ duration: 10, cfg_scale: 0.5, watermark: true },
    image_urls: ['https://a.example/1', 'https://a.example/2'],
  });
  // The API says what is wrong with it.
  expect(membersOf({ cfg_scale: 'much' }, parameters)).toEqual({ cfg_scale: 'much' });
});

test('the address names a scene, models and a key, and nothing else', () => {
  const models = ['a', '', 7, 'b', 'c', 'd', 'e'];
  expect(readPlaygroundSearch({ scene: 'video', models, key: 'key_1', x: 1 })).toEqual({
    ...{ scene: 'video', models: ['a', 'b', 'c', 'd'], key: 'key_1' },
  });
  expect(readPlaygroundSearch({ scene: 'odd', models: 5 })).toEqual({});
  expect(sceneOfModel({ category: 'tts' })).toBe('speech');
  expect(sceneOfModel({ category: 'rerank' })).toBeUndefined();
});

describe('the same call', () => {
  test('is written for every model, with its path and its id', () => {
    for (const model of details) {
      const call = exampleCall(model);
      for (const language of LANGUAGES) {
        const code = snippetOf(language, call, 'http://weir.example');
        if (code === undefined) continue;
        expect(code).toContain(model.id);
        expect(code).toContain('http://weir.example');
        expect(code).not.toMatch(/undefined|\[object/);
      }
      const curl = snippetOf('curl', call, 'http://weir.example');
      expect(curl).toContain(call.path);
    }
  });

  test('keeps quotes and lines of a prompt', () => {
    const content = `It's "here"\nand there`;
    const body = { model: 'm', messages: [{ role: 'user', content }] };
    const call = { scene: 'chat', path: '/v1/chat/completions', body } as const;
    const curl = snippetOf('curl', call, '') ?? '';
    const sent = /-d '([\s\S]*)'$/.exec(curl)?.[1]?.replaceAll(`'\\''`, "'") ?? '';
    expect(JSON.parse(sent)).toEqual(body);
    expect(snippetOf('openai (python)', call, '')).toContain(`"It's \\"here\\"\\nand there"`);
  });

  test('is JavaScript', () => {
    const transpiler = new Bun.Transpiler({ loader: 'js' });
    for (const model of details) {
      for (const language of ['openai (js)', 'anthropic', 'ai-sdk'] as const) {
        for (const stream of [true, false]) {
          const call = exampleCall(model);
          const body = { ...call.body, stream };
          const code = snippetOf(language, { ...call, body }, 'http://weir.example');
          if (code !== undefined) expect(() => transpiler.transformSync(code)).not.toThrow();
        }
      }
    }
  });
});

test('events are read from any pieces of a stream', async () => {
  const bytes = new TextEncoder().encode(
    'id: 1\nevent: a\ndata: {"ü":1}\n\n: x\n\ndata: [DONE]\n\n',
  );
  for (const size of [1, 2, 7, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const read: unknown[] = [];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    for await (const { event, data, id } of readEvents(body)) {
      read.push([event, data, id]);
    }
    expect(read).toEqual([
      ['a', '{"ü":1}', '1'],
      [undefined, '[DONE]', undefined],
    ]);
  }
});
