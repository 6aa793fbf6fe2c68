/**
 * Whether an answer is fit to be sent again is known when its last byte arrives: whole or streamed, and
 * whether Weir translates it or not.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../src/protocols/names.ts';
import { protocolFor } from '../../src/upstreams/chat/protocols.ts';
import { REPLAYS } from '../../src/upstreams/replay/protocols.ts';
import { ANSWERS } from './replay/said.ts';
import { callOf, readStream, startUpstream, streamed, type Upstream } from './upstream.ts';

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const SAID = { text: 'plain words', thought: 'y', call: { name: 'look', input: { a: 1 } } };
const TEXT = [{ type: 'text', text: 'x' }];

/** Members of answers that make them unfit. */
const UNFIT: Record<ClientProtocol, object[]> = {
  openai: [
    { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'length' }] },
    { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'content_filter' }] },
    { choices: [{ index: 0, message: { refusal: 'No.' }, finish_reason: 'stop' }] },
    {
      choices: [
        {
          ...{ index: 0, finish_reason: 'stop' },
          message: { content: 'x', annotations: [{ type: 'url_citation' }] },
        },
      ],
    },
  ],
  anthropic: [
    { content: TEXT, stop_reason: 'max_tokens' },
    { content: TEXT, stop_reason: 'refusal' },
    { content: TEXT, stop_reason: 'pause_turn' },
    { content: [...TEXT, { type: 'web_search_tool_result', tool_use_id: 's', content: [] }] },
  ],
  responses: [
    { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    { output: [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }] },
    { output: [{ type: 'message', id: 'm', content: [{ type: 'refusal', refusal: 'No.' }] }] },
  ],
  gemini: [
    { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'MAX_TOKENS' }] },
    { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'SAFETY' }] },
    {
      candidates: [
        { content: { parts: [{ text: 'x' }] }, finishReason: 'STOP', groundingMetadata: {} },
      ],
    },
    { candidates: [], promptFeedback: { blockReason: 'SAFETY' } },
  ],
};
const BODIES: Record<ClientProtocol, object> = {
  openai: { model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] },
  anthropic: { model: 'gpt-test', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
  responses: { model: 'gpt-test', input: 'x' },
  gemini: { model: 'gpt-test', contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
};

/** What the gateway says of an answer, whole and streamed. */
async function fitnessOf(client: ClientProtocol, form: ClientProtocol, answer: object) {
  const protocol = protocolFor(client, form === 'responses' ? 'openai-responses' : form);
  upstream.answer = () => Response.json(answer);
  const { is_fit } = await protocol.complete(callOf(upstream.url, { ...BODIES[client] }));
  const text = REPLAYS[form].stream({ ...answer }, {});
  // The bytes arrive in pieces, so that later ones are read by a template.
  upstream.answer = () => streamed(text.split(/(?<=\n\n)/));
  const { events } = await readStream(
    protocol,
    callOf(upstream.url, { ...BODIES[client], stream: true }),
  );
  const judged = events.map((event) => event.is_fit).filter((each) => each !== undefined);
  return { whole: is_fit, streamed: judged.length > 0 && !judged.includes(false) };
}

describe.each(
  CLIENT_PROTOCOLS.flatMap((client) => CLIENT_PROTOCOLS.map((form) => [client, form] as const)),
)('a client of %s, an upstream of %s', (client, form) => {
  test('an answer that the model ended itself is fit', async () => {
    const answer = ANSWERS[form](SAID);
    expect(await fitnessOf(client, form, answer)).toEqual({ whole: true, streamed: true });
  });

  test('an answer that was cut off or refused, or has results of a tool of the provider, is not', async () => {
    for (const change of UNFIT[form]) {
      const answer = { ...ANSWERS[form](SAID), ...change };
      const fitness = await fitnessOf(client, form, answer);
      expect({ change, ...fitness }).toEqual({ change, whole: false, streamed: false });
    }
  });
});
