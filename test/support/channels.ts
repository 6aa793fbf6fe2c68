/**
 * Channels for tests, without an upstream.
 */

import { ChannelAccount } from '../../src/actors/channels/account.ts';
import { ChannelActor } from '../../src/actors/channels/channel.ts';
import type { ChannelTransition } from '../../src/actors/channels/transition.ts';
import type { Clock } from '../../src/actors/clock.ts';
import { FAILURES_TO_OPEN } from '../../src/machines/channel.ts';
import { type ChannelConfig, RetryableUpstreamError } from '../../src/upstreams/contract.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';

export function channelConfig(id: string, more: Partial<ChannelConfig> = {}): ChannelConfig {
  return {
    id,
    protocol: 'openai',
    base_url: 'http://127.0.0.1:1',
    api_key: 'k',
    priority: 0,
    weight: 1,
    max_concurrency: 100,
    timeout_ms: 1_000,
    enabled: true,
    models: {},
    ...more,
  };
}

/** A channel with one model. */
export function channelActor(
  config: ChannelConfig,
  clock: Clock,
  onTransition?: (transition: ChannelTransition) => void,
): ChannelActor {
  return new ChannelActor('', new ChannelAccount(config), clock, onTransition);
}

/** A channel `a` whose circuit opened just now. */
export function openedChannel(
  more: Partial<ChannelConfig> = {},
  onTransition?: (transition: ChannelTransition) => void,
): { channel: ChannelActor; clock: VirtualClock } {
  const clock = new VirtualClock();
  const channel = channelActor(channelConfig('a', more), clock, onTransition);
  for (let time = 0; time < FAILURES_TO_OPEN; time += 1) {
    channel.tryAcquire()?.failed(new RetryableUpstreamError('server', 'broken'));
  }
  return { channel, clock };
}
