import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { anthropicProtocol } from '../../../src/upstreams/chat/anthropic.ts';
import type { UpstreamCall } from '../../../src/upstreams/contract.ts';
import { callOf, readStream, rejection, startUpstream, streamed } from '../upstream.ts';

const upstream = startUpstream();
afterEach(() => {
  upstream.asked.length = 0;
});
afterAll(() => upstream.stop());

const NEW = '2026-10-21';
const OLD = '2023-06-01';

async function sent(body: Record<string, unknown> | string, changes: Partial<UpstreamCall> = {}) {
  upstream.answer = () => Response.json({ id: 'x', model: 'y', content: [] });
  await anthropicProtocol.complete(callOf(upstream.url, body, changes));
  const asked = upstream.asked.at(-1);
  if (!asked) throw new Error('nothing was asked');
  return asked;
}

describe('an Anthropic request', () => {
  test('is sent to the channel’s address with the channel’s key', async () => {
    const { path, headers } = await sent({ model: 'm' });
    expect(path).toBe('/v1/messages');
    expect(headers.get('x-api-key')).toBe('sim-main');
    expect(headers.get('authorization')).toBeNull();
    expect(headers.get('anthropic-beta')).toBeNull();
  });

  test('forwards the client’s version and betas, but no version that refuses its parameters', async () => {
    const version = async (asked: string | undefined, body: object = {}) => {
      const headers: Record<string, string> = asked ? { 'anthropic-version': asked } : {};
      return (await sent({ model: 'm', ...body }, { headers })).headers.get('anthropic-version');
    };
    expect(await version(NEW)).toBe(NEW);
    expect(await version(OLD)).toBe(OLD);
    expect(await version('2031-01-01')).toBe(OLD);
    expect(await version(undefined)).toBe(OLD);
    for (const key of ['temperature', 'top_p', 'top_k']) {
      expect(await version(NEW, { [key]: 1 })).toBe(OLD);
    }
    const { headers } = await sent({ model: 'm' }, { headers: { 'anthropic-beta': 'a-1,b-2' } });
    expect(headers.get('anthropic-beta')).toBe('a-1,b-2');
  });

  test('changes only the model', async () => {
    const body =
      '{"max_tokens":10, "model":"gpt-test","system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],"n":1.50,"messages":[]}';
    expect((await sent(body)).text).toBe(body.replace('gpt-test', 'physical-9'));
  });

  test('removes Weir’s cache control and forwards the provider’s', async () => {
    const { text } = await sent('{"cache_control":{"type":"no_store"},"model":"m"}');
    expect(text).toBe('{"model":"physical-9"}');
    const body = '{"model":"physical-9","cache_control":{"type":"ephemeral"}}';
    expect((await sent(body)).text).toBe(body);
  });

  test('P2: limits the output to what the reservation covers, thinking included', async () => {
    const limited = async (max_output_tokens: number, thinking?: object) => {
      const body = { model: 'm', max_tokens: 9_000, thinking };
      return JSON.parse((await sent(body, { max_output_tokens })).text);
    };
    expect(await limited(50)).toEqual({ model: 'physical-9', max_tokens: 50 });
    expect(await limited(10_000)).toMatchObject({ max_tokens: 9_000 });
    const thinking = { type: 'enabled', budget_tokens: 8_000, display: 'omitted' };
    expect(await limited(8_001, thinking)).toMatchObject({ max_tokens: 8_001, thinking });
    expect(await limited(3_000, thinking)).toMatchObject({
      max_tokens: 3_000,
      thinking: { ...thinking, budget_tokens: 2_999 },
    });
    expect(await limited(1_024, thinking)).toMatchObject({ thinking: { type: 'disabled' } });
  });
});

