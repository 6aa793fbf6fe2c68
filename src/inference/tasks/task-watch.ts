import type { ActorChange } from '../../actors/durable/live-actor.ts';
import { RESTORED } from '../../actors/durable/registry.ts';
import type { TaskContext } from '../../machines/task-events.ts';
import type { TaskUpdate, TaskView, TaskWatch } from './port.ts';
import {
  FIRST_PUBLIC_STATE,
  isPublicChange,
  isTerminal,
  nextPublicState,
  type PublicState,
  publicStatusOf,
  type TaskLogEvent,
} from './public-state.ts';

/** The most events that one query reads from a task's log. */
export const MAX_LOG_EVENTS_PER_QUERY = 200;
/**
 * The most changes that wait for a slow client. If there are more, only the latest one is kept,
 * because each change contains the whole public state.
 */
export const MAX_WAITING_CHANGES = 64;

/** What one watch of a task needs. */
export interface OpenWatchDeps {
  /** Returns at most `limit` events of the task's log after `after_seq`, in order. */
  readonly readLog: (after_seq: number, limit: number) => Promise<readonly TaskLogEvent[]>;
  /** Reads the task's row; undefined if it does not exist any more. */
  readonly readView: () => Promise<TaskView | undefined>;
  /** Called once when the watch is closed. */
  readonly onClosed: () => void;
  /** Receives errors that end the watch. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * One client that watches one task. The task's live actor (its copy in this replica's memory)
 * reports new events. Events that the live actor skipped, and events before the watch, are read
 * from the task's log. One pure function applies all events, so every client sees the same changes.
 */
export class OpenWatch implements TaskWatch {
  private state: PublicState = FIRST_PUBLIC_STATE;
  private readonly waiting: PublicState[] = [];
  /** The highest number of an event that the live actor reported. */
  private reported_seq = 0;
  /** True if the log may have events that are not applied to `state`. So it is true at first. */
  private isBehind = true;
  /** Changes up to this event are not sent, because the client knows them. */
  private known_seq = 0;
  private isClosed = false;
  private wake: () => void = () => undefined;

  constructor(private readonly deps: OpenWatchDeps) {}

  get isOver(): boolean {
    return isTerminal(this.state) && this.waiting.length === 0 && !this.isBehind;
  }

  /** Begins with the present state, which the client gets first. */
  beginAt(snapshot: ActorChange['snapshot'], seq: number): void {
    const { progress } = snapshot.context as TaskContext;
    this.state = { seq, status: publicStatusOf(snapshot.value), progress };
    this.waiting.push(this.state);
    this.isBehind = this.reported_seq > seq;
  }

  /**
   * Begins to watch the task after the event `known_seq`, which the client has. First reads the log
   * up to that event. Returns false if the log has no such event. Rejects if the log cannot be read.
   */
  async beginAfter(known_seq: number): Promise<boolean> {
    this.known_seq = known_seq;
    while (this.isBehind && this.state.seq < known_seq) await this.readPage();
    // If the page ended exactly at the known event, another page may follow.
    while (this.isBehind && this.waiting.length === 0) await this.readPage();
    return this.state.seq >= known_seq;
  }

  /** Receives the changes of the live actor. */
  readonly onChange = ({ seq, event, snapshot, taken }: ActorChange): void => {
    if (this.isClosed) return;
    this.reported_seq = Math.max(this.reported_seq, seq);
    if (seq <= this.state.seq) return;
    if (this.isBehind || seq !== this.state.seq + 1 || event.type === RESTORED) {
      // The event is committed, so it will be read from the log.
      this.isBehind = true;
    } else {
      this.apply({ seq, event, to_state: publicStatusOf(snapshot.value), taken });
    }
    this.wake();
  };

  async next(wait_ms: number): Promise<TaskUpdate> {
    try {
      const change = await this.nextChange(wait_ms);
      if (this.isClosed) return { type: 'closed' };
      if (!change) return { type: 'quiet' };
      const { seq, status, progress } = change;
      if (status === 'pending' || status === 'processing') {
        return { type: 'progress', seq, status, progress };
      }
      const view = await this.deps.readView();
      if (view && isTerminal(view)) return { type: 'ended', seq, view };
    } catch (error) {
      this.deps.onError(error);
    }
    this.close();
    return { type: 'closed' };
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting.length = 0;
    this.wake();
    this.deps.onClosed();
  }

  private async nextChange(wait_ms: number): Promise<PublicState | undefined> {
    while (this.isBehind && this.waiting.length === 0 && !this.isClosed) await this.readPage();
    if (this.waiting.length === 0 && !this.isClosed) {
      await this.sleep(wait_ms);
      while (this.isBehind && this.waiting.length === 0 && !this.isClosed) await this.readPage();
    }
    return this.waiting.shift();
  }

  /** Resolves after `wait_ms`, or earlier if something changed. */
  private sleep(wait_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait_ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async readPage(): Promise<void> {
    const { reported_seq } = this;
    const page = await this.deps.readLog(this.state.seq, MAX_LOG_EVENTS_PER_QUERY);
    for (const logged of page) this.apply(logged);
    const isFull = page.length === MAX_LOG_EVENTS_PER_QUERY;
    if (!isFull && this.state.seq < reported_seq) {
      throw new Error(`the log ends at event ${this.state.seq}, before event ${reported_seq}`);
    }
    // The live actor may have reported further events while the page was read.
    this.isBehind = isFull || this.state.seq < this.reported_seq;
  }

  private apply(logged: TaskLogEvent): void {
    const before = this.state;
    this.state = nextPublicState(before, logged);
    if (!isPublicChange(before, this.state) || logged.seq <= this.known_seq) return;
    if (this.waiting.length >= MAX_WAITING_CHANGES) this.waiting.length = 0;
    this.waiting.push(this.state);
  }
}
