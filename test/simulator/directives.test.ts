import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CHAT_DIRECTIVES } from '../../simulator/shared/directives.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { ACCOUNT, at, chat, eventsIn, type Json, message, rawChat, user } from './ask.ts';

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await startSimulator();
});

afterAll(() => simulator.stop());

/** The data of a streamed chat with `include_usage`. */
async function streamed(text: string): Promise<Json[]> {
  return eventsIn(await (await chat(simulator, streaming(text))).text());
}

function streaming(text: string): Json {
  return { messages: user(text), stream: true, stream_options: { include_usage: true } };
}

async function answered(text: string, more: Json = {}): Promise<Json> {
  return (await (await chat(simulator, { messages: user(text), ...more })).json()) as Json;
}

function textOf(events: Json[]): string {
  return events.map((event) => at(event, 'choices.0.delta.content') ?? '').join('');
}

async function lastCall() {
  return (await simulator.closedBooks()).calls.at(-1);
}

/** Reads a response until it ends or breaks. */
async function readAll(response: Response): Promise<{ text: string; broken: boolean }> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
}

/** One test for each directive; another test checks that none is missing. */
const TESTS: Record<keyof typeof CHAT_DIRECTIVES, () => Promise<void>> = {
  async channel() {
    const text = 'Hi [[sim tokens=3 channel=a]] [[sim status=500 channel=b]] [[sim channel=c]]';
    const a = await chat(simulator, { messages: user(text) }, 'a');
    const b = await chat(simulator, { messages: user(text) }, 'b');
    const c = await chat(simulator, { messages: user(text) }, 'c');
    expect(at(await a.json(), 'usage.completion_tokens')).toBe(3);
    expect([b.status, c.status]).toEqual([500, 200]);
  },
  async times() {
    const body = { messages: user('once only [[sim status=503 times=2]]') };
    const statuses: number[] = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await chat(simulator, body)).status);
    expect(statuses).toEqual([503, 503, 200, 200]);
    expect((await chat(simulator, body, 'another')).status).toBe(503);
  },
  async latency_ms() {
    const started = performance.now();
    await answered('[[sim latency_ms=120]]');
    // Only a lower bound, because an upper one would depend on the machine.
    expect(performance.now() - started).toBeGreaterThanOrEqual(110);
  },
  async tokens() {
    for (const tokens of [0, 1, 7, 5_000]) {
      const answer = await answered(`[[sim tokens=${tokens}]]`);
      expect(at(answer, 'usage.completion_tokens')).toBe(tokens);
    }
    const last_wins = await answered('[[sim tokens=9]] and [[sim tokens=4]]');
    expect(at(last_wins, 'usage.completion_tokens')).toBe(4);
  },
  async unicode() {
    const text = String(
      at(await answered('[[sim unicode=1 tokens=40]]'), 'choices.0.message.content'),
    );
    expect(Buffer.byteLength(text)).toBeGreaterThan(text.length);
  },
  async tools() {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const many = await answered('[[sim tools=3]]', { tools });
    expect(at(many, 'choices.0.message.tool_calls')).toHaveLength(3);
    const none = await answered('[[sim tools=0]]', { tools });
    expect(at(none, 'choices.0.message.content')).toBeString();
  },
  async reasoning() {
    const answer = await answered('[[sim reasoning=30 tokens=5]]');
    expect(at(answer, 'usage.completion_tokens')).toBe(35);
    expect(at(answer, 'usage.completion_tokens_details.reasoning_tokens')).toBe(30);
  },
  async cached() {
    const text = 'One two three four five six [[sim cached=4]]';
    const { usage } = await answered(text);
    expect(usage).toMatchObject({ prompt_tokens_details: { cached_tokens: 4 } });
    const native = await (await message(simulator, { messages: user(text) })).json();
    expect(at(native, 'usage.cache_read_input_tokens')).toBe(4);
    expect(at(native, 'usage.input_tokens')).toBe(Number(at(usage, 'prompt_tokens')) - 4);
    const more_than_all = await answered('[[sim cached=1000]]');
    expect(at(more_than_all, 'usage.prompt_tokens_details.cached_tokens')).toBe(
      at(more_than_all, 'usage.prompt_tokens'),
    );
  },
  async cache_write() {
    const text = 'One two three four five six [[sim cached=4 cache_write=3]]';
    const native = await (await message(simulator, { messages: user(text) })).json();
    const call = await lastCall();
    expect(at(native, 'usage')).toMatchObject({
      input_tokens: Number(call?.prompt_tokens) - 7,
      cache_creation_input_tokens: 3,
      cache_read_input_tokens: 4,
    });
    expect(call).toMatchObject({ cached_tokens: 4, cache_write_tokens: 3 });
  },
  async cache_write_1h() {
    const text = 'One two three four five six [[sim cache_write=5 cache_write_1h=2]]';
    const native = await (await message(simulator, { messages: user(text) })).json();
    expect(at(native, 'usage.cache_creation')).toEqual({
      ...{ ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
    });
  },
  async no_usage() {
    expect((await answered('[[sim no_usage=1]]')).usage).toBeUndefined();
    const events = await streamed('[[sim no_usage=1]]');
    expect(events.filter(({ usage }) => usage)).toEqual([]);
    expect(events.at(-1)).toEqual({ done: true });
    const native = await message(simulator, {
      ...streaming('[[sim no_usage=1]]'),
      stream_options: undefined,
    });
    expect(await native.text()).not.toContain('usage');
  },
  async context_tokens() {
    const answer = await answered('far too long [[sim context_tokens=8]]');
    expect(answer).toMatchObject({ error: { code: 'context_length_exceeded' } });
    expect(at(await answered('short [[sim context_tokens=1000]]'), 'usage')).toBeDefined();
  },
  async chunk_ms() {
    const started = performance.now();
    const events = await streamed('[[sim chunk_ms=10 tokens=10]]');
    expect(events).toHaveLength(14);
    expect(performance.now() - started).toBeGreaterThanOrEqual(13 * 9);
  },
  async chunk_tokens() {
    const [single, fours] = [
      await streamed('[[sim tokens=20]]'),
      await streamed('[[sim tokens=20 chunk_tokens=4]]'),
    ];
    expect(single).toHaveLength(24);
    expect(fours).toHaveLength(9);
    expect(fours.at(-2)).toMatchObject({ usage: { completion_tokens: 20 } });
  },
  async split() {
    const body = { messages: user('[[sim unicode=1 tokens=12 split=7]]') };
    const { text } = await rawChat(simulator, { ...body, stream: true });
    // Each piece is a separate chunk. It has its size in hexadecimal, and then 7 bytes.
    expect(text.match(/^7\r$/gm)?.length).toBeGreaterThan(300);
    const pieces: Uint8Array[] = [];
    const response = await chat(simulator, { ...body, stream: true });
    for await (const bytes of response.body ?? []) pieces.push(bytes);
    const whole = Buffer.concat(pieces).toString();
    expect(whole).toEndWith('data: [DONE]\n\n');
    const answer = await (await chat(simulator, body)).json();
    expect(textOf(eventsIn(whole))).toBe(String(at(answer, 'choices.0.message.content')));
  },
  async comment() {
    const response = await chat(simulator, streaming('[[sim comment=1 tokens=3]]'));
    const text = await response.text();
    expect(text.match(/^: keep-alive$/gm)).toHaveLength(6);
    expect(eventsIn(text)).toHaveLength(7);
  },
  async nocomment() {
    const response = await chat(simulator, streaming('[[sim comment=1]] [[sim nocomment]]'));
    expect(await response.text()).not.toContain('keep-alive');
  },
  async status() {
    for (const status of [400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529]) {
      const text = `[[sim status=${status}]]`;
      const [openai, native] = [
        await chat(simulator, { messages: user(text) }),
        await message(simulator, { messages: user(text) }),
      ];
      expect([openai.status, native.status]).toEqual([status, status]);
      expect(at(await openai.json(), 'error.message')).toBeString();
      expect(at(await native.json(), 'type')).toBe('error');
      expect(await lastCall()).toMatchObject({ outcome: 'refused', status, completion_tokens: 0 });
    }
  },
  async retry_after() {
    const { headers } = await chat(simulator, {
      messages: user('[[sim status=429 retry_after=7]]'),
    });
    expect(headers.get('retry-after')).toBe('7');
  },
  async quota() {
    const response = await chat(simulator, { messages: user('[[sim status=429 quota=1]]') });
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({
      error: { type: 'insufficient_quota', code: 'insufficient_quota' },
    });
  },
  async malformed() {
    const body = await (await chat(simulator, { messages: user('[[sim malformed=1]]') })).text();
    expect(() => JSON.parse(body)).toThrow();
    expect(await lastCall()).toMatchObject({ outcome: 'truncated', delivered_tokens: 0 });
    const stream = await (await chat(simulator, streaming('[[sim malformed=1 tokens=5]]'))).text();
    expect(() => eventsIn(stream)).toThrow();
    expect(stream).toEndWith('data: [DONE]\n\n');
    expect(await lastCall()).toMatchObject({ outcome: 'truncated' });
    const native = await message(simulator, {
      messages: user('[[sim malformed=1]]'),
      stream: true,
    });
    expect(await native.text()).toMatch(/^event: content_block_start\ndata: \{"type".*[^}]\n\n/m);
  },
  async truncate_after() {
    const raw = await rawChat(simulator, streaming('[[sim truncate_after=4 tokens=9]]'));
    expect(raw.clean).toBe(false);
    expect(raw.text.match(/^data: \{.*\}$/gm)).toHaveLength(4);
    expect(raw.text).not.toContain('[DONE]');
    expect(await lastCall()).toMatchObject({
      outcome: 'truncated',
      completion_tokens: 9,
      delivered_tokens: 3,
    });
    const body = await rawChat(simulator, { messages: user('[[sim truncate_after=1]]') });
    expect(body.clean).toBe(false);
    expect(body.text).toContain('HTTP/1.1 200 OK');
    expect(body.text).toContain('"id":"chatcmpl-SIM');
    expect(body.text).not.toContain('"usage"');
    // This is the same test through `fetch`, which a gateway may use.
    const fetched = await chat(simulator, streaming('[[sim truncate_after=4 chunk_ms=1]]'));
    expect(await readAll(fetched)).toMatchObject({ broken: true });
  },
  async truncate_clean() {
    const text = '[[sim truncate_after=4 truncate_clean=1 tokens=9]]';
    const raw = await rawChat(simulator, streaming(text));
    expect(raw.clean).toBe(true);
    expect(raw.text.match(/^data: \{.*\}$/gm)).toHaveLength(4);
    expect(raw.text).not.toContain('[DONE]');
    expect(await lastCall()).toMatchObject({ outcome: 'truncated', delivered_tokens: 3 });
  },
  async error_after() {
    const events = await streamed('[[sim error_after=3 tokens=9]]');
    expect(events).toHaveLength(4);
    expect(events[3]).toMatchObject({ error: { type: 'server_error' } });
    expect(await lastCall()).toMatchObject({ outcome: 'truncated', delivered_tokens: 2 });
    const native = await message(simulator, {
      messages: user('[[sim error_after=4]]'),
      stream: true,
    });
    const text = await native.text();
    expect(text).toContain('event: error\n');
    expect(eventsIn(text).at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    expect((await chat(simulator, { messages: user('[[sim error_after=3]]') })).status).toBe(500);
  },
  async stall_after() {
    const leaving = new AbortController();
    const body = streaming('[[sim stall_after=3 tokens=9]]');
    const response = await chat(simulator, body, ACCOUNT, leaving.signal);
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(eventsIn(new TextDecoder().decode(value))).toHaveLength(3);
    const next = reader?.read().then(
      () => 'more',
      () => 'left',
    );
    expect((await simulator.books()).calls.at(-1)).toMatchObject({ outcome: 'running' });
    leaving.abort();
    expect(await next).toBe('left');
    expect(await lastCall()).toMatchObject({ outcome: 'aborted', delivered_tokens: 2 });
  },
  async hang() {
    const leaving = new AbortController();
    const body = { messages: user('[[sim hang=1 tokens=6]]'), user: 'hanging' };
    const answer = chat(simulator, body, ACCOUNT, leaving.signal).catch(() => 'left');
    await until('the call is in the books', async () => {
      const { calls } = await simulator.books();
      return calls.some((call) => call.client_reference === 'hanging');
    });
    leaving.abort();
    expect(await answer).toBe('left');
    expect(await lastCall()).toMatchObject({
      outcome: 'aborted',
      completion_tokens: 6,
      delivered_tokens: 0,
      aborted_at_ms: expect.any(Number),
    });
  },
  async lose() {
    const raw = await rawChat(simulator, { messages: user('[[sim lose=1 tokens=6]]') });
    expect(raw).toEqual({ text: '', clean: false });
    expect(await lastCall()).toMatchObject({
      outcome: 'lost',
      completion_tokens: 6,
      delivered_tokens: 0,
    });
  },
  async record() {
    const messages = user('[[sim record=1]]');
    await chat(simulator, { messages, metadata: { kept: 'yes' } });
    expect((await lastCall())?.request).toMatchObject({
      path: '/openai/v1/chat/completions',
      headers: { authorization: `Bearer sim-${ACCOUNT}` },
      body: { model: 'gpt-4o', messages, metadata: { kept: 'yes' } },
    });
    await chat(simulator, { messages: user('Hi') });
    expect((await lastCall())?.request).toBeUndefined();
  },
};

describe('the directives', () => {
  test.each(Object.entries(TESTS))('%s', (_key, run) => run());

  test('all have a test', () => {
    expect(Object.keys(TESTS).sort()).toEqual(Object.keys(CHAT_DIRECTIVES).sort());
  });

  test('are read only in the last user text', async () => {
    const messages = [...user('[[sim status=500]]'), { role: 'assistant', content: 'Well.' }];
    const more = { messages: [...messages, ...user('And now? [[sim tokens=3]]')] };
    expect(at(await answered('', more), 'usage.completion_tokens')).toBe(3);
    const parts = [
      { type: 'text', text: 'Hi [[sim ' },
      { type: 'text', text: 'tokens=4]]' },
    ];
    const split = await answered('', { messages: [{ role: 'user', content: parts }] });
    expect(at(split, 'usage.completion_tokens')).toBe(4);
    const quoted = await answered('', {
      messages: [{ role: 'system', content: '[[sim status=500]]' }, ...user('Hi')],
    });
    expect(quoted.usage).toBeDefined();
  });

  test('for jobs are accepted and have no effect on a chat', async () => {
    const answer = await answered('[[sim task_ms=3000 fail=moderation at=processing tokens=2]]');
    expect(at(answer, 'usage.completion_tokens')).toBe(2);
  });
});
