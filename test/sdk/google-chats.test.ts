/**
 * Chats of Google's SDK (@google/genai 3.1.0) on every provider's model. The SDK keeps a streamed
 * turn only if each chunk has a part (dist/index.mjs: isValidContent), and sends each chunk back as
 * a turn of its own.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type CallableTool, GoogleGenAI, type Part } from '@google/genai';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

const MODELS = ['gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash'];
const WEATHER = {
  name: 'weather',
  parametersJsonSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
};

let weir: RunningWeir;
let client: GoogleGenAI;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  client = new GoogleGenAI({ apiKey: weir.api_key, httpOptions: { baseUrl: weir.base_url } });
});
afterAll(() => weir.stop());

describe.each(MODELS)('a chat with %s', (model) => {
  test('keeps each streamed turn', async () => {
    const chat = client.chats.create({ model });
    let prompt_tokens = 0;
    for (const turn of [1, 2, 3]) {
      const stream = await chat.sendMessageStream({ message: `Number ${turn} [[sim tokens=9]]` });
      let counted = 0;
      for await (const { usageMetadata } of stream) {
        counted = usageMetadata?.promptTokenCount ?? counted;
      }
      expect(counted).toBeGreaterThan(prompt_tokens + 9);
      prompt_tokens = counted;
    }
    const roles = chat.getHistory(true).map(({ role }) => role);
    expect(roles.filter((role, at) => role !== roles[at - 1])).toEqual(
      Array.from({ length: 6 }, (_, at) => (at % 2 === 0 ? 'user' : 'model')),
    );
  });

  test('calls functions by itself, streamed', async () => {
    const called: unknown[] = [];
    const weather: CallableTool = {
      tool: async () => ({ functionDeclarations: [WEATHER] }),
      async callTool(calls): Promise<Part[]> {
        called.push(...calls.map(({ name }) => name));
        return calls.map(({ id, name }) => ({
          functionResponse: { id, name, response: { sky: 'Rain' } } as never,
        }));
      },
    };
    const chat = client.chats.create({ model, config: { tools: [weather] } });
    let text = '';
    for await (const chunk of await chat.sendMessageStream({ message: 'The weather?' })) {
      text += chunk.text ?? '';
    }
    expect(called).toEqual(['weather']);
    expect(text).toContain('Rain');
    let second = '';
    for await (const chunk of await chat.sendMessageStream({ message: 'Thanks [[sim tools=0]]' })) {
      second += chunk.text ?? '';
    }
    expect(second).not.toBe('');
  });

  test('takes its own chunks back as turns, with the result of a call', async () => {
    const config = { tools: [{ functionDeclarations: [WEATHER] }] };
    const question = { role: 'user', parts: [{ text: 'The weather?' }] };
    const chunks = [];
    for await (const chunk of await client.models.generateContentStream({
      ...{ model, config, contents: [question] },
    })) {
      chunks.push(chunk.candidates?.[0]?.content ?? {});
    }
    const parts = chunks.flatMap((each) => each.parts ?? []);
    const call = parts.find(({ functionCall }) => functionCall)?.functionCall;
    const functionResponse = { ...call, args: undefined, response: { sky: 'Rain' } } as never;
    for (const empty of [
      [],
      [{ role: 'model', parts: [] }],
      [{ role: 'model', parts: [{ text: '' }] }],
    ]) {
      const answer = await client.models.generateContent({
        ...{ model, config },
        contents: [question, ...chunks, ...empty, { role: 'user', parts: [{ functionResponse }] }],
      });
      expect(answer.text).toContain('Rain');
    }
  });
});
