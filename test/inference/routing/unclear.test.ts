/** Refusals that do not prove whose fault they are, and providers without capacity (P9, P19). */
import { describe, expect, test } from 'bun:test';
import type { ChannelActor } from '../../../src/actors/channels/channel.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { withFailover } from '../../../src/inference/routing/route.ts';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';
import { classifyFailure } from '../../../src/upstreams/transport/failures.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig as config } from '../../support/channels.ts';
import { callOf } from '../../upstreams/upstream.ts';

const upstreamCall = callOf('https://api.upstream.example/v1', { model: 'gpt-test', messages: [] });

/** The error of an upstream that answers like this. */
const answered = (status: number, body: object) =>
  classifyFailure(upstreamCall, status, new Headers(), JSON.stringify(body));

function scene(...ids: string[]) {
  const clock = new VirtualClock();
  const channels = ids.map((id, priority) => channelActor(config(id, { priority }), clock));
  const signal = { aborted: false, reason: undefined };
  const options = { now: () => clock.now(), random: () => 0.5, signal };
  const call = (answers: Record<string, unknown>) =>
    withFailover(channels, options, ({ channel }) => {
      const answer = answers[channel.config.id];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    }).catch((error: unknown) => error);
  return { channels, call };
}

const UNCLEAR = answered(400, { error: { message: 'Mistral AI cannot do this.' } });
// Gemini API docs: Troubleshooting guide; cequence-io/openai-scala-client#109
const WRONG_KEY = answered(400, {
  error: {
    ...{ code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' },
    details: [{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' }],
  },
});
// Anthropic docs: Errors
const OVERLOADED = answered(529, {
  type: 'error',
  error: { type: 'overloaded_error', message: 'Overloaded' },
});

const stateOf = (channel: ChannelActor | undefined) => channel?.state;

describe('P19: a refusal without proof', () => {
  test('leads to the next channel', async () => {
    const { call } = scene('a', 'b');
    expect(await call({ a: UNCLEAR, b: 'served' })).toMatchObject({ result: 'served' });
  });

  test('never opens the circuit of a channel, however often one client sends it', async () => {
    const { channels, call } = scene('a');
    for (let time = 0; time < 100; time += 1) await call({ a: UNCLEAR });
    expect(stateOf(channels[0])).toBe('healthy');
    expect(channels[0]?.lastFailure).toMatchObject({ failure: 'unclear', fault: 'unclear' });
  });

  test('of every channel gives 502 with the scrubbed sentence, and no retry', async () => {
    const { call } = scene('a', 'b');
    const error = (await call({ a: UNCLEAR, b: UNCLEAR })) as WeirError;
    expect(error).toBeInstanceOf(WeirError);
    expect(error).toMatchObject({ id: 'upstream_error', retryable: false });
    expect(error.entry.status).toBe(502);
    expect(error.message).toBe(
      'The model provider refused the request: the provider cannot do this.',
    );
  });

  test('of every channel about the size is 413', async () => {
    const { call } = scene('a');
    const tooLarge = classifyFailure(upstreamCall, 413, new Headers(), '<html>too large</html>');
    expect(await call({ a: tooLarge })).toMatchObject({ id: 'payload_too_large' });
  });

  test('leaves a circuit that is tested in the state to be tested again', () => {
    const clock = new VirtualClock();
    const channel = channelActor(config('a'), clock);
    for (let time = 0; time < 5; time += 1) {
      channel.tryAcquire()?.failed(new RetryableUpstreamError('server', 'x'));
    }
    clock.advance(60_000);
    if (UNCLEAR instanceof RetryableUpstreamError) channel.tryAcquire()?.failed(UNCLEAR);
    expect(channel.state).toBe('open');
    expect(channel.canAcquire()).toBe(true);
  });
});

test('a wrong key in a 400 leads to the next channel and disables only the own one', async () => {
  const { channels, call } = scene('a', 'b');
  expect(await call({ a: WRONG_KEY, b: 'served' })).toMatchObject({ result: 'served' });
  expect(channels.map(stateOf)).toEqual(['disabled', 'healthy']);
});

test('529 of every channel is overloaded_error for clients of /v1/messages', async () => {
  const { call } = scene('a', 'b');
  const error = (await call({ a: OVERLOADED, b: OVERLOADED })) as WeirError;
  expect(error.entry).toMatchObject({ status: 503, nativeType: 'overloaded_error' });
  expect(error.retryable).toBe(true);
});
