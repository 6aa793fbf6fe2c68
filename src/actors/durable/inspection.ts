import type { AnyEventObject } from 'xstate';

/** Events that are kept for whoever starts to watch later. */
const MAX_KEPT_EVENTS = 1_000;
const MAX_WATCHERS = 100;

/** What happened to an actor, as its owner saw it. */
export interface Observation {
  kind: string;
  id: string;
  /** Number of the event in the actor's log; 0 for actors without one. */
  seq: number;
  event: AnyEventObject;
  /** The state after it. Contexts are left out: the feed is for states, not for data. */
  value: unknown;
  status: string;
  taken: boolean;
}

/** One JSON frame of the Stately inspection protocol, with ours beside it (`_weir`). */
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
 * The inspection feed of this replica: a bounded ring and its watchers. Nearly free while nobody
 * watches: observations are kept as they are and turned into frames only for a reader.
 */
export class InspectionFeed {
  private readonly ring: { observation: Observation; at: number }[] = [];
  private readonly watchers = new Set<(frame: InspectionFrame) => void>();

  constructor(
    private readonly replica_id: () => string,
    private readonly now: () => number,
  ) {}

  publish(observation: Observation): void {
    const kept = { observation, at: this.now() };
    this.ring.push(kept);
    if (this.ring.length > MAX_KEPT_EVENTS) this.ring.shift();
    for (const watcher of this.watchers) {
      for (const frame of this.frames(kept)) watcher(frame);
    }
  }

  /** The last events first, then each new one; the returned function ends it. Throws when too many watch. */
  watch(watcher: (frame: InspectionFrame) => void): () => void {
    if (this.watchers.size >= MAX_WATCHERS) throw new Error('too many watch already');
    for (const kept of this.ring) {
      for (const frame of this.frames(kept)) watcher(frame);
    }
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Only the type of an event is shown: what it carries may be a client's. */
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
