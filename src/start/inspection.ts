import type { OnChannelEvent } from '../actors/channels/channel.ts';
import type { Clock } from '../actors/clock.ts';
import type { InspectionFeed } from '../actors/durable/inspection.ts';
import type { QuotaDeps } from '../actors/money/quota-deps.ts';
import type { Quotas } from '../actors/money/quotas.ts';

/**
 * Most calls are admitted without an event of the quota machine. At this interval, one event for
 * each key reports their sum.
 */
const SUM_MS = 1_000;

/** Publishes each event of the quota machines. */
export function quotaEvents(feed: InspectionFeed): NonNullable<QuotaDeps['onEvent']> {
  return (id, event, value) =>
    feed.publish({ kind: 'quota', id, seq: 0, event, value, status: 'active', taken: true });
}

/**
 * Publishes the events of the circuits. Each call sends an event to its circuit. So while the feed
 * has no watcher, only changes of state are published.
 */
export function channelEvents(feed: InspectionFeed): OnChannelEvent {
  return ({ channel_id, model }, event, from, to) => {
    if (from === to && !feed.isWatched) return;
    const id = `${channel_id}/${model}`;
    const taken = true;
    feed.publish({ kind: 'channel', id, seq: 0, event, value: to, status: 'active', taken });
  };
}

/**
 * While the feed has a watcher, publishes the sums of admitted calls each second. Returns a
 * function that ends this.
 */
export function publishSums(feed: InspectionFeed, quotas: Quotas, clock: Clock): () => void {
  let stopClock: () => void = () => undefined;
  const schedule = () => {
    stopClock = clock.after(SUM_MS, () => {
      if (feed.isWatched) quotas.sendCalls();
      schedule();
    });
  };
  schedule();
  return () => stopClock();
}
