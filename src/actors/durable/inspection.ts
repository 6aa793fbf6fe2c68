import type { AnyEventObject } from 'xstate';

/** The most functions that watch this replica. Each stands for all watchers of one kind. */
const MAX_WATCHERS = 100;

/** One event of an actor, and the actor after it. Nothing of it is copied. */
export interface Observation {
  readonly kind: string;
  readonly id: string;
  /** The organization to which the actor belongs; null = none, or not known. */
  readonly organization_id: string | null;
  /** The number of the event in the actor's log, or in the ring of an actor without a log. */
  readonly seq: number;
  readonly event: AnyEventObject;
  readonly value: unknown;
  readonly context: object;
  readonly status: string;
  /** False if no transition took the event. */
  readonly taken: boolean;
  /** UUID of the request, or id of the task, that caused the event; undefined if not known. */
  readonly cause_id?: string | undefined;
}

/**
 * The inspection feed of this replica. While nobody watches, an event costs one comparison: the
 * publisher makes the observation only if `isWatched`.
 */
export class InspectionFeed {
  private readonly watchers = new Set<(observation: Observation) => void>();
  /** True if the feed has at least one watcher. */
  isWatched = false;

  publish(observation: Observation): void {
    for (const watcher of this.watchers) watcher(observation);
  }

  /**
   * Calls `watcher` with each new event; it must not throw. Returns a function that removes the
   * watcher. Throws if there are too many watchers.
   */
  watch(watcher: (observation: Observation) => void): () => void {
    if (this.watchers.size >= MAX_WATCHERS)
      throw new Error(`the inspection feed already has ${MAX_WATCHERS} watchers`);
    this.watchers.add(watcher);
    this.isWatched = true;
    return () => {
      this.watchers.delete(watcher);
      this.isWatched = this.watchers.size > 0;
    };
  }
}
