/**
 * Streams and answers of OpenAI's responses that pass through. The events have the members that the
 * types of the openai package declare (openai 7.55.0, resources/responses/responses.d.ts), with ids
 * in the forms of OpenAI's API reference (Responses, Streaming).
 */
import { afterAll, describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { openaiResponsesProtocol } from '../../../src/upstreams/chat/openai-responses.ts';
import { callOf, readStream, startUpstream, streamed } from '../upstream.ts';

type Event = OpenAI.Responses.ResponseStreamEvent;
type Item = OpenAI.Responses.ResponseOutputItem;

const upstream = startUpstream();
afterAll(() => upstream.stop());

const REASONING = 'rs_68af4030baa48193b0b43b4c2a176a1a0e2a3c53e1cbb4a8';
const SEARCH = 'ws_67ccf18f64008190a39b619f4c8455ef087bb177ab789d5c';
const MESSAGE = 'msg_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b';
const CALL = 'fc_67ca09c6bedc8190a7abfec07b1a1332096610f474011cc0';

/** The model writes the ids of its own items: that is text, not an id. */
const TEXT = `see "id":"${MESSAGE}"`;

const ITEMS = [
  { type: 'reasoning', id: REASONING, summary: [], encrypted_content: 'c2VhbA==' },
  {
    ...{ type: 'web_search_call', id: SEARCH, status: 'completed' },
    action: { type: 'search', query: 'news', queries: ['news'] },
  },
  {
    ...{ type: 'message', id: MESSAGE, status: 'completed', role: 'assistant' },
    content: [{ type: 'output_text', text: TEXT, annotations: [], logprobs: [] }],
  },
  {
    ...{ type: 'function_call', id: CALL, status: 'completed', call_id: 'call_1' },
    ...{ name: 'weather', arguments: '{}' },
  },
] satisfies Item[];

const UPSTREAM_IDS = ITEMS.map(({ id }) => id);

/** The response object as OpenAI sends it to Weir, which asks it to store nothing. */
const responseOf = (status: string, output: Item[]) => ({
  ...{ id: 'resp_67ccd2bed1ec8190b14f964abc054267', object: 'response', created_at: 1741476542 },
  ...{ status, error: null, incomplete_details: null, model: 'physical-9', output },
  ...{ previous_response_id: null, store: false, tools: [], usage: { input_tokens: 3 } },
});

const events = [
  { type: 'response.created', response: responseOf('in_progress', []) },
  ...ITEMS.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item },
    ...(item.type === 'message'
      ? [
          {
            ...{ type: 'response.output_text.delta', item_id: item.id, output_index },
            ...{ content_index: 0, delta: TEXT, logprobs: [] },
          },
        ]
      : []),
    { type: 'response.output_item.done', output_index, item },
  ]),
  { type: 'response.completed', response: responseOf('completed', ITEMS) },
].map((event, sequence_number) => ({ ...event, sequence_number })) as Event[];

const CHANGES = { answer_id: 'resp_weir' };
const BODY = { model: 'gpt-test', input: 'Hi', previous_response_id: 'resp_before' };

/** The public ids of the four items. */
const PUBLIC_IDS = ['rs_weir0', 'ws_weir1', 'msg_weir2', 'fc_weir3'];

async function streamOf(sent: Event[], body: object, cut = false) {
  const pieces = sent.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  upstream.answer = () => streamed(pieces, cut);
  const call = callOf(upstream.url, { ...body, stream: true }, CHANGES);
  const read = await readStream(openaiResponsesProtocol, call);
  return { ...read, seen: dataOf(read.text) };
}

/** The text without what the model wrote. */
const withoutText = (value: unknown) =>
  JSON.stringify(value).replaceAll(JSON.stringify(TEXT), '""');

function dataOf(text: string): Event[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
}

describe('the items of a streamed response', () => {
  test('have the same public id in all events, and the model’s text keeps its bytes', async () => {
    const { seen } = await streamOf(events, BODY);
    expect(seen.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
    for (const id of UPSTREAM_IDS) expect(withoutText(seen)).not.toContain(id);
    const done = seen.flatMap((event) =>
      event.type === 'response.output_item.done' ? [event.item.id] : [],
    );
    expect(done).toEqual(PUBLIC_IDS);
    expect(seen.find(({ type }) => type === 'response.output_text.delta')).toMatchObject({
      ...{ item_id: 'msg_weir2', delta: TEXT },
    });
    expect(seen.at(-1)).toMatchObject({
      response: { id: 'resp_weir', output: PUBLIC_IDS.map((id) => ({ id })) },
    });
    expect(JSON.stringify(seen)).toContain('"call_id":"call_1"');
  });

  test('have public ids in the end that Weir writes, too', async () => {
    const { stream } = await streamOf(events.slice(0, -1), BODY, true);
    const { WeirError } = await import('../../../src/errors/weir-error.ts');
    const last = dataOf(stream.errorEvents(new WeirError('upstream_error', 'It broke.', {}), 'r'));
    expect(last.at(-1)).toMatchObject({
      ...{ type: 'response.failed' },
      response: { output: PUBLIC_IDS.map((id) => ({ id })) },
    });
    expect(withoutText(last)).not.toContain(MESSAGE);
  });
});

describe('a response names what Weir does for it', () => {
  const cases = [
    [{}, { store: true, previous_response_id: null }],
    [{ store: false }, { store: false, previous_response_id: null }],
    [{ store: true }, { store: true, previous_response_id: null }],
    [{ previous_response_id: 'resp_before' }, { store: true, previous_response_id: 'resp_before' }],
  ] as const;

  test('the requested previous response, even if the upstream omits the member', async () => {
    // Its type is optional (openai 7.55.0, resources/responses/responses.d.ts: Response).
    const { previous_response_id: _, ...omitted } = responseOf('completed', ITEMS);
    const asked = async (body: Record<string, unknown>) => {
      upstream.answer = () => Response.json(omitted);
      const call = callOf(upstream.url, body, CHANGES);
      const { body_text } = await openaiResponsesProtocol.complete(call);
      return JSON.parse(body_text ?? '');
    };
    expect(await asked(BODY)).toMatchObject({ previous_response_id: 'resp_before' });
    const without = await asked({ model: 'gpt-test', input: 'Hi' });
    expect(without).not.toHaveProperty('previous_response_id');
  });

  test.each(cases)('%j: %j', async (members, expected) => {
    const body = { model: 'gpt-test', input: 'Hi', ...members };
    const { seen } = await streamOf(events, body);
    for (const event of [seen[0], seen.at(-1)]) expect(event).toMatchObject({ response: expected });
    upstream.answer = () => Response.json(responseOf('completed', ITEMS));
    const call = callOf(upstream.url, body, CHANGES);
    const { body_text } = await openaiResponsesProtocol.complete(call);
    const whole = JSON.parse(body_text ?? '');
    expect(whole).toMatchObject({ id: 'resp_weir', ...expected });
    expect(whole.output.map(({ id }: Item) => id)).toEqual(PUBLIC_IDS);
    expect(withoutText(whole)).not.toContain(MESSAGE);
  });
});
