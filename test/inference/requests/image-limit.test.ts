/** An inline image may have 20 MB, in every form of every client protocol (spec: Limits). */
import { describe, expect, test } from 'bun:test';
import { refuseLargeImages } from '../../../src/inference/requests/image-limit.ts';
import type { ClientProtocol } from '../../../src/protocols/names.ts';

const MAX_BYTES = 20 * 1024 * 1024;

/** Base64 of an image with this many bytes. */
const imageOf = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');
const IMAGES = {
  small: imageOf(1_000),
  below: imageOf(MAX_BYTES - 1),
  largest: imageOf(MAX_BYTES),
  above: imageOf(MAX_BYTES + 1),
};
const unpadded = (base64: string) => base64.replace(/=+$/, '');
const url = (base64: string) => `data:image/png;base64,${base64}`;

type Form = [
  protocol: ClientProtocol,
  param: string,
  bodyOf: (base64: string) => Record<string, unknown>,
];
const text = { type: 'text', text: 'Look:' };
const turn = (role: string, ...content: object[]) => ({ role, content });
const native = (data: string) => ({
  ...{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
});

const FORMS: Form[] = [
  [
    'openai',
    'messages[1].content[1].image_url.url',
    (data) => ({
      messages: [
        { role: 'user', content: 'Hi' },
        turn('user', text, { type: 'image_url', image_url: { url: url(data), detail: 'low' } }),
      ],
    }),
  ],
  [
    'openai',
    'messages[0].content[0].image_url',
    (data) => ({ messages: [turn('user', { type: 'image_url', image_url: url(data) })] }),
  ],
  [
    'openai',
    'messages[0].content[0].image_url.url',
    (data) => ({
      messages: [
        turn('user', { type: 'image_url', image_url: { url: `DATA:image/png;base64,${data}` } }),
      ],
    }),
  ],
  [
    'responses',
    'input[0].content[1].image_url',
    (data) => ({
      input: [turn('user', text, { type: 'input_image', image_url: url(data), detail: 'auto' })],
    }),
  ],
  [
    'responses',
    'input[1].output[0].image_url',
    (data) => ({
      input: [
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        {
          ...{ type: 'function_call_output', call_id: 'c' },
          output: [{ type: 'input_image', image_url: url(data) }],
        },
      ],
    }),
  ],
  [
    'responses',
    'input[0].output.image_url',
    (data) => ({
      input: [
        {
          ...{ type: 'computer_call_output', call_id: 'c' },
          output: { type: 'computer_screenshot', image_url: url(data) },
        },
      ],
    }),
  ],
  [
    'anthropic',
    'messages.0.content.1.source.data',
    (data) => ({ messages: [turn('user', text, native(data))] }),
  ],
  [
    'anthropic',
    'messages.0.content.0.content.0.source.data',
    (data) => ({
      messages: [turn('user', { type: 'tool_result', tool_use_id: 't', content: [native(data)] })],
    }),
  ],
  [
    'anthropic',
    'messages.0.content.0.source.content.0.source.data',
    (data) => ({
      messages: [
        turn('user', { type: 'document', source: { type: 'content', content: [native(data)] } }),
      ],
    }),
  ],
  [
    'gemini',
    'contents[0].parts[1].inlineData.data',
    (data) => ({
      contents: [{ parts: [{ text: 'Look:' }, { inlineData: { mimeType: 'image/png', data } }] }],
    }),
  ],
  [
    'gemini',
    'contents[0].parts[0].inline_data.data',
    (data) => ({ contents: [{ parts: [{ inline_data: { mime_type: 'image/jpeg', data } }] }] }),
  ],
  [
    'gemini',
    'contents[0].parts[0].functionResponse.parts[0].inlineData.data',
    (data) => ({
      contents: [
        {
          parts: [
            {
              functionResponse: {
                ...{ name: 'f', response: {} },
                parts: [{ inlineData: { mimeType: 'IMAGE/PNG', data } }],
              },
            },
          ],
        },
      ],
    }),
  ],
];

const check = ([protocol, , bodyOf]: Form, base64: string) => {
  const body = bodyOf(base64);
  refuseLargeImages(protocol, body, JSON.stringify(body));
};

describe.each(FORMS)('an image of %s at %s', (...form) => {
  const [, param] = form;

  test('may have 20 MB', () => {
    for (const base64 of Object.values(IMAGES)) {
      if (base64 === IMAGES.above) continue;
      check(form, base64);
      check(form, unpadded(base64));
    }
  });

  test('is refused with one byte more, and the error names the parameter', () => {
    for (const base64 of [IMAGES.above, unpadded(IMAGES.above)]) {
      const refused = () => check(form, base64);
      expect(refused).toThrow(`${param} is larger than 20 MB.`);
      expect(refused).toThrow(
        expect.objectContaining({ id: 'payload_too_large', details: { param } }),
      );
    }
  });
});

describe('a long body without a large image passes', () => {
  const long = 'x'.repeat(30 * 1024 * 1024);
  test.each<[ClientProtocol, Record<string, unknown>]>([
    ['openai', { messages: [{ role: 'user', content: long }] }],
    ['openai', { messages: [turn('user', { type: 'input_audio', input_audio: { data: long } })] }],
    ['anthropic', { messages: [turn('assistant', { type: 'tool_use', input: native(long) })] }],
    ['responses', { input: long }],
    ['gemini', { contents: [{ parts: [{ inlineData: { mimeType: 'video/mp4', data: long } }] }] }],
  ])('%s', (protocol, body) => {
    refuseLargeImages(protocol, body, JSON.stringify(body));
  });
});
