/**
 * Every client calls every provider's model. The clients are the official packages and Google's
 * SDK. Weir runs as `bin/start` starts it. The AI SDK and LangChain have files of their own.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

const MODELS = ['gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash'];
const WEATHER = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};

let weir: RunningWeir;
let base: string;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  base = `${weir.base_url}/v1`;
});
afterAll(() => weir.stop());

const openai = () => new OpenAI({ baseURL: base, apiKey: weir.api_key, maxRetries: 0 });
const anthropic = () =>
  new Anthropic({ baseURL: weir.base_url, apiKey: weir.api_key, maxRetries: 0 });

describe.each(MODELS)('%s', (model) => {
  describe('through the openai package', () => {
    test('chat answers are complete, whole or streamed, and have usage', async () => {
      const messages = [{ role: 'user' as const, content: 'Hello [[sim tokens=12]]' }];
      const whole = await openai().chat.completions.create({ model, messages });
      expect(whole).toMatchObject({ object: 'chat.completion', model });
      expect(whole.usage?.completion_tokens).toBe(12);
      const stream = await openai().chat.completions.create({
        ...{ model, messages, stream: true, stream_options: { include_usage: true } },
      });
      let [text, tokens] = ['', 0];
      for await (const chunk of stream as AsyncIterable<OpenAI.ChatCompletionChunk>) {
        text += chunk.choices[0]?.delta.content ?? '';
        tokens = chunk.usage?.completion_tokens ?? tokens;
      }
      expect(text).toBe(whole.choices[0]?.message.content as string);
      expect(tokens).toBe(12);
    });

    test('chat calls tools in a loop, with the package’s runner', async () => {
      const tool_inputs: unknown[] = [];
      const runner = openai().chat.completions.runTools({
        model,
        messages: [{ role: 'user', content: 'The weather?' }],
        tools: [
          {
            type: 'function',
            function: {
              name: 'weather',
              description: 'Of a city',
              parameters: WEATHER,
              parse: JSON.parse,
              function: (input: object) => {
                tool_inputs.push(input);
                return 'Rain';
              },
            },
          },
        ],
      });
      expect(await runner.finalContent()).toContain('Rain');
      expect(tool_inputs).toHaveLength(1);
    });

    test('chat answers fit a JSON schema', async () => {
      const answer = await openai().chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Someone' }],
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'person',
            schema: { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] },
          },
        },
      });
      expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({
        age: expect.any(Number),
      });
    });

    test('responses are complete, whole or streamed, and call tools', async () => {
      const client = openai();
      const whole = await client.responses.create({ model, input: 'Hello [[sim tokens=12]]' });
      expect(whole).toMatchObject({ object: 'response', status: 'completed', model });
      expect(whole.output_text.length).toBeGreaterThan(10);
      expect(whole.usage?.output_tokens).toBe(12);
      const stream = client.responses.stream({ model, input: 'Hello [[sim tokens=12]]' });
      let text = '';
      stream.on('response.output_text.delta', ({ delta }) => {
        text += delta;
      });
      const final = await stream.finalResponse();
      expect(text).toBe(final.output_text);
      const tools = [
        { type: 'function' as const, name: 'weather', parameters: WEATHER, strict: false },
      ];
      const called = await client.responses.create({ model, input: 'The weather?', tools });
      const [item] = called.output.filter(({ type }) => type === 'function_call');
      if (item?.type !== 'function_call') throw new Error('nothing was called');
      const next = await client.responses.create({
        ...{ model, tools, previous_response_id: called.id },
        input: [{ type: 'function_call_output', call_id: item.call_id, output: 'Rain' }],
      });
      expect(next.output_text).toContain('Rain');
    });
  });

  describe('through the anthropic package', () => {
    test('messages are complete, whole or streamed', async () => {
      const question = {
        model,
        max_tokens: 100,
        messages: [{ role: 'user' as const, content: 'Hello [[sim tokens=12]]' }],
      };
      const whole = await anthropic().messages.create(question);
      expect(whole).toMatchObject({ type: 'message', model, stop_reason: 'end_turn' });
      expect(whole.usage.output_tokens).toBe(12);
      const final = await anthropic().messages.stream(question).finalMessage();
      expect(final.content as unknown).toEqual(whole.content);
      expect(final.usage.output_tokens).toBe(12);
      const { input_tokens } = await anthropic().messages.countTokens({
        ...{ model, messages: question.messages },
      });
      expect(input_tokens).toBeGreaterThan(3);
    });

    test('messages call a tool and answer its result', async () => {
      const tools = [{ name: 'weather', input_schema: WEATHER }];
      const first = { role: 'user' as const, content: 'The weather?' };
      const toolCall = await anthropic().messages.create({
        ...{ model, max_tokens: 200, tools, messages: [first] },
      });
      expect(toolCall.stop_reason).toBe('tool_use');
      const [call] = toolCall.content.filter(({ type }) => type === 'tool_use');
      if (call?.type !== 'tool_use') throw new Error('nothing was called');
      const history: Anthropic.MessageParam[] = [
        first,
        { role: 'assistant', content: toolCall.content as Anthropic.ContentBlockParam[] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call.id, content: 'Rain' }],
        },
      ];
      const answered = await anthropic().messages.create({
        ...{ model, max_tokens: 200, tools, messages: history },
      });
      const [reply] = answered.content.filter(({ type }) => type === 'text');
      expect(reply).toMatchObject({ text: expect.stringContaining('Rain') });
    });
  });

  test('Google’s SDK gets whole and streamed answers, a token count and a tool call', async () => {
    const client = new GoogleGenAI({
      apiKey: weir.api_key,
      httpOptions: { baseUrl: weir.base_url },
    });
    const contents = 'Hello [[sim tokens=12]]';
    const whole = await client.models.generateContent({ model, contents });
    expect(whole.usageMetadata?.candidatesTokenCount).toBe(12);
    let text = '';
    for await (const chunk of await client.models.generateContentStream({ model, contents })) {
      text += chunk.text ?? '';
    }
    expect(text).toBe(whole.text as string);
    const called = await client.models.generateContent({
      ...{ model, contents: 'The weather?' },
      config: {
        tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: WEATHER }] }],
      },
    });
    expect(called.functionCalls?.[0]).toMatchObject({
      name: 'weather',
      args: { city: expect.any(String) },
    });
    const counted = await client.models.countTokens({ model, contents });
    expect(counted.totalTokens).toBeGreaterThan(3);
  });
});

describe('a parameter without a translation is refused by name', () => {
  test.each([
    ['claude-haiku-4-5', { n: 2 }, 'n'],
    ['claude-haiku-4-5', { temperature: 1.5 }, 'temperature'],
    ['gemini-2.5-flash', { logprobs: true }, 'logprobs'],
    ['gemini-2.5-flash', { n: 2 }, 'n'],
  ])('%s, %p', async (model, more, param) => {
    const failure = await openai()
      .chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }], ...more })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 400, param });
  });
});
