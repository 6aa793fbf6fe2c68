import type { Sql } from 'postgres';
import { type AsOf, readAsOf } from '../../../db/usage/as-of.ts';
import { readChange } from '../../../db/usage/changes.ts';
import type { Clock } from '../../actors/clock.ts';
import { FeedStream } from './feed-stream.ts';
import { WatchedUsage } from './watched-usage.ts';

/** The most streams of this replica. */
const MAX_STREAMS = 2_000;

/**
 * Reads what happens in an organization, once for all its streams on this replica. All replicas
 * write to the same tables, so every stream sees the calls of all. Nothing is read while nobody
 * watches.
 */
export class UsageFeed {
  private readonly watched = new Map<string, WatchedUsage>();
  private streams = 0;

  constructor(
    private readonly deps: {
      readonly sql: Sql;
      readonly clock: Clock;
      readonly onError: (error: unknown) => void;
    },
  ) {}

  /** Opens a stream of changes after `since`. Returns undefined if there are too many streams. */
  async open(organization_id: string, since: AsOf | undefined): Promise<FeedStream | undefined> {
    if (this.streams >= MAX_STREAMS) return undefined;
    this.streams += 1;
    try {
      const { sql } = this.deps;
      const now = await readAsOf(sql);
      const missed = since && (await readChange(sql, organization_id, since, now));
      const stream = this.add(organization_id, now);
      if (missed) stream.push({ ...missed, as_of: now });
      return stream;
    } catch (error) {
      this.streams -= 1;
      throw error;
    }
  }

  /** Ends all streams. Their clients resume, e.g. on another replica. */
  stop(): void {
    for (const each of this.watched.values()) each.stop();
    this.watched.clear();
  }

  private add(organization_id: string, now: AsOf): FeedStream {
    let watched = this.watched.get(organization_id);
    if (!watched) {
      watched = new WatchedUsage(this.deps, organization_id, now);
      this.watched.set(organization_id, watched);
    }
    const owner = watched;
    const stream = new FeedStream(now, () => {
      if (!owner.streams.delete(stream)) return;
      this.streams -= 1;
      if (owner.streams.size > 0) return;
      owner.stop();
      this.watched.delete(organization_id);
    });
    owner.streams.add(stream);
    return stream;
  }
}
