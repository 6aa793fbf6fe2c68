import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { RoutingPolicy } from '../../catalogue/schema.ts';

/**
 * Sort key of a channel. Channels with lower `tiers` are tried first: the first number decides,
 * then the second. Among channels with equal tiers the order is random, in proportion to `weight`.
 */
interface OrderKey {
  readonly tiers: readonly [number, number];
  /** If 0, channels with equal tiers are tried in the order of the configuration. */
  readonly weight: number;
}

/** The facts about all channels of a call that a policy needs. */
interface ChannelFacts {
  /**
   * Mean time of a call on the fastest channel, ms. Channels whose time is not known do not count.
   */
  readonly fastest_ms: number;
}

/** Lower limit of a mean time, ms. A mean time of 0 would give an infinite weight. */
const MIN_MEAN_MS = 1;

/**
 * A healthier channel gets more calls. As a channel recovers, its share grows step by step.
 */
const effectiveWeight = ({ config, health }: ChannelActor) => config.weight * health;

type SortKeyOf = (channel: ChannelActor, facts: ChannelFacts) => OrderKey;

/** The sort key of a channel by each routing policy. Each model declares its policy. */
const POLICIES: Record<RoutingPolicy, SortKeyOf> = {
  weighted: (channel) => ({
    tiers: [channel.config.priority, 0],
    weight: effectiveWeight(channel),
  }),
  priority: (channel) => ({ tiers: [channel.config.priority, 0], weight: 0 }),
  /**
   * A channel that is twice as slow as another gets a quarter of the calls that the other gets. A
   * channel without a known time counts as the fastest, so that its time becomes known.
   */
  latency: (channel, { fastest_ms }) => {
    const ms = Math.max(MIN_MEAN_MS, channel.latency.mean_ms ?? fastest_ms);
    const weight = effectiveWeight(channel) * (fastest_ms / ms) ** 2;
    return { tiers: [channel.config.priority, 0], weight };
  },
  /** The cheapest channel comes first, whatever its priority. */
  price: (channel) => ({
    tiers: [channel.config.cost_factor ?? 1, channel.config.priority],
    weight: effectiveWeight(channel),
  }),
};

/** Returns the function that gives the sort key of each of the channels of a call. */
export function orderKeyOf(
  channels: readonly ChannelActor[],
  policy: RoutingPolicy = 'weighted',
): (channel: ChannelActor) => OrderKey {
  const known = channels.map(({ latency }) => latency.mean_ms ?? Number.POSITIVE_INFINITY);
  const fastest_ms = Math.max(MIN_MEAN_MS, Math.min(...known));
  const facts = { fastest_ms: Number.isFinite(fastest_ms) ? fastest_ms : MIN_MEAN_MS };
  return (channel) => POLICIES[policy](channel, facts);
}

/** Returns the channels in the order in which they are tried. `random` returns 0 ≤ x < 1. */
export function orderChannels(
  channels: readonly ChannelActor[],
  random: () => number,
  policy: RoutingPolicy = 'weighted',
): ChannelActor[] {
  if (channels.length < 2) return [...channels];
  const keyOf = orderKeyOf(channels, policy);
  return channels
    .map((channel) => {
      const { tiers, weight } = keyOf(channel);
      // Efraimidis–Spirakis: u^(1/w) gives a weighted random order in one pass.
      const draw = weight === 0 ? 0 : random() ** (1 / Math.max(weight, 1e-6));
      return { channel, tiers, draw };
    })
    .sort((a, b) => a.tiers[0] - b.tiers[0] || a.tiers[1] - b.tiers[1] || b.draw - a.draw)
    .map(({ channel }) => channel);
}
