/**
 * The simulator's own answers and events have every member that the vendors' types require, and no
 * other. The TypeScript compiler checks each against the types of openai 7.55.0 and
 * @anthropic-ai/sdk 1.11.0. Strict clients, e.g. anthropic-java, fail for a missing member.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { asDeclared, type DeclaredValue, typeErrors } from '../support/declared-types.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';

setDefaultTimeout(120_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

const IMPORTS = {
  'node_modules/openai/resources/chat/completions/completions.d.ts': [
    ...['ChatCompletion', 'ChatCompletionChunk'],
  ],
  'node_modules/openai/resources/responses/responses.d.ts': ['Response', 'ResponseStreamEvent'],
  'node_modules/@anthropic-ai/sdk/resources/messages/messages.d.ts': [
    ...['Message', 'RawMessageStreamEvent'],
  ],
};

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const KEY = 'sim-declared';

interface Route {
  path: string;
  headers: Record<string, string>;
  body: (said: string, has_tools: boolean) => object;
  /** The types of a whole answer and of an event. */
  whole: string;
  event: string;
}

const ROUTES: Record<string, Route> = {
  'OpenAI chat': {
    path: '/openai/v1/chat/completions',
    headers: { authorization: `Bearer ${KEY}` },
    body: (content, has_tools) => ({
      ...{ model: 'gpt-4o', max_tokens: 200, messages: [{ role: 'user', content }] },
      ...(has_tools && {
        tools: [{ type: 'function', function: { name: 'weather', parameters: SCHEMA } }],
      }),
    }),
    ...{ whole: 'ChatCompletion', event: 'ChatCompletionChunk' },
  },
  'OpenAI responses': {
    path: '/openai/v1/responses',
    headers: { authorization: `Bearer ${KEY}` },
    body: (input, has_tools) => ({
      ...{ model: 'gpt-5.4', max_output_tokens: 200, input },
      ...(has_tools && {
        tools: [{ type: 'function', name: 'weather', parameters: SCHEMA, strict: false }],
      }),
    }),
    ...{ whole: 'Response', event: 'ResponseStreamEvent' },
  },
  'Anthropic messages': {
    path: '/anthropic/v1/messages',
    headers: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' },
    body: (content, has_tools) => ({
      ...{ model: 'claude-haiku-4-5', max_tokens: 2_000, messages: [{ role: 'user', content }] },
      ...(content.includes('reasoning') && { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
      ...(has_tools && { tools: [{ name: 'weather', input_schema: SCHEMA }] }),
    }),
    ...{ whole: 'Message', event: 'RawMessageStreamEvent' },
  },
};

/** Answers of every kind: text, thoughts, calls, and an end at the limit. */
const SAID = [
  ...['Hi [[sim tokens=9 cached=2]]', 'Hi [[sim tokens=9 reasoning=16]]'],
  ...['Hi [[sim tools=2]]', 'Hi [[sim tokens=9000]]'],
];

/** OpenAI sends `"usage": null` in its first events (OpenAI docs, Streaming events). Its type has no null. */
function withoutNullUsage(event: { response?: { usage?: object | null } }): object {
  if (event.response?.usage !== null) return event;
  const { usage: _, ...response } = event.response;
  return { ...event, response };
}

async function valuesOf({ path, headers, body, whole, event }: Route) {
  const values: (DeclaredValue & { said: string })[] = [];
  for (const said of SAID) {
    const ask = async (stream: boolean) => {
      const response = await fetch(simulator.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body(said, said.includes('tools=')), stream }),
      });
      expect(response.status).toBe(200);
      return response.text();
    };
    const add = (type: string, value: object) =>
      values.push({ type, value: asDeclared(value), said });
    add(whole, JSON.parse(await ask(false)));
    for (const [, data = ''] of (await ask(true)).matchAll(/^data: (.*)$/gm)) {
      if (data === '[DONE]') continue;
      const value = JSON.parse(data);
      if (value.type !== 'ping') add(event, withoutNullUsage(value));
    }
  }
  return values;
}

test.each(Object.keys(ROUTES))('%s of the simulator are what the types declare', async (name) => {
  const values = await valuesOf(ROUTES[name] as Route);
  expect(values.length).toBeGreaterThan(20);
  const errors = await typeErrors(values, IMPORTS);
  const faults = values.flatMap(({ said }, at) =>
    (errors[at] ?? []).map((each) => `${said}: ${each}`),
  );
  expect([...new Set(faults)].slice(0, 12)).toEqual([]);
});
