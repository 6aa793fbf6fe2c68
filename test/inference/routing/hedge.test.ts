import { describe, expect, test } from 'bun:test';
import type { ChannelActor } from '../../../src/actors/channels/channel.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { withHedge } from '../../../src/inference/routing/hedge.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../../../src/upstreams/contract.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig as config } from '../../support/channels.ts';

const USUAL_MS = 5;

/** Channels in this order, whose calls mostly take 5 ms. */
function scene(ids = ['a', 'b']) {
  const clock = new VirtualClock();
  const channels = ids.map((id, priority) => channelActor(config(id, { priority }), clock));
  for (const channel of channels) {
    for (let call = 0; call < 20; call += 1) channel.latency.record(USUAL_MS);
  }
  const discarded: string[] = [];
  const stopped: string[] = [];
  const asked: string[] = [];
  /** How each channel answers; one that never does is stopped at last. */
  const run = async (answers: Record<string, (lane: AbortSignal) => Promise<string>>) => {
    const served = await withHedge(
      channels,
      { now: () => clock.now(), random: () => 0.5 },
      (permit, _, lane = new AbortController().signal) => {
        const { id } = permit.channel.config;
        asked.push(id);
        lane.addEventListener('abort', () => stopped.push(id));
        return (answers[id] ?? never)(lane);
      },
      ({ result }) => discarded.push(result),
    );
    return `${served.result}, by ${served.permit.channel.config.id}`;
  };
  return { channels: channels as [ChannelActor, ChannelActor], run, asked, stopped, discarded };
}

const never = (lane: AbortSignal) =>
  new Promise<string>((_, reject) => {
    lane.addEventListener('abort', () => reject(lane.reason));
  });
const failed = (failure: 'server' | 'timeout' = 'server') =>
  Promise.reject(new RetryableUpstreamError(failure, 'x'));

describe('a hedged call', () => {
  test('asks nobody else where the first answers in its usual time', async () => {
    const { run, asked, stopped } = scene();
    expect(await run({ a: async () => 'of a' })).toBe('of a, by a');
    await Bun.sleep(4 * USUAL_MS);
    expect([asked, stopped]).toEqual([['a'], []]);
  });

  test('asks a second one where the first is late, and stops the loser, whom nobody blames', async () => {
    const { channels, run, asked, stopped, discarded } = scene();
    expect(await run({ b: async () => 'of b' })).toBe('of b, by b');
    expect([asked, stopped, discarded]).toEqual([['a', 'b'], ['a'], []]);
    await Bun.sleep(0);
    expect(channels[0].snapshot.context.consecutive_failures).toBe(0);
    expect(channels[0].canTake()).toBe(true);
  });

  test('discards what the loser answers all the same', async () => {
    const { run, discarded } = scene();
    const late = Promise.withResolvers<string>();
    expect(await run({ a: () => late.promise, b: async () => 'of b' })).toBe('of b, by b');
    late.resolve('of a');
    await Bun.sleep(0);
    expect(discarded).toEqual(['of a']);
  });

  test('after a failed channel, waits as long as the next one usually takes', async () => {
    const { channels, run, asked } = scene(['a', 'b', 'c']);
    for (let call = 0; call < 200; call += 1) channels[1]?.latency.record(60_000);
    const slowly = async () => {
      // Far longer than the first channel usually takes: its timer must be cleared.
      await Bun.sleep(20 * USUAL_MS);
      return 'of b';
    };
    expect(await run({ a: () => failed(), b: slowly, c: async () => 'of c' })).toBe('of b, by b');
    expect(asked).toEqual(['a', 'b']);
  });

  test('asks nobody else where nobody knows what is usual', async () => {
    const clock = new VirtualClock();
    const fresh = ['a', 'b'].map((id) => channelActor(config(id), clock));
    const asked: string[] = [];
    const { result: answer } = await withHedge(
      fresh,
      { now: () => clock.now(), random: () => 0.5 },
      async (permit) => {
        asked.push(permit.channel.config.id);
        await Bun.sleep(30);
        return 'late';
      },
      () => undefined,
    );
    expect([answer, asked.length]).toEqual(['late', 1]);
  });

  test('the second wins although the first fails, and the first although the second does', async () => {
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

  test('fails once both have', async () => {
    const { run } = scene();
    const fails = async () => {
      await Bun.sleep(3 * USUAL_MS);
      return failed('timeout');
    };
    const error = await run({ a: fails, b: () => failed('timeout') }).catch((each) => each);
    expect(error).toBeInstanceOf(WeirError);
    expect(error.id).toBe('timeout_error');
  });

  test('ends at once with what the client did wrong', async () => {
    const { run, stopped } = scene();
    const wrong = new TerminalUpstreamError('invalid_request', 'messages: no', 'messages', 400);
    const error = await run({ b: () => Promise.reject(wrong) }).catch((each) => each);
    expect(error).toMatchObject({ id: 'invalid_request', details: { param: 'messages' } });
    expect(stopped).toContain('a');
  });
});
