/** A member that Weir added and that the upstream refuses by name is left out, and remembered. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { RefusedMemberList } from '../../../../src/actors/channels/refused-members.ts';
import { openaiProtocol } from '../../../../src/upstreams/chat/openai.ts';
import { protocolFor } from '../../../../src/upstreams/chat/protocols.ts';
import type { UpstreamCall } from '../../../../src/upstreams/contract.ts';
import { callOf, readStream, rejection, startUpstream, streamed } from '../../upstream.ts';
import { REFUSALS, type Refusal } from './refusals.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());
let refused = new RefusedMemberList();
beforeEach(() => {
  refused = new RefusedMemberList();
  upstream.asked.length = 0;
});

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CHUNKS = [
  'data: {"id":"c","model":"physical-9","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n',
  'data: {"id":"c","model":"physical-9","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
];
const [REFUSAL] = REFUSALS as [Refusal];

/** Lets the upstream refuse every request that has one of the members. */
function refuse(members: string[], { status, body }: Refusal = REFUSAL): void {
  upstream.answer = ({ text }) => {
    const request = JSON.parse(text);
    const member = members.find((each) => each in request);
    if (member !== undefined) return Response.json(body(member), { status });
    return request.stream ? streamed(CHUNKS) : Response.json({ choices: [{ message: {} }] });
  };
}

function call(body: Record<string, unknown>, changes: Partial<UpstreamCall> = {}): UpstreamCall {
  const made = callOf(upstream.url, { model: 'm', messages: MESSAGES, ...body }, changes);
  return { ...made, target: { ...made.target, refused } };
}

const asked = () => upstream.asked.map(({ text }) => JSON.parse(text));

describe.each(REFUSALS)('the refusal of $source', (refusal) => {
  test('of stream_options: the stream is sent again at once, and later streams do without', async () => {
    refuse(['stream_options'], refusal);
    const { text } = await readStream(openaiProtocol, call({ stream: true }));
    expect(text).toContain('"content":"Hi"');
    expect(asked().map((body) => 'stream_options' in body)).toEqual([true, false]);
    expect(refused.names).toEqual(['stream_options']);
    await readStream(openaiProtocol, call({ stream: true }));
    expect(asked().map((body) => 'stream_options' in body)).toEqual([true, false, false]);
  });

  test('P2: of the output limit: it gets its other name, and is never left out', async () => {
    refuse(['max_completion_tokens'], refusal);
    await openaiProtocol.complete(call({}, { max_output_tokens: 30 }));
    await openaiProtocol.complete(call({}, { max_output_tokens: 31 }));
    expect(asked().slice(1)).toMatchObject([{ max_tokens: 30 }, { max_tokens: 31 }]);
    expect(refused.names).toEqual(['max_completion_tokens']);
  });
});

test('two members are refused one after the other', async () => {
  refuse(['stream_options', 'max_completion_tokens']);
  await readStream(openaiProtocol, call({ stream: true }, { max_output_tokens: 30 }));
  expect(asked()).toHaveLength(3);
  expect(asked().at(-1)).toMatchObject({ max_tokens: 30 });
  expect(refused.names).toEqual(['max_completion_tokens', 'stream_options']);
});

test('P2: if both names of the limit are refused, the call fails', async () => {
  refuse(['max_completion_tokens', 'max_tokens']);
  await rejection(openaiProtocol.complete(call({}, { max_output_tokens: 30 })));
  expect(asked().every((body) => 'max_tokens' in body || 'max_completion_tokens' in body)).toBe(
    true,
  );
  expect(asked()).toHaveLength(2);
  expect(refused.names).toEqual([]);
});

test('an upstream that changed its mind about the limit is asked with the first name again', async () => {
  refuse(['max_completion_tokens']);
  await openaiProtocol.complete(call({}, { max_output_tokens: 30 }));
  refuse(['max_tokens']);
  await openaiProtocol.complete(call({}, { max_output_tokens: 30 }));
  await openaiProtocol.complete(call({}, { max_output_tokens: 31 }));
  expect(asked().at(-1)).toMatchObject({ max_completion_tokens: 31 });
  expect(refused.names).toEqual(['max_tokens']);
});

test('a translated call is sent again too', async () => {
  refuse(['max_completion_tokens', 'stream_options']);
  const body = { model: 'm', max_tokens: 20, messages: MESSAGES, stream: true };
  const { text } = await readStream(protocolFor('anthropic', 'openai'), call(body));
  expect(text).toContain('"text":"Hi"');
  expect(asked().at(-1)).toMatchObject({ max_tokens: 20 });
  expect(refused.names).toEqual(['max_completion_tokens', 'stream_options']);
});

describe('a client', () => {
  test('gets the refusal of a member that it set itself, and nothing is remembered', async () => {
    refuse(['max_completion_tokens']);
    await rejection(openaiProtocol.complete(call({ max_completion_tokens: 20 })));
    refuse(['stream_options']);
    const stream_options = { include_usage: false };
    await rejection(openaiProtocol.stream(call({ stream: true, stream_options })));
    expect(asked()).toHaveLength(2);
    expect(refused.names).toEqual([]);
  });

  test('cannot make Weir forget a member by quoting a refusal that the upstream repeats', async () => {
    const quotes = REFUSALS.map(({ body }) => JSON.stringify(body('stream_options')));
    for (const quote of [...quotes, "Unknown parameter: 'stream_options'"]) {
      // An upstream that refuses a message in the client's own words, but only once.
      upstream.answer = ({ text }) =>
        'stream_options' in JSON.parse(text)
          ? Response.json({ error: { message: quote } }, { status: 400 })
          : streamed(CHUNKS);
      const plain = JSON.stringify({ stream: true, messages: [{ role: 'user', content: quote }] });
      for (const text of [plain, plain.replaceAll('stream_options', 'stream\\u005foptions')]) {
        const made = callOf(upstream.url, text);
        const quoting = { ...made, target: { ...made.target, refused } };
        await readStream(openaiProtocol, quoting).catch(() => undefined);
        expect(refused.names).toEqual([]);
      }
    }
    // Some of the calls were repeated, so that the test is about what is remembered.
    expect(upstream.asked.length).toBeGreaterThan(2 * (quotes.length + 1));
  });

  test('cannot cause it by a refusal that stays without the member', async () => {
    upstream.answer = () => Response.json(REFUSAL.body('stream_options'), { status: 422 });
    await rejection(openaiProtocol.stream(call({ stream: true })));
    expect(asked()).toHaveLength(2);
    expect(refused.names).toEqual([]);
  });

  test('cannot cause it by a member of the same name elsewhere in its request', async () => {
    const places = [['body', 'messages', 0, 'stream_options'], ['stream_options'], ['query']];
    for (const loc of places) {
      const detail = [{ type: 'extra_forbidden', loc, input: "('body', 'stream_options')" }];
      upstream.answer = () => Response.json({ detail }, { status: 422 });
      await rejection(openaiProtocol.stream(call({ stream: true })));
    }
    expect(asked()).toHaveLength(places.length);
  });

  test('still gets the usage of a stream that it asked for', async () => {
    refuse(['stream_options']);
    refused.add('stream_options');
    const stream_options = { include_usage: true };
    const { events } = await readStream(openaiProtocol, call({ stream: true, stream_options }));
    const usage = {
      input_tokens: 5,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 2,
    };
    const last = events.at(-1)?.withUsage?.(usage) ?? '';
    expect(last).toContain('"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7');
    expect(last.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});
