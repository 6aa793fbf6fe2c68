/** The routes other than chat and messages: each response is valid, or it is the error envelope. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { anyJson, anyNumber, anyText, mutated, sometimes } from '../support/arbitrary-json.ts';
import { fc } from '../support/property.ts';

setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

/** A fixed seed: a failure is reproducible. */
const SAMPLE = { numRuns: 5_000, seed: 20_261_121 };
const AT_ONCE = 50;

const mostly = (right: fc.Arbitrary<unknown>, any: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: any });
const oneOf = (...values: unknown[]) => mostly(fc.constantFrom(...values), anyJson);
const texts = mostly(
  fc.array(fc.constantFrom('Hello', 'Grüße'), { minLength: 1, maxLength: 3 }),
  anyJson,
);

const item = fc.oneof(
  fc.constant({ role: 'user', content: 'Hello' }),
  fc.constant({ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }),
  fc.constant({ type: 'function_call_output', call_id: 'c', output: 'x' }),
  fc.record({
    type: oneOf('message', 'reasoning'),
    role: oneOf('user', 'system'),
    content: anyJson,
  }),
  anyJson,
);
const part = fc.oneof(
  fc.constant({ text: 'Hello' }),
  fc.record({ inlineData: anyJson, text: sometimes(anyText) }),
  anyJson,
);

const BODIES: Record<string, fc.Arbitrary<unknown>> = {
  '/v1/responses': fc.record({
    model: oneOf('gpt-4o', 'claude-haiku-4-5', 'gpt-4oo'),
    input: mostly(fc.oneof(fc.constant('Hello'), fc.array(item, { maxLength: 3 })), anyJson),
    instructions: sometimes(oneOf('Be brief.', null)),
    tools: sometimes(oneOf([{ type: 'function', name: 'f' }], [])),
    text: sometimes(oneOf({ format: { type: 'text' } })),
    temperature: sometimes(mostly(fc.constant(0.5), anyNumber)),
    stream: sometimes(oneOf(true, false)),
    store: fc.constant(false),
  }),
  '/v1/messages/count_tokens': fc.record({
    model: oneOf('claude-haiku-4-5', 'gpt-4o'),
    messages: oneOf([{ role: 'user', content: 'Hello' }], [{ role: 'system', content: 'x' }]),
    system: sometimes(oneOf('Be brief.')),
    tools: sometimes(oneOf([{ name: 'f', input_schema: {} }])),
  }),
  '/v1beta/models/gemini-2.5-flash:generateContent': fc.record({
    contents: mostly(
      fc.array(
        fc.record({ role: oneOf('user', 'model'), parts: fc.array(part, { maxLength: 2 }) }),
        {
          minLength: 1,
          maxLength: 2,
        },
      ),
      anyJson,
    ),
    systemInstruction: sometimes(oneOf({ parts: [{ text: 'Be brief.' }] })),
    generationConfig: sometimes(oneOf({ maxOutputTokens: 10 }, { temperature: 0.5 })),
  }),
  '/v1/embeddings': fc.record({
    model: oneOf('text-embedding-3-small', 'text-embedding-ada-002', 'gpt-4o'),
    input: mostly(fc.oneof(texts, fc.constant([1, 2])), anyJson),
    dimensions: sometimes(mostly(fc.constantFrom(8, 1_536, 9_999), anyNumber)),
    encoding_format: sometimes(oneOf('float', 'base64')),
  }),
  '/v1/audio/speech': fc.record({
    model: oneOf('tts-1', 'gemini-2.5-flash-preview-tts', 'whisper-1'),
    input: mostly(fc.constant('Hello'), anyText),
    voice: oneOf('alloy', 'Kore', { id: 'v' }),
    speed: sometimes(mostly(fc.constant(1), anyNumber)),
    response_format: sometimes(oneOf('mp3', 'wav')),
  }),
  '/v1/rerank': fc.record({
    model: oneOf('rerank-v3.5', 'gpt-4o'),
    query: mostly(fc.constant('Hello'), anyText),
    documents: texts,
    top_n: sometimes(mostly(fc.constantFrom(1, 2), anyNumber)),
  }),
  '/v1/translations': fc.record({
    model: sometimes(oneOf('deepl-translate', 'gpt-4o')),
    text: texts,
    target_lang: oneOf('DE', 'pt-BR', 'Klingon'),
    source_language: sometimes(oneOf('en')),
    formality: sometimes(oneOf('more')),
  }),
  '/v1/images/edits': fc.record({
    model: oneOf('gpt-image-2', 'dall-e-3'),
    prompt: mostly(fc.constant('A hat'), anyText),
    image: oneOf('https://example.com/a.png', 'data:image/png;base64,AAAA', 'ftp://x', ['x']),
    mask: sometimes(oneOf('https://example.com/m.png')),
    n: sometimes(mostly(fc.constantFrom(1, 2), anyNumber)),
  }),
};

const HEADERS = { 'anthropic-version': '2023-06-01' };

describe.each(Object.entries(BODIES))('POST %s', (path, bodies) => {
  test(`answers ${SAMPLE.numRuns} bodies with a valid response or an envelope that names a parameter`, async () => {
    const sent = fc.sample(mutated(bodies as fc.Arbitrary<Record<string, unknown>>), SAMPLE);
    let right = 0;
    let refused = 0;
    app.reported.length = 0;
    for (let start = 0; start < sent.length; start += AT_ONCE) {
      await Promise.all(
        sent.slice(start, start + AT_ONCE).map(async (body) => {
          const response = await app.post(path, body, HEADERS);
          const text = await response.text();
          // A valid call gets 503, because no channel serves it here.
          if (response.status === 200 || response.status === 503) right += 1;
          else {
            refused += 1;
            expect({ status: response.status, body, text }).toMatchObject({ status: 400 });
            const { error } = JSON.parse(text);
            const param = error.param ?? error.details?.[0]?.param;
            expect({ body, error, named: typeof param }).toMatchObject({ named: 'string' });
          }
        }),
      );
    }
    expect(right).toBeGreaterThan(SAMPLE.numRuns / 50);
    expect(refused).toBeGreaterThan(SAMPLE.numRuns / 10);
    expect(app.reported.filter((error) => (error as { id?: string }).id === undefined)).toEqual([]);
  });
});