describe('a whole Anthropic answer', () => {
  const answered = async (text: string) => {
    upstream.answer = () => new Response(text, { headers: { 'request-id': 'req_SIM' } });
    return await anthropicProtocol.complete(callOf(upstream.url, { model: 'gpt-test' }));
  };

  test('P5: has Weir’s id and the public model, and is otherwise unchanged', async () => {
    const text =
      '{"id":"msg_SIM","type":"message","model":"physical-9","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"model":"other","a":1.0}}],"usage":{"input_tokens":3}}';
    const { body_text } = await answered(text);
    expect(body_text).toBe(
      text.replace('msg_SIM', 'answer-of-weir').replace('physical-9', 'gpt-test'),
    );
  });

  test('counts cache tokens apart from the input', async () => {
    const usage = {
      input_tokens: 3,
      output_tokens: 4,
      cache_read_input_tokens: 50,
      cache_creation_input_tokens: null,
    };
    expect((await answered(JSON.stringify({ content: [], usage }))).usage).toEqual({
      input_tokens: 3,
      cached_input_tokens: 50,
      cache_write_tokens: 0,
      output_tokens: 4,
    });
  });

  test('counts one-hour cache writes apart from five-minute ones', async () => {
    const usage = {
      ...{ input_tokens: 3, output_tokens: 4, cache_creation_input_tokens: 9 },
      cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
    };
    expect((await answered(JSON.stringify({ content: [], usage }))).usage).toMatchObject({
      ...{ cache_write_tokens: 9, cache_write_1h_tokens: 5 },
    });
    const odd = { ...usage, cache_creation: { ephemeral_1h_input_tokens: 50 } };
    expect((await answered(JSON.stringify({ content: [], usage: odd }))).usage).toBeNull();
  });

  test('adds the tokens of a compaction, which are not part of the message’s own', async () => {
    const compaction = {
      ...{ type: 'compaction', input_tokens: 100, cache_read_input_tokens: 20 },
      ...{ cache_creation_input_tokens: 0, output_tokens: 30 },
    };
    const usage = {
      ...{ input_tokens: 3, output_tokens: 4 },
      iterations: [compaction, { type: 'message', input_tokens: 3, output_tokens: 4 }],
    };
    expect((await answered(JSON.stringify({ content: [], usage }))).usage).toMatchObject({
      ...{ input_tokens: 123, output_tokens: 34 },
    });
  });

  test('P12: an explicit zero usage differs from a missing usage', async () => {
    const usageOf = async (usage: unknown) =>
      (await answered(JSON.stringify({ content: [], usage }))).usage;
    expect(await usageOf({ input_tokens: 0, output_tokens: 0 })).toMatchObject({ input_tokens: 0 });
    for (const missing of [undefined, null, {}, 'none']) expect(await usageOf(missing)).toBeNull();
  });

  test('P12: all produced text can be counted', async () => {
    const content = [
      { type: 'thinking', thinking: 'a', signature: 'sig' },
      { type: 'text', text: 'b' },
      { type: 'tool_use', name: 'c', input: { d: 1 } },
    ];
    expect((await answered(JSON.stringify({ content }))).produced()).toBe('abc{"d":1}');
  });

  test('without content, or with an error inside a 200, is the upstream’s failure', async () => {
    const failure = async (text: string) => await rejection(answered(text));
    for (const text of ['{"id":"x","con', '{}', '']) {
      expect(await failure(text)).toMatchObject({ failure: 'malformed' });
    }
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    expect(await failure(JSON.stringify({ type: 'error', error }))).toMatchObject({
      failure: 'server',
    });
  });
});

