/**
 * The simulated Gemini reads each member under both of its names, as the vendor does. The requests have
 * the members of the REST samples in the Gemini API docs (Function calling, System instructions, Image
 * understanding), which write snake_case, and the type names of `Type` in @google/genai 3.1.0.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Type } from '@google/genai';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

interface Answer {
  readonly candidates: readonly {
    readonly content: { readonly parts: readonly Record<string, unknown>[] };
    readonly finishReason: string;
  }[];
  readonly usageMetadata: { readonly candidatesTokenCount: number };
}

async function generate(body: object): Promise<Answer> {
  const url = `${simulator.url}/google/v1beta/models/gemini-2.5-flash:generateContent`;
  const response = await fetch(url, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { 'x-goog-api-key': 'sim-names', 'content-type': 'application/json' },
  });
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as Answer;
}

const turn = (text: string) => ({ role: 'user', parts: [{ text }] });
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const DECLARATION = {
  name: 'get_current_temperature',
  parameters: {
    type: Type.OBJECT,
    properties: { city_name: { type: Type.STRING }, days: { type: Type.INTEGER } },
    required: ['city_name', 'days'],
  },
};

test('snake_case names of the request and of its parts', async () => {
  const answer = await generate({
    system_instruction: { parts: [{ text: 'You are a cat.' }] },
    contents: [
      {
        role: 'user',
        parts: [{ inline_data: { mime_type: 'image/png', data: PNG } }, { text: 'What is it?' }],
      },
    ],
    generation_config: { max_output_tokens: 3, stop_sequences: ['END'] },
  });
  expect(answer.candidates[0]?.finishReason).toBe('MAX_TOKENS');
  expect(answer.usageMetadata.candidatesTokenCount).toBe(3);
});

test('a schema of the answer keeps the names of its properties', async () => {
  for (const names of [
    ['generationConfig', 'responseMimeType', 'responseJsonSchema'],
    ['generation_config', 'response_mime_type', 'response_json_schema'],
  ]) {
    const [config = '', mime = '', schema = ''] = names;
    const wanted = { type: 'object', properties: { day_count: { type: 'integer' } } };
    const answer = await generate({
      contents: [turn('How many days?')],
      [config]: { [mime]: 'application/json', [schema]: { ...wanted, required: ['day_count'] } },
    });
    const text = String(answer.candidates[0]?.content.parts[0]?.['text']);
    expect(Object.keys(JSON.parse(text) as object)).toEqual(['day_count']);
  }
});

test.each([
  ['functionDeclarations', 'toolConfig', 'functionCallingConfig', 'allowedFunctionNames'],
  ['function_declarations', 'tool_config', 'function_calling_config', 'allowed_function_names'],
])('%s with type names in capitals', async (declarations, config, calling, allowed) => {
  const answer = await generate({
    contents: [turn('How warm is it?')],
    tools: [{ [declarations]: [DECLARATION] }],
    [config]: { [calling]: { mode: 'ANY', [allowed]: [DECLARATION.name] } },
  });
  const call = answer.candidates[0]?.content.parts[0]?.['functionCall'];
  expect(call).toMatchObject({
    ...{ name: DECLARATION.name },
    args: { city_name: expect.any(String), days: expect.any(Number) },
  });
});
