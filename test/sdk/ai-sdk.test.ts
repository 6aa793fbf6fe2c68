/**
 * The AI SDK (ai 7.0.173) through the packages of OpenAI, Anthropic, Google and of compatible
 * providers, on models of three vendors. The AI SDK's own count of tokens is the bill.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  type LanguageModel,
  type LanguageModelUsage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { z } from 'zod';
import {
  expectSameBill,
  MODEL_NAMES,
  newKey,
  type Stand,
  startStand,
} from '../clients/support/stand.ts';

setDefaultTimeout(60_000);

// It warns that it does not know the models of other vendors.
globalThis.AI_SDK_LOG_WARNINGS = false;

let stand: Stand;
beforeAll(async () => {
  stand = await startStand();
});
afterAll(() => stand.stop());

/** The same model through each package. */
function through(model: string, apiKey: string): Record<string, LanguageModel> {
  const baseURL = `${stand.weir.base_url}/v1`;
  const openai = createOpenAI({ baseURL, apiKey });
  const compatible = createOpenAICompatible({
    ...{ name: 'weir', baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true },
  });
  return {
    'openai chat': openai.chat(model),
    'openai responses': openai.responses(model),
    anthropic: createAnthropic({ baseURL, apiKey })(model),
    google: createGoogle({ baseURL: `${stand.weir.base_url}/v1beta`, apiKey })(model),
    compatible: compatible(model),
  };
}

const call = (name: string, given: object) => `[[call ${name} ${JSON.stringify(given)}]]`;

const schema = z.object({ age: z.number(), name: z.string(), tags: z.array(z.string()) });

/** Three turns: two calls of tools, each with its result, and the answer. */
function looped(called: string[]) {
  return {
    prompt: `The way? ${call('locate', { city: 'Bern' })} ${call('route', { from: 'Bern', legs: 2 })}`,
    stopWhen: stepCountIs(5),
    tools: {
      locate: tool({
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => {
          called.push(city);
          return { latitude: 46.9, longitude: 7.4 };
        },
      }),
      route: tool({
        inputSchema: z.object({ from: z.string(), legs: z.number() }),
        execute: async ({ from, legs }) => {
          called.push(`${from} ${legs}`);
          return 'Along the river';
        },
      }),
    },
  };
}

test.each(MODEL_NAMES)('text, streams, objects and tools on %s', async (name) => {
  const { id, key } = await newKey(stand);
  const count = { input: 0, output: 0 };
  const add = ({ inputTokens, outputTokens }: LanguageModelUsage) => {
    count.input += inputTokens ?? 0;
    count.output += outputTokens ?? 0;
  };
  for (const [client, model] of Object.entries(through(name, key))) {
    const prompt = 'Hello [[sim tokens=12]]';
    const whole = await generateText({ model, prompt });
    expect([client, whole.finishReason, whole.usage.outputTokens]).toEqual([client, 'stop', 12]);
    add(whole.usage);

    const stream = streamText({ model, prompt });
    let text = '';
    for await (const delta of stream.textStream) text += delta;
    expect([client, text]).toEqual([client, whole.text]);
    add(await stream.totalUsage);

    const object = await generateText({
      ...{ model, prompt: 'Someone', output: Output.object({ schema }) },
    });
    expect([client, typeof object.output.age]).toEqual([client, 'number']);
    add(object.totalUsage);

    const called: string[] = [];
    const tools = await generateText({ model, ...looped(called) });
    expect([client, called, tools.steps.length]).toEqual([client, ['Bern', 'Bern 2'], 3]);
    expect(tools.text).toContain('Along the river');
    add(tools.totalUsage);

    const streamed = streamText({ model, ...looped(called) });
    expect(await streamed.text).toContain('Along the river');
    expect([client, called.length]).toEqual([client, 4]);
    add(await streamed.totalUsage);
  }
  await expectSameBill(stand, id, name, count);
});