describe('an Anthropic stream', () => {
  const event = (data: { type: string; [member: string]: unknown }) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const start = event({
    type: 'message_start',
    message: {
      id: 'msg_SIM',
      type: 'message',
      role: 'assistant',
      model: 'physical-9',
      content: [],
      usage: { input_tokens: 9, cache_read_input_tokens: 5, output_tokens: 1 },
    },
  });
  const block = (index: number, content_block: object) =>
    event({ type: 'content_block_start', index, content_block });
  const delta = (index: number, of: object) =>
    event({ type: 'content_block_delta', index, delta: of });
  const text = (said: string) => delta(0, { type: 'text_delta', text: said });
  const close = (index: number) => event({ type: 'content_block_stop', index });
  const stopping = event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 7 },
  });
  const stop = event({ type: 'message_stop' });
  const ping = event({ type: 'ping' });
  const TEXT = { type: 'text', text: '' };
  const whole = [start, ping, block(0, TEXT), text('Hi'), close(0), stopping, stop];
  const ours = (wire: string) =>
    wire.replace('msg_SIM', 'answer-of-weir').replace('physical-9', 'gpt-test');

  const read = (pieces: string[], cut = false) => {
    upstream.answer = () => streamed(pieces, cut);
    return readStream(anthropicProtocol, callOf(upstream.url, { model: 'gpt-test', stream: true }));
  };

  test('P5: has Weir’s id and the public model, and is otherwise unchanged', async () => {
    const { text, produced, stream, error } = await read(whole);
    expect(error).toBeUndefined();
    expect(text).toBe(ours(whole.join('')));
    expect(produced).toBe('Hi');
    expect(stream.usage()).toEqual({
      input_tokens: 9,
      cached_input_tokens: 5,
      cache_write_tokens: 0,
      output_tokens: 7,
    });
  });

  test('P4: marks the events that complete the answer: stop reason and stop', async () => {
    expect((await read(whole)).held).toBe(stopping + stop);
    const early = event({ type: 'message_delta', delta: {}, usage: { output_tokens: 2 } });
    expect((await read([start, early, stopping, stop])).held).toBe(stopping + stop);
  });

  test('P12: reports the output only once the upstream has reported it, and keeps the input’s usage', async () => {
    const cut = await read([start, block(0, TEXT), text('Hi')]);
    expect(cut.stream.usage()).toBeNull();
    expect(cut.stream.inputUsage()).toMatchObject({ input_tokens: 9, cached_input_tokens: 5 });
    const silent = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } });
    expect((await read([start, silent, stop])).stream.usage()).toBeNull();
    const zero = event({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 0 },
    });
    expect((await read([start, zero, stop])).stream.usage()).toMatchObject({ output_tokens: 0 });
  });

  test('counts all charged text: thinking and tools', async () => {
    const { produced } = await read([
      start,
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'a' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
      close(0),
      block(1, { type: 'tool_use', id: 'toolu_1', name: 'b', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '' }),
      delta(1, { type: 'input_json_delta', partial_json: '{"c":1}' }),
      close(1),
      stopping,
      stop,
    ]);
    expect(produced).toBe('ab{"c":1}');
  });

  test('forwards unknown events, and names an event without a name', async () => {
    const later = 'event: content_flag\ndata: {"type":"content_flag","x":1.0}\n\n';
    const nameless = 'data: {"type":"ping",\ndata: "x":1}\n\n';
    const { text } = await read([start, later, nameless, stopping, stop]);
    expect(text).toContain(later);
    expect(text).toContain('event: ping\ndata: {"type":"ping", "x":1}\n\n');
  });

  test('that breaks is the upstream’s failure, after the events before the break', async () => {
    for (const cut of [false, true]) {
      const { produced, error } = await read([start, block(0, TEXT), text('Hi')], cut);
      expect(produced).toBe('Hi');
      expect(error).toMatchObject({ failure: cut ? 'connection' : 'malformed' });
    }
  });

  test('that lacks only its last event is complete, and Weir adds that event', async () => {
    const { text, error } = await read([start, stopping]);
    expect(error).toBeUndefined();
    expect(text).toEndWith(stop);
  });

  test('that has an error event fails with the error in that event', async () => {
    const error = async (type: string) =>
      (await read([start, event({ type: 'error', error: { type, message: 'm' } })])).error;
    expect(await error('overloaded_error')).toMatchObject({ failure: 'server' });
    expect(await error('rate_limit_error')).toMatchObject({ failure: 'throttle' });
    expect(await error('timeout_error')).toMatchObject({ failure: 'timeout' });
    expect(await error('authentication_error')).toMatchObject({ failure: 'auth' });
    expect(await error('invalid_request_error')).toMatchObject({ error_id: 'invalid_request' });
  });

  test('P2: can be ended cleanly if no money is left', async () => {
    const used = {
      input_tokens: 1,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 4,
    };
    const end =
      event({
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens', stop_sequence: null },
        usage: { output_tokens: 4 },
      }) + stop;
    const open = await read([start, block(0, TEXT), close(0), block(1, TEXT)]);
    expect(open.stream.endEarly(used)).toBe(close(1) + end);
    const closed = await read([start, block(0, TEXT), close(0)]);
    expect(closed.stream.endEarly(used)).toBe(end);
  });

  test('has an error event that the SDKs throw', async () => {
    const { stream } = await read([start, block(0, TEXT)]);
    const error = new WeirError('upstream_error', 'm', { hint: 'h' });
    const members = {
      ...{ type: 'api_error', message: 'm', code: 'upstream_error', param: null, hint: 'h' },
      retryable: true,
    };
    const expected = event({ type: 'error', error: members, request_id: 'req_1' });
    expect(stream.errorEvents(error, 'req_1')).toBe(expected);
  });
});
