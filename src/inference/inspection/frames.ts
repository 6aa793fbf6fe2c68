import type { Observation } from '../../actors/durable/inspection.ts';
import { OPERATOR } from './viewer.ts';

/** One event of an actor on its way to watchers of any replica. Only members on the list are in it. */
export interface Frame {
  readonly replica: string;
  /** A short name of the replica's process, for `Last-Event-ID`. */
  readonly origin: string;
  /** The number of the frame in its process, from 1. */
  readonly seq: number;
  readonly at_ms: number;
  readonly kind: string;
  readonly id: string;
  readonly organization_id: string | null;
  /** The number of the event in the actor's log or ring. */
  readonly actor_seq: number;
  readonly event: Record<string, unknown>;
  readonly value: unknown;
  readonly context: Record<string, unknown>;
  readonly status: string;
  readonly taken: boolean;
  readonly cause_id?: string | undefined;
}

/** How many frames of a replica were left out, because they came too fast. */
interface Skipped {
  readonly replica: string;
  readonly origin: string;
  readonly seq: number;
  readonly skipped: number;
}

/** What one replica sends to watchers. */
export type News = Frame | Skipped;

/** The most frames that a replica keeps, for watchers that resume. */
const MAX_KEPT = 1_000;
/** The most frames that a replica publishes in a second. A circuit may get an event with each call. */
const MAX_FRAMES_PER_SECOND = 500;
const SECOND_MS = 1_000;

/**
 * Numbers the frames of this replica, and keeps the last ones. While nobody watches there are none.
 */
export class OwnFrames {
  private readonly kept: News[] = [];
  private last = 0;
  private second_ms = 0;
  private inSecond = 0;
  private skipped = 0;

  constructor(
    private readonly replica_id: () => string,
    /** A random name of this process. */
    readonly origin: string,
    private readonly now: () => number,
  ) {}

  /** The number of the last frame. */
  get seq(): number {
    return this.last;
  }

  /** Returns the news that an observation makes: none if frames come too fast. */
  add(observation: Observation): News[] {
    const now = this.now();
    const news: News[] = [];
    if (now - this.second_ms >= SECOND_MS) {
      if (this.skipped > 0) news.push(this.keep({ skipped: this.skipped }));
      this.second_ms = now;
      this.inSecond = 0;
      this.skipped = 0;
    }
    if (this.inSecond >= MAX_FRAMES_PER_SECOND) {
      this.skipped += 1;
      return news;
    }
    this.inSecond += 1;
    news.push(this.keep(frameOf(observation, now)));
    return news;
  }

  /**
   * Returns the frames after number `seq`; undefined if some of them are no longer kept, or if they
   * never were, because nobody watched.
   */
  after(seq: number): News[] | undefined {
    const first = this.kept[0]?.seq ?? this.last + 1;
    if (seq < first - 1 || seq > this.last) return undefined;
    return this.kept.filter((news) => news.seq > seq);
  }

  /** Forgets all frames, because nobody watches. Who resumes later learns that frames are missing. */
  clear(): void {
    if (this.kept.length === 0) return;
    this.kept.length = 0;
    this.last += 1;
    this.skipped = 0;
  }

  private keep(news: Omit<Frame, 'replica' | 'origin' | 'seq'> | { skipped: number }): News {
    this.last += 1;
    const { origin } = this;
    const kept: News = { replica: this.replica_id(), origin, seq: this.last, ...news };
    this.kept.push(kept);
    if (this.kept.length > MAX_KEPT) this.kept.shift();
    return kept;
  }
}

function frameOf(
  { kind, id, organization_id, seq, event, value, context, ...rest }: Observation,
  at_ms: number,
): Omit<Frame, 'replica' | 'origin' | 'seq'> {
  return {
    ...{ at_ms, kind, id, organization_id, actor_seq: seq, value },
    event: OPERATOR.members(kind, id, event),
    context: OPERATOR.members(kind, id, context),
    ...{ status: rest.status, taken: rest.taken, cause_id: rest.cause_id },
  };
}
