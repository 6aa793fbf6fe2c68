import { describe, expect, test } from 'bun:test';
import type { ChannelActor } from '../../../src/actors/channels/channel.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { withHedge } from '../../../src/inference/routing/hedge.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../../../src/upstreams/contract.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig as config } from '../../support/channels.ts';

const USUAL_MS = 5;

/** Creates channels in this order. Their calls usually take 5 ms. */
function scene(ids = ['a', 'b']) {
  const clock = new VirtualClock();
  const channels = ids.map((id, priority) => channelActor(config(id, { priority }), clock));
  for (const channel of channels) {
    for (let call = 0; call < 20; call += 1) channel.latency.record(USUAL_MS);
  }
  const discarded: string[] = [];
  const aborted: string[] = [];
  const called: string[] = [];
  /**
   * Runs a hedged call. `answers` holds the answer of each channel. A channel without an answer
   * waits until it is aborted.
   */
  const run = async (answers: Record<string, (signal: AbortSignal) => Promise<string>>) => {
    const served = await withHedge(
      channels,
      { now: () => clock.now(), random: () => 0.5, signal: new AbortController().signal },
      (permit, signal = new AbortController().signal) => {
        const { id } = permit.channel.config;
        called.push(id);
        signal.addEventListener('abort', () => aborted.push(id));
        return (answers[id] ?? never)(signal);
      },
      ({ result }) => discarded.push(result),
    );
    return `${served.result}, by ${served.permit.channel.config.id}`;
  };
  return { channels: channels as [ChannelActor, ChannelActor], run, called, aborted, discarded };
}

const never = (signal: AbortSignal) =>
  new Promise<string>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
const failed = (failure: 'server' | 'timeout' = 'server') =>
  Promise.reject(new RetryableUpstreamError(failure, 'x'));

describe('a hedged call', () => {
  test('calls no second channel if the first answers in its usual time', async () => {
    const { run, called, aborted } = scene();
    expect(await run({ a: async () => 'of a' })).toBe('of a, by a');
    await Bun.sleep(4 * USUAL_MS);
    expect([called, aborted]).toEqual([['a'], []]);
  });

  test('calls a second channel if the first is late, and aborts the slower one without counting a failure', async () => {
    const { channels, run, called, aborted, discarded } = scene();
    expect(await run({ b: async () => 'of b' })).toBe('of b, by b');
    expect([called, aborted, discarded]).toEqual([['a', 'b'], ['a'], []]);
    await Bun.sleep(0);
    expect(channels[0].snapshot.context.consecutive_failures).toBe(0);
    expect(channels[0].canAcquire()).toBe(true);
  });

  test('discards the answer of an aborted attempt that succeeds all the same', async () => {
    const { run, discarded } = scene();
    const late = Promise.withResolvers<string>();
    expect(await run({ a: () => late.promise, b: async () => 'of b' })).toBe('of b, by b');
    late.resolve('of a');
    await Bun.sleep(0);
    expect(discarded).toEqual(['of a']);
  });

  test('after a failed channel, waits as long as the next one usually takes', async () => {
    const { channels, run, called } = scene(['a', 'b', 'c']);
    for (let call = 0; call < 200; call += 1) channels[1]?.latency.record(60_000);
    const slowly = async () => {
      // This is far longer than the first channel usually takes. So the first channel's timer must
      // be cleared.
      await Bun.sleep(20 * USUAL_MS);
      return 'of b';
    };
    expect(await run({ a: () => failed(), b: slowly, c: async () => 'of c' })).toBe('of b, by b');
    expect(called).toEqual(['a', 'b']);
  });

  test('calls no second channel if the usual time of the first is unknown', async () => {
    const clock = new VirtualClock();
    const fresh = ['a', 'b'].map((id) => channelActor(config(id), clock));
    const called: string[] = [];
    const { result: answer } = await withHedge(
      fresh,
      { now: () => clock.now(), random: () => 0.5, signal: new AbortController().signal },
      async (permit) => {
        called.push(permit.channel.config.id);
        await Bun.sleep(30);
        return 'late';
      },
      () => undefined,
    );
    expect([answer, called.length]).toEqual(['late', 1]);
  });

  test('each of the two attempts can win if the other fails', async () => {
    const slowly = async (text: string) => {
      await Bun.sleep(6 * USUAL_MS);
      return text;
    };
    const fails = async () => {
      await Bun.sleep(3 * USUAL_MS);
      return failed();
    };
    expect(await scene().run({ a: fails, b: () => slowly('of b') })).toBe('of b, by b');
    expect(await scene().run({ a: () => slowly('of a'), b: () => failed() })).toBe('of a, by a');
  });

  test('fails after both attempts have failed', async () => {
    const { run } = scene();
    const fails = async () => {
      await Bun.sleep(3 * USUAL_MS);
      return failed('timeout');
    };
    const error = await run({ a: fails, b: () => failed('timeout') }).catch((each) => each);
    expect(error).toBeInstanceOf(WeirError);
    expect(error.id).toBe('timeout_error');
  });

  test('ends at once with a client’s error', async () => {
    const { run, aborted } = scene();
    const wrong = new TerminalUpstreamError('invalid_request', 'messages: no', 'messages', 400);
    const error = await run({ b: () => Promise.reject(wrong) }).catch((each) => each);
    expect(error).toMatchObject({ id: 'invalid_request', details: { param: 'messages' } });
    expect(aborted).toContain('a');
  });
});
