import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { TokenUsage } from '../../src/protocols/token-usage.ts';
import { anthropicProtocol } from '../../src/upstreams/chat/anthropic.ts';
import { openaiProtocol } from '../../src/upstreams/chat/openai.ts';
import type { UpstreamCall, UpstreamProtocol } from '../../src/upstreams/contract.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { callOf, readStream, rejection } from './upstream.ts';

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.stop());

const protocols: { name: string; protocol: UpstreamProtocol; url: () => string }[] = [
  { name: 'openai', protocol: openaiProtocol, url: () => simulator.openai_url },
  { name: 'anthropic', protocol: anthropicProtocol, url: () => simulator.anthropic_url },
];

describe.each(protocols)('the $name protocol against the simulated provider', (one) => {
  const { protocol } = one;
  const call = (said: string, stream: boolean, changes: Partial<UpstreamCall> = {}) => {
    const messages = [{ role: 'user', content: `Say something. ${said}` }];
    const body = { model: 'gpt-test', max_tokens: 4_000, messages, stream };
    return callOf(one.url(), body, changes);
  };
  /** Compares Weir's usage with the only call in the provider's own books. */
  const books = async (usage: TokenUsage | null) => {
    const { calls } = await simulator.closedBooks();
    expect(calls).toHaveLength(1);
    const [{ prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, outcome }] =
      calls as [(typeof calls)[number]];
    expect(usage).toMatchObject({
      input_tokens: prompt_tokens - cached_tokens - cache_write_tokens,
      cached_input_tokens: cached_tokens,
      cache_write_tokens,
      output_tokens: completion_tokens,
    });
    return outcome;
  };
  const DIRECTIVES = '[[sim tokens=60 unicode=1 cached=5 cache_write=2 reasoning=8]]';
  const LEAKS = /SIM|sim-org|physical-9/;

  test('P5: a whole answer names nothing of the provider; its usage is the provider’s', async () => {
    const answer = await protocol.complete(call(DIRECTIVES, false));
    expect(answer.body_text).not.toMatch(LEAKS);
    expect(JSON.parse(answer.body_text)).toMatchObject({ id: 'answer-of-weir', model: 'gpt-test' });
    expect(await books(answer.usage)).toBe('whole');
  });

  test('P5: a stream names nothing of the provider; its usage is the provider’s', async () => {
    for (const how of ['', '[[sim split=61 comment=1]]', '[[sim chunk_tokens=9]]']) {
      await simulator.reset();
      const read = await readStream(protocol, call(`${DIRECTIVES} ${how}`, true));
      expect(read.error).toBeUndefined();
      expect(read.text).not.toMatch(LEAKS);
      expect(read.produced.length).toBeGreaterThan(60);
      expect(await books(read.stream.usage())).toBe('whole');
    }
  });

  test('a stream has the same text as the whole answer', async () => {
    const answer = await protocol.complete(call('[[sim tokens=40 unicode=1 split=101]]', false));
    const read = await readStream(protocol, call('[[sim tokens=40 unicode=1 split=101]]', true));
    expect(read.produced).toBe(answer.produced());
  });

  test('a missing usage stays missing', async () => {
    const answer = await protocol.complete(call('[[sim no_usage=1]]', false));
    expect(answer.usage).toBeNull();
    const read = await readStream(protocol, call('[[sim no_usage=1]]', true));
    expect(read.error).toBeUndefined();
    expect(read.stream.usage()).toBeNull();
  });

  test.each([
    ['status=500', 'server'],
    ['status=503 retry_after=3', 'server'],
    ['status=429 retry_after=2', 'throttle'],
    ['status=429 quota=1', 'auth'],
    ['status=401', 'auth'],
    ['lose=1', 'connection'],
  ])('%s is a failure of the class %s', async (directive, expected) => {
    for (const stream of [false, true]) {
      const at = call(`[[sim ${directive}]]`, stream);
      const asked = stream ? protocol.stream(at) : protocol.complete(at);
      expect(await rejection(asked)).toMatchObject({ failure: expected });
    }
  });

  test('a cut or malformed body is the provider’s failure', async () => {
    for (const directive of ['malformed=1', 'truncate_after=2', 'error_after=2']) {
      const whole = await rejection(protocol.complete(call(`[[sim ${directive}]]`, false)));
      expect(whole).toHaveProperty('failure');
      const read = await readStream(protocol, call(`[[sim tokens=30 ${directive}]]`, true));
      expect(read.error).toHaveProperty('failure');
      expect(read.held).toBe('');
    }
    const clean = '[[sim tokens=30 truncate_after=4 truncate_clean=1]]';
    const read = await readStream(protocol, call(clean, true));
    expect(read.error).toMatchObject({ failure: 'malformed' });
  });

  test('P9: a client error is the client’s', async () => {
    const tooLong = await rejection(protocol.complete(call('[[sim context_tokens=2]]', false)));
    expect(tooLong).toMatchObject({ error_id: 'context_length_exceeded' });
    const at = callOf(one.url(), { model: 'gpt-test', max_tokens: 5, messages: 'no' });
    const wrong = await rejection(protocol.complete(at));
    expect(wrong).toMatchObject({ error_id: 'invalid_request' });
    expect(JSON.stringify(wrong)).not.toMatch(LEAKS);
  });

  test('P2: the answer is as long as the reservation covers', async () => {
    const at = call('[[sim tokens=500]]', false, { max_output_tokens: 10 });
    expect(await books((await protocol.complete(at)).usage)).toBe('whole');
    const { calls } = await simulator.books();
    expect(calls[0]?.completion_tokens).toBe(10);
  });

  test('P8: the upstream request ends when the client leaves', async () => {
    const client = new AbortController();
    const at = call('[[sim tokens=500 chunk_ms=20]]', true, { signal: client.signal });
    const stream = await protocol.stream(at);
    let batches = 0;
    const gone = rejection(
      (async () => {
        for await (const _ of stream.events) {
          batches += 1;
          if (batches === 4) client.abort(new Error('gone'));
        }
      })(),
    );
    expect(await gone).toMatchObject({ message: 'gone' });
    const { calls } = await simulator.closedBooks();
    expect(calls[0]?.outcome).toBe('aborted');
  });
});
