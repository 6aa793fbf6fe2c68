import type { AnyEventObject } from 'xstate';

/** How many recent events are kept. A new watcher receives them first. */
const MAX_KEPT_EVENTS = 1_000;
const MAX_WATCHERS = 100;

/** One event of an actor and the state after it. */
export interface Observation {
  kind: string;
  id: string;
  /** The number of the event in the actor's log; 0 if the actor has no log. */
  seq: number;
  event: AnyEventObject;
  /** The state after the event. The context is left out: the feed never shows it. */
  value: unknown;
  status: string;
  taken: boolean;
}

/** One JSON frame of the Stately inspection protocol, with Weir's own fields in `_weir`. */
export interface InspectionFrame {
  type: '@xstate.event' | '@xstate.snapshot';
  sessionId: string;
  rootId: string;
  event: { type: string };
  snapshot?: { value: unknown; status: string };
  createdAt: string;
  _weir: { replica: string; seq: number; taken: boolean };
}

/**
 * The inspection feed of this replica: the latest observations, and the watchers of the feed. An
 * observation becomes a frame only if there is a watcher, so a feed without watchers costs little.
 */
export class InspectionFeed {
  private readonly ring: { observation: Observation; at: number }[] = [];
  private readonly watchers = new Set<(frame: InspectionFrame) => void>();

  constructor(
    private readonly replica_id: () => string,
    private readonly now: () => number,
  ) {}

  /** True if the feed has at least one watcher. */
  get isWatched(): boolean {
    return this.watchers.size > 0;
  }

  publish(observation: Observation): void {
    const kept = { observation, at: this.now() };
    this.ring.push(kept);
    if (this.ring.length > MAX_KEPT_EVENTS) this.ring.shift();
    for (const watcher of this.watchers) {
      for (const frame of this.frames(kept)) watcher(frame);
    }
  }

  /**
   * Calls `watcher` with the recent events, then with each new event. Returns a function that
   * removes the watcher. Throws if there are too many watchers.
   */
  watch(watcher: (frame: InspectionFrame) => void): () => void {
    if (this.watchers.size >= MAX_WATCHERS)
      throw new Error(`the inspection feed already has ${MAX_WATCHERS} watchers`);
    for (const kept of this.ring) {
      for (const frame of this.frames(kept)) watcher(frame);
    }
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Frames show only the type of an event, because its data may belong to a client. */
  private frames(kept: { observation: Observation; at: number }): InspectionFrame[] {
    const { kind, id, seq, event, value, status, taken } = kept.observation;
    const replica = this.replica_id();
    const sessionId = `${replica}/${kind}/${id}`;
    const shared = {
      sessionId,
      rootId: sessionId,
      event: { type: event.type },
      createdAt: String(kept.at),
      _weir: { replica, seq, taken },
    };
    return [
      { ...shared, type: '@xstate.event' },
      { ...shared, type: '@xstate.snapshot', snapshot: { value, status } },
    ];
  }
}
