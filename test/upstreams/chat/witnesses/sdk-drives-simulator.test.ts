/**
 * The AI SDK's packages for providers, each written against its provider, call the simulator: text,
 * stream, a loop over a tool, an object of a schema, an error. The simulator answers as each package
 * expects its provider to answer.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai';
import { type RunningSimulator, startSimulator } from '../../../support/simulator.ts';
import { MODELS } from './models.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

const SCHEMA = jsonSchema<{ name: string; age: number }>({
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
});
const weather = tool({
  description: 'The weather of a city',
  inputSchema: jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }),
  execute: ({ city }) => ({ sky: `rain over ${city.length}` }),
});

describe.each(MODELS.map((each) => [each.name, each] as const))(
  '%s',
  (_, { name, lacks = [], model: at }) => {
    const key = `sim-${name.replace(/\W+/g, '-')}`;
    const model = () => at(simulator.url, key);
    const options = { maxRetries: 0 };

    test('a text, with its usage', async () => {
      const answer = await generateText({
        ...options,
        model: model(),
        prompt: 'Hi [[sim tokens=7]]',
      });
      expect(answer.text.length).toBeGreaterThan(5);
      expect(answer.finishReason).toBe('stop');
      const { calls } = await simulator.closedBooks({ account: key.slice(4) });
      const call = calls.at(-1);
      expect(answer.usage).toMatchObject({
        inputTokens: call?.prompt_tokens,
        outputTokens: call?.completion_tokens,
      });
    });

    test('a stream, with its usage', async () => {
      const stream = streamText({ ...options, model: model(), prompt: 'Hi [[sim tokens=9]]' });
      let text = '';
      for await (const part of stream.textStream) text += part;
      expect(text).toBe(await stream.text);
      expect(text.length).toBeGreaterThan(5);
      expect(await stream.finishReason).toBe('stop');
      if (!lacks.includes('usage')) expect((await stream.usage).outputTokens).toBe(9);
    });

    test.skipIf(lacks.includes('items')).each([false, true])(
      'a tool is called, and its result is read; streamed: %p',
      async (streamed) => {
        const settings = {
          ...options,
          ...{
            model: model(),
            prompt: 'The weather?',
            tools: { weather },
            stopWhen: isStepCount(3),
          },
        };
        const steps = streamed
          ? await streamText(settings).steps
          : (await generateText(settings)).steps;
        expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
        expect(steps[0]?.toolCalls.map(({ toolName }) => toolName)).toEqual(['weather']);
        // The simulator quotes the result, so it has read the second request.
        expect(steps[1]?.text).toContain('rain over');
      },
    );

    test.skipIf(lacks.includes('schema'))('an object of a schema', async () => {
      const { output } = await generateText({
        ...{
          ...options,
          model: model(),
          prompt: 'Who?',
          output: Output.object({ schema: SCHEMA }),
        },
      });
      expect(typeof output.name).toBe('string');
      expect(Number.isInteger(output.age)).toBe(true);
    });

    test.skipIf(lacks.includes('items'))('a limit of tokens', async () => {
      const answer = await generateText({
        ...{ ...options, model: model(), maxOutputTokens: 4, prompt: 'Much [[sim tokens=50]]' },
      });
      expect(answer.finishReason).toBe('length');
    });

    test.each([400, 401, 403, 404, 429, 500, 503])('an error with status %i', async (status) => {
      const prompt = `Hi [[sim status=${status}]]`;
      const error = await generateText({ ...options, model: model(), prompt }).catch(
        (reason: unknown) => reason,
      );
      expect(APICallError.isInstance(error)).toBe(true);
      if (!APICallError.isInstance(error)) return;
      expect(error.statusCode).toBe(status);
      expect(error.isRetryable).toBe(status === 429 || status >= 500);
      // The package found the message in its provider's envelope.
      if (lacks.includes('errors')) return;
      expect(error.responseBody).toContain(JSON.stringify(error.message).slice(1, -1));
    });
  },
);
