import type { Frame, News } from './frames.ts';
import type { Viewer } from './viewer.ts';

/** A watcher that is this many frames behind is closed; its client resumes. */
const MAX_FRAMES_BEHIND = 2_000;
/**
 * Frames that follow others so soon are sent together, ms. Nobody sees the difference, and under load each
 * frame for itself would cost every watcher hundreds of writes a second.
 */
const GATHER_MS = 100;

/** Which frames a watcher wants. A missing member means all. */
export interface WatchFilter {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  readonly organization_id?: string | undefined;
}

/** Frames of an origin are missing: they were lost, are no longer kept, or nobody watched. */
interface Gap {
  readonly gap: string;
}

/** What a watcher gets. */
export type WatchedNews = News | Gap;

/** The numbers of the last frame of each origin that a watcher got. */
export type Positions = ReadonlyMap<string, number>;

/**
 * The frames that wait for one watcher. A watcher that does not read is closed, and nobody waits for
 * it.
 */
export class WatchedStream {
  private readonly waiting: WatchedNews[] = [];
  /** Frames that come while the stream gets the ones that it missed. */
  private early: News[] | undefined = [];
  private readonly last = new Map<string, number>();
  private wake: () => void = () => undefined;
  private hasEnded = false;
  private taken_at_ms = Number.NEGATIVE_INFINITY;

  constructor(
    readonly viewer: Viewer,
    private readonly filter: WatchFilter,
    private readonly onClosed: (stream: WatchedStream) => void,
  ) {}

  push(news: News): void {
    if (this.early) {
      this.early.push(news);
      if (this.early.length > MAX_FRAMES_BEHIND) this.close();
      return;
    }
    const known = this.last.get(news.origin);
    if (known !== undefined && news.seq <= known) return;
    // Messages of the bus may be lost.
    if (known !== undefined && news.seq > known + 1) this.add({ gap: news.origin });
    this.last.set(news.origin, news.seq);
    if (!this.wants(news)) return;
    this.add(news);
  }

  /** Begins the stream with the frames that its watcher missed. */
  begin(positions: Positions, missed: readonly WatchedNews[]): void {
    for (const [origin, seq] of positions) this.last.set(origin, seq);
    const early = this.early ?? [];
    this.early = undefined;
    for (const news of missed) {
      if ('gap' in news) {
        // The next frame of this origin follows frames that are gone.
        this.last.delete(news.gap);
        this.add(news);
      } else this.push(news);
    }
    for (const news of early) this.push(news);
  }

  /**
   * Returns all waiting news, and the positions after which a watcher that got them resumes. There are
   * none if none came within `wait_ms`. Returns null if the stream ended.
   */
  async next(wait_ms: number): Promise<{ news: WatchedNews[]; positions: Positions } | null> {
    if (this.waiting.length === 0 && !this.hasEnded) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.wake = resolve;
      const timer = setTimeout(resolve, wait_ms);
      await promise;
      clearTimeout(timer);
    }
    const rest_ms = this.taken_at_ms + GATHER_MS - performance.now();
    if (rest_ms > 0 && this.waiting.length > 0 && !this.hasEnded) await Bun.sleep(rest_ms);
    const news = this.waiting.splice(0);
    if (news.length === 0 && this.hasEnded) return null;
    this.taken_at_ms = performance.now();
    return { news, positions: new Map(this.last) };
  }

  close(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.onClosed(this);
    this.wake();
  }

  private add(news: WatchedNews): void {
    if (this.hasEnded) return;
    if (this.waiting.length >= MAX_FRAMES_BEHIND) {
      this.waiting.length = 0;
      this.close();
      return;
    }
    this.waiting.push(news);
    this.wake();
  }

  private wants(news: News): boolean {
    const { viewer, filter } = this;
    // How many frames were left out says nothing of an organization's own actors.
    if (!isFrame(news)) return viewer.organization_id === null;
    const { kind, id, organization_id } = news;
    if (viewer.organization_id !== null && organization_id !== viewer.organization_id) return false;
    return (
      viewer.kinds.includes(kind) &&
      (filter.kind === undefined || kind === filter.kind) &&
      (filter.id === undefined || id === filter.id) &&
      (filter.organization_id === undefined || organization_id === filter.organization_id)
    );
  }
}

/** True for the frame of an event. */
export function isFrame(news: WatchedNews): news is Frame {
  return 'event' in news;
}
