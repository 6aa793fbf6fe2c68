import { type AsOf, readAsOf, writeAsOf } from '../../../db/usage/as-of.ts';
import { readChange } from '../../../db/usage/changes.ts';
import { type FedChange, FeedStream } from './feed-stream.ts';
import { SharedReads } from './shared-reads.ts';
import { type WatchedDeps, WatchedUsage } from './watched-usage.ts';

/** The most streams of this replica. */
const MAX_STREAMS = 2_000;

/**
 * Reads what happens in an organization, once for all its streams on this replica. All replicas
 * write to the same tables, so every stream sees the calls of all. Nothing is read while nobody
 * watches.
 */
export class UsageFeed {
  private readonly watched = new Map<string, WatchedUsage>();
  // Many streams open at once, e.g. when a replica was replaced. Those that begin at the same state share the reads.
  private readonly states = new SharedReads<AsOf>();
  private readonly missed = new SharedReads<FedChange>();
  private streams = 0;

  constructor(private readonly deps: WatchedDeps) {}

  /** Opens a stream of changes after `since`. Returns undefined if there are too many streams. */
  async open(organization_id: string, since: AsOf | undefined): Promise<FeedStream | undefined> {
    if (this.streams >= MAX_STREAMS) return undefined;
    this.streams += 1;
    try {
      const now = await this.states.run('now', () => readAsOf(this.deps.sql));
      const missed = since && (await this.readMissed(organization_id, since, now));
      const stream = this.add(organization_id, now);
      if (missed) stream.push(missed);
      return stream;
    } catch (error) {
      this.streams -= 1;
      throw error;
    }
  }

  private readMissed(organization_id: string, since: AsOf, now: AsOf): Promise<FedChange> {
    const name = `${organization_id} ${writeAsOf(since)} ${writeAsOf(now)}`;
    return this.missed.run(name, async () => {
      const change = await readChange(this.deps.sql, organization_id, since, now);
      return { ...change, as_of: now };
    });
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
