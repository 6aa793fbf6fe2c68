import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { RoutingPolicy } from '../../catalogue/schema.ts';

/** A channel's place: lower tiers are tried first; within one, chance decides by weight. */
interface OrderKey {
  readonly tiers: readonly [number, number];
  /** 0 = no chance: the order of the configuration. */
  readonly weight: number;
}

/** What a policy knows of all channels of a call. */
interface Candidates {
  /** Of the fastest channel that is known, ms. */
  readonly fastest_ms: number;
}

/** A channel whose time is not known counts as fast as the fastest: it is to be found out. */
const LEAST_MS = 1;

/** A healthier channel gets more, and one that comes back earns its share (design 5, Routing). */
const share = ({ config, health }: ChannelActor) => config.weight * health;

/** How the channels of a model are put in order: a policy is data of the model, not a code path. */
const POLICIES: Record<RoutingPolicy, (channel: ChannelActor, field: Candidates) => OrderKey> = {
  weighted: (channel) => ({ tiers: [channel.config.priority, 0], weight: share(channel) }),
  priority: (channel) => ({ tiers: [channel.config.priority, 0], weight: 0 }),
  /** Twice as slow is a quarter of the calls. */
  latency: (channel, { fastest_ms }) => {
    const ms = Math.max(LEAST_MS, channel.latency.mean_ms ?? fastest_ms);
    const weight = share(channel) * (fastest_ms / ms) ** 2;
    return { tiers: [channel.config.priority, 0], weight };
  },
  /** The cheapest first, whatever its priority. */
  price: (channel) => ({
    tiers: [channel.config.cost_factor ?? 1, channel.config.priority],
    weight: share(channel),
  }),
};

/** Channels in the order in which they are tried. */
export function orderChannels(
  channels: readonly ChannelActor[],
  random: () => number,
  policy: RoutingPolicy = 'weighted',
): ChannelActor[] {
  if (channels.length < 2) return [...channels];
  const known = channels.map(({ latency }) => latency.mean_ms ?? Number.POSITIVE_INFINITY);
  const fastest_ms = Math.max(LEAST_MS, Math.min(...known));
  const field = { fastest_ms: Number.isFinite(fastest_ms) ? fastest_ms : LEAST_MS };
  return channels
    .map((channel) => {
      const { tiers, weight } = POLICIES[policy](channel, field);
      // Efraimidis–Spirakis: u^(1/w) gives a weighted random order in one pass.
      const draw = weight === 0 ? 0 : random() ** (1 / Math.max(weight, 1e-6));
      return { channel, tiers, draw };
    })
    .sort((a, b) => a.tiers[0] - b.tiers[0] || a.tiers[1] - b.tiers[1] || b.draw - a.draw)
    .map(({ channel }) => channel);
}
