import type { Sql } from '../../db/client.ts';
import type { Bus } from '../actors/bus/bus.ts';
import type { OnChannelEvent } from '../actors/channels/channel.ts';
import type { Channels } from '../actors/channels/channels.ts';
import type { Clock, IdSource } from '../actors/clock.ts';
import type { InspectionFeed } from '../actors/durable/inspection.ts';
import type { QuotaDeps } from '../actors/money/quota-deps.ts';
import type { Quotas } from '../actors/money/quotas.ts';
import { Inspector } from '../inference/inspection/inspector.ts';
import { LiveFrames } from '../inference/inspection/live-frames.ts';
import { MemoryActors } from '../inference/inspection/memory-actors.ts';
import { OperatorActs, type OperatorActsDeps } from '../inference/inspection/operator-acts.ts';
import { Questions } from '../inference/inspection/questions.ts';

/**
 * Most calls are admitted without an event of the quota machine. At this interval, one event for
 * each key reports their sum.
 */
const SUM_MS = 1_000;

/** Publishes each event of the quota machines while the feed has a watcher. */
export function quotaEvents(feed: InspectionFeed): NonNullable<QuotaDeps['onEvent']> {
  return ({ name: id, organization_id, machine }, event, taken) => {
    if (!feed.isWatched) return;
    const { ring, last } = machine;
    const { value, context, status } = last;
    const cause_id = taken ? ring.events.at(-1)?.cause_id : undefined;
    feed.publish({
      ...{ kind: 'quota', id, organization_id, seq: ring.seq, event },
      ...{ value, context, status, taken, cause_id },
    });
  };
}

/** Publishes each event of the circuits while the feed has a watcher. */
export function channelEvents(feed: InspectionFeed): OnChannelEvent {
  return ({ config, model, ring, snapshot }, event, taken) => {
    if (!feed.isWatched) return;
    const { value, context, status } = snapshot;
    const cause_id = taken ? ring.events.at(-1)?.cause_id : undefined;
    feed.publish({
      ...{ kind: 'channel', id: `${config.id}/${model}`, organization_id: null, seq: ring.seq },
      ...{ event, value, context, status, taken, cause_id },
    });
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

/** The parts of this process that show actors. */
export interface InspectionParts {
  readonly sql: Sql;
  readonly feed: InspectionFeed;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly quotas: Quotas;
  readonly channels: Channels;
  readonly replica_id: () => string;
}

/** Lets this replica show its actors, and answer the questions of other replicas about them. */
export function startInspection({ sql, feed, bus, clock, ids, ...parts }: InspectionParts) {
  const { replica_id } = parts;
  const memory = new MemoryActors(parts);
  const inspector: Inspector = new Inspector({ sql, memory, questions: () => questions });
  const questions: Questions = new Questions({
    ...{ bus, clock, ids, replica_id },
    answer: (question) =>
      question['type'] === 'frames'
        ? frames.answer(question as { since: Record<string, number> } & typeof question)
        : inspector.answer(question),
  });
  const frames = new LiveFrames({ feed, bus, clock, ids, replica_id, questions: () => questions });
  return {
    ...{ inspector, frames },
    /** Ends the streams of watchers, which would keep the server from stopping. */
    stopStreams: () => frames.stop(),
    stop: () => questions.stop(),
  };
}

/** What operators do to single actors, by the parts of this process. */
export function startActs(
  sql: Sql,
  parts: Omit<OperatorActsDeps, 'sql' | 'channels' | 'announceReset'> & {
    readonly operator: { readonly channels: Channels; readonly replica_id: () => string };
    readonly bus: Bus;
  },
): OperatorActs {
  const { operator, bus } = parts;
  return new OperatorActs({
    ...{ sql, send: parts.send, tasks: parts.tasks, batches: parts.batches },
    channels: operator.channels,
    announceReset: (channel, model) =>
      bus.publish('circuit', { replica: operator.replica_id(), channel, model, kind: 'mended' }),
  });
}
