import type { Bus } from '../../actors/bus/bus.ts';
import type { Clock, IdSource } from '../../actors/clock.ts';
import type { InspectionFeed, Observation } from '../../actors/durable/inspection.ts';
import { type Frame, type News, OwnFrames } from './frames.ts';
import type { Questions } from './questions.ts';
import type { Viewer } from './viewer.ts';
import {
  type Positions,
  type WatchedNews,
  WatchedStream,
  type WatchFilter,
} from './watched-stream.ts';

/** How often a replica with watchers tells the others so. */
const ASK_EVERY_MS = 3_000;
/** A replica stops publishing when nobody watched for this long. So a client may reconnect. */
const WATCH_LINGER_MS = 10_000;
/** Hex digits of the name of a process. */
const ORIGIN_DIGITS = 12;
/** The most watchers of this replica: operators, organizations, and each organization. */
const MAX_OPERATOR_WATCHERS = 100;
const MAX_ORGANIZATION_WATCHERS = 200;
const MAX_WATCHERS_PER_ORGANIZATION = 10;

export interface LiveFramesDeps {
  readonly feed: InspectionFeed;
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'peerCount'>;
  readonly questions: () => Pick<Questions, 'ask'>;
  readonly clock: Clock;
  readonly replica_id: () => string;
  readonly ids: IdSource;
}

/** What a replica still has of the frames that a watcher missed. */
interface Missed {
  readonly origin: string;
  readonly frames: readonly News[] | null;
}

/**
 * Brings the events of the actors of all replicas to watchers. While nobody watches any replica, no
 * frame is made and nothing is sent. A replica with watchers says so over the bus again and again; the
 * others publish until they no longer hear it.
 */
export class LiveFrames {
  private readonly own: OwnFrames;
  private readonly streams = new Set<WatchedStream>();
  private readonly unsubscribe: readonly (() => void)[];
  private unwatch: (() => void) | undefined;
  /** Until when this replica makes frames, and until when another replica wants them. */
  private watched_until_ms = 0;
  private asked_until_ms = 0;
  private cancelAsk: (() => void) | undefined;
  private cancelCheck: (() => void) | undefined;

  constructor(private readonly deps: LiveFramesDeps) {
    const { bus, clock } = deps;
    const origin = deps.ids.uuid().replaceAll('-', '').slice(-ORIGIN_DIGITS);
    this.own = new OwnFrames(deps.replica_id, origin, () => clock.now());
    const onGap = () => undefined;
    this.unsubscribe = [
      bus.subscribe('inspect_watched', {
        onMessage: ({ replica }) => this.onWatched(replica),
        onGap,
      }),
      bus.subscribe('inspect_news', { onMessage: ({ news }) => this.onNews(news as never), onGap }),
    ];
  }

  /** True while this replica makes frames. */
  get isWatched(): boolean {
    return this.unwatch !== undefined;
  }

  get size(): number {
    return this.streams.size;
  }

  /**
   * Opens a stream of frames. `since` has the last frame of each origin that the client got. When it
   * resolves, all replicas that answer in time publish what happens. Returns undefined if there are
   * too many watchers.
   */
  async open(
    viewer: Viewer,
    filter: WatchFilter,
    since: Positions = new Map(),
  ): Promise<WatchedStream | undefined> {
    if (this.isFull(viewer)) return undefined;
    const stream = new WatchedStream(viewer, filter, (closed) => this.streams.delete(closed));
    this.streams.add(stream);
    this.watch();
    this.ask();
    try {
      stream.begin(since, await this.missedSince(since));
    } catch (error) {
      stream.close();
      throw error;
    }
    return stream;
  }

  /** Answers another replica whose watcher begins or resumes. */
  answer({ since }: { readonly since: Record<string, number> }): Missed {
    this.onAsked();
    return this.missed(since);
  }

  /** Ends all streams. Their clients resume, e.g. on another replica. */
  stop(): void {
    for (const end of this.unsubscribe) end();
    this.cancelAsk?.();
    this.cancelCheck?.();
    this.unwatch?.();
    for (const stream of [...this.streams]) stream.close();
  }

  private isFull({ organization_id }: Viewer): boolean {
    const of = (fits: (id: string | null) => boolean) =>
      [...this.streams].filter(({ viewer }) => fits(viewer.organization_id)).length;
    if (organization_id === null) return of((id) => id === null) >= MAX_OPERATOR_WATCHERS;
    return (
      of((id) => id !== null) >= MAX_ORGANIZATION_WATCHERS ||
      of((id) => id === organization_id) >= MAX_WATCHERS_PER_ORGANIZATION
    );
  }

  private missed(since: Record<string, number>): Missed {
    const { origin } = this.own;
    const seq = since[origin];
    return { origin, frames: seq === undefined ? [] : (this.own.after(seq) ?? null) };
  }

  private async missedSince(since: Positions): Promise<WatchedNews[]> {
    const question = { type: 'frames', since: Object.fromEntries(since) };
    const { answers } = await this.deps.questions().ask<Missed>(question);
    const all = [this.missed(question.since), ...answers];
    const found = new Map(all.map(({ origin, frames }) => [origin, frames]));
    // A process that does not answer may have ended, and its frames with it.
    return [...since.keys()].flatMap(
      (origin): readonly WatchedNews[] => found.get(origin) ?? [{ gap: origin }],
    );
  }

  /** Makes frames from now on, or for longer. */
  private watch(): void {
    this.watched_until_ms = this.deps.clock.now() + WATCH_LINGER_MS;
    this.unwatch ??= this.deps.feed.watch((observation) => this.onObservation(observation));
    this.cancelCheck ??= this.deps.clock.after(WATCH_LINGER_MS, () => this.check());
  }

  /** Makes no more frames if nobody watched for a while. */
  private check(): void {
    const now = this.deps.clock.now();
    this.cancelCheck = undefined;
    if (this.streams.size > 0) this.watched_until_ms = now + WATCH_LINGER_MS;
    const rest_ms = this.watched_until_ms - now;
    if (rest_ms > 0) {
      this.cancelCheck = this.deps.clock.after(rest_ms, () => this.check());
      return;
    }
    this.unwatch?.();
    this.unwatch = undefined;
    this.own.clear();
  }

  private ask(): void {
    const { bus, clock, replica_id } = this.deps;
    this.cancelAsk?.();
    this.cancelAsk = undefined;
    if (this.streams.size === 0) return;
    bus.publish('inspect_watched', { replica: replica_id() });
    this.cancelAsk = clock.after(ASK_EVERY_MS, () => this.ask());
  }

  private onWatched(replica: string): void {
    if (replica !== this.deps.replica_id()) this.onAsked();
  }

  /** Another replica has a watcher. */
  private onAsked(): void {
    this.asked_until_ms = this.deps.clock.now() + WATCH_LINGER_MS;
    this.watch();
  }

  private onObservation(observation: Observation): void {
    const { bus, clock } = this.deps;
    const isAsked = bus.peerCount > 0 && clock.now() < this.asked_until_ms;
    for (const news of this.own.add(observation)) {
      this.deliver(news);
      if (isAsked) bus.publish('inspect_news', { news: { ...news } });
    }
  }

  private onNews(news: Frame): void {
    if (news.replica !== this.deps.replica_id()) this.deliver(news);
  }

  private deliver(news: News): void {
    for (const stream of [...this.streams]) stream.push(news);
  }
}
