/**
 * Translated answers and events have every member that the vendors' types require, and no other. The
 * TypeScript compiler checks each against the types of openai 7.55.0, @anthropic-ai/sdk 1.11.0 and
 * @google/genai 3.1.0. Strict clients, e.g. of Java and Rust, fail for a missing member.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { asDeclared, type DeclaredValue, typeErrors } from '../../support/declared-types.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { callOf, readStream } from '../upstream.ts';
import { BASES, CLIENTS } from './clients.ts';

setDefaultTimeout(120_000);

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

/** The types of a whole answer and of an event. Google's SDK makes a class of each. */
const TYPES: Record<Exclude<ClientProtocol, 'gemini'>, { whole: string; event: string }> = {
  openai: { whole: 'ChatCompletion', event: 'ChatCompletionChunk' },
  responses: { whole: 'Response', event: 'ResponseStreamEvent' },
  anthropic: { whole: 'Message', event: 'RawMessageStreamEvent' },
};
const IMPORTS = {
  'node_modules/openai/resources/chat/completions/completions.d.ts': [
    ...['ChatCompletion', 'ChatCompletionChunk'],
  ],
  'node_modules/openai/resources/responses/responses.d.ts': ['Response', 'ResponseStreamEvent'],
  'node_modules/@anthropic-ai/sdk/resources/messages/messages.d.ts': [
    ...['Message', 'RawMessageStreamEvent'],
  ],
};

const UPSTREAMS: readonly ChatProtocol[] = ['openai', 'openai-responses', 'anthropic', 'gemini'];
const CLIENT_NAMES = Object.keys(TYPES) as (keyof typeof TYPES)[];

const TOOL = {
  name: 'weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
/** Answers of every kind: text, thoughts, calls, and an end at the limit. */
const PROMPTS = [
  { said: 'Hi [[sim tokens=9 cached=2]]', tools: [] },
  { said: 'Hi [[sim tokens=9 reasoning=16]]', tools: [] },
  { said: 'Hi [[sim tools=2]]', tools: [TOOL] },
  { said: 'Hi [[sim tokens=900]]', tools: [] },
];

/** Returns all answers and events that a client of the protocol gets from the upstream. */
async function valuesOf(
  client: keyof typeof TYPES,
  upstream: ChatProtocol,
): Promise<(DeclaredValue & { case: string })[]> {
  const values: (DeclaredValue & { case: string })[] = [];
  for (const { said, tools } of PROMPTS) {
    const body = (stream: boolean) => ({
      model: 'gpt-test',
      ...CLIENTS[client].write({
        ...{ system: [], tools, stop: [], stream, max_output_tokens: 200 },
        turns: [{ role: 'user', parts: [{ type: 'text', text: said }] }],
      }),
    });
    const protocol = protocolFor(client, upstream);
    const url = simulator.url + BASES[upstream];
    const changes = { model_max_output_tokens: 4_000, max_output_tokens: 200 };
    const whole = await protocol.complete(callOf(url, body(false), changes));
    const named = (type: string, value: unknown, kind: string) => ({
      ...{
        type,
        value: asDeclared(value),
        case: `${client} on ${upstream}, ${kind}: ${said}`,
      },
    });
    values.push(named(TYPES[client].whole, JSON.parse(whole.body_text ?? ''), 'whole'));
    const { text } = await readStream(protocol, callOf(url, body(true), changes));
    for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) {
      if (data !== '[DONE]') values.push(named(TYPES[client].event, JSON.parse(data), 'event'));
    }
  }
  return values;
}

test.each(CLIENT_NAMES)('%s clients get what their types declare', async (client) => {
  const foreign = UPSTREAMS.filter((name) => name.replace('openai-', '') !== client);
  const values = (await Promise.all(foreign.map((name) => valuesOf(client, name)))).flat();
  expect(values.length).toBeGreaterThan(50);
  const errors = await typeErrors(values, IMPORTS);
  const faults = values.flatMap(({ case: name }, at) =>
    (errors[at] ?? []).map((each) => `${name}: ${each}`),
  );
  expect([...new Set(faults)].slice(0, 12)).toEqual([]);
});
