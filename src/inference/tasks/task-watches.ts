import type { Sql } from 'postgres';
import { readHistory } from '../../../db/actors/history.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { WatchTask } from './ending.ts';
import { TASK_KIND } from './kind.ts';
import type { TaskView, TaskWatch, WatchRequest } from './port.ts';
import type { TaskLogEvent } from './public-state.ts';
import { OpenWatch } from './task-watch.ts';

/** The most watches of one API key on one replica. */
export const MAX_WATCHES_PER_KEY = 100;
/** The most watches on one replica. A watch needs about 10 KB. */
const MAX_WATCHES = 10_000;
const RETRY_AFTER_S = 5;

/** Dependencies of `TaskWatches`. */
export interface TaskWatchesDeps {
  readonly sql: Sql;
  readonly watch: WatchTask;
  /** Reads a task of an organization; undefined if there is none. */
  readonly find: (id: string, organization_id: string) => Promise<TaskView | undefined>;
  /** Receives errors that end a watch. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** The open watches of this replica, and their limits. */
export class TaskWatches {
  private readonly open = new Set<OpenWatch>();
  private readonly countsByKey = new Map<string, number>();
  private isStopped = false;

  constructor(
    private readonly deps: TaskWatchesDeps,
    private readonly max = MAX_WATCHES,
  ) {}

  /** The number of open watches. */
  get size(): number {
    return this.open.size;
  }

  /** Opens a watch. See `TaskPort.watch`. */
  async watch(request: WatchRequest): Promise<TaskWatch> {
    const { id, key, known_seq, signal } = request;
    this.requireRoom(key.id);
    const { sql } = this.deps;
    let stopActor: () => void = () => undefined;
    const onAbort = () => watch.close();
    const watch: OpenWatch = new OpenWatch({
      readLog: async (after_seq, limit) => {
        const page = await readHistory(sql, TASK_KIND, id, after_seq, limit);
        return page as unknown as TaskLogEvent[];
      },
      readView: () => this.deps.find(id, key.organization_id),
      onClosed: () => {
        stopActor();
        signal.removeEventListener('abort', onAbort);
        this.remove(watch, key.id);
      },
      onError: this.deps.onError,
    });
    this.add(watch, key.id);
    try {
      signal.throwIfAborted();
      signal.addEventListener('abort', onAbort);
      const actor = await this.deps.watch(id, watch.onChange);
      if (!actor) throw taskNotFound();
      stopActor = actor.stop;
      // During the wait, the client may have left or the replica may have begun to stop. In both
      // cases the watch is closed.
      if (!this.open.has(watch)) actor.stop();
      if (known_seq === undefined) watch.beginAt(actor.snapshot, actor.seq);
      else if (!(await watch.beginAfter(known_seq))) throw unknownEvent();
      return watch;
    } catch (error) {
      watch.close();
      throw error;
    }
  }

  /** Ends all watches, and refuses new ones. Their clients resume on another replica. */
  stop(): void {
    this.isStopped = true;
    for (const watch of this.open) watch.close();
  }

  private requireRoom(key_id: string): void {
    const details = { retry_after: RETRY_AFTER_S };
    if (this.isStopped || this.open.size >= this.max) {
      throw new WeirError(
        'service_unavailable',
        'This replica cannot open another event stream.',
        details,
      );
    }
    if ((this.countsByKey.get(key_id) ?? 0) < MAX_WATCHES_PER_KEY) return;
    throw new WeirError(
      'rate_limit_exceeded',
      `This API key already has ${MAX_WATCHES_PER_KEY} open event streams.`,
      { ...details, hint: 'Close a stream, or poll the task instead.' },
    );
  }

  private add(watch: OpenWatch, key_id: string): void {
    this.open.add(watch);
    this.countsByKey.set(key_id, (this.countsByKey.get(key_id) ?? 0) + 1);
  }

  private remove(watch: OpenWatch, key_id: string): void {
    this.open.delete(watch);
    const left = (this.countsByKey.get(key_id) ?? 1) - 1;
    if (left > 0) this.countsByKey.set(key_id, left);
    else this.countsByKey.delete(key_id);
  }
}

/** Returns the error for a task that does not exist or belongs to another organization (P6). */
export function taskNotFound(): WeirError {
  return new WeirError('async_task_not_found', 'Task not found or no longer available', {
    param: 'id',
  });
}

function unknownEvent(): WeirError {
  return new WeirError('invalid_request', 'Last-Event-ID does not name an event of this task.', {
    param: 'Last-Event-ID',
    hint: 'Send the id of the last event of this stream, or leave the header out.',
  });
}
