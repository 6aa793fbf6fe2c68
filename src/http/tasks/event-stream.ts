import type { TaskUpdate, TaskView, TaskWatch } from '../../inference/tasks/port.ts';
import { MAX_STREAM_MS, STREAM_HEARTBEAT_MS } from '../event-stream.ts';
import { taskRecord } from './answer.ts';

const HEARTBEAT = ': keep-alive\n\n';

/** The writer of the response body. */
type StreamClient = Pick<ReadableStreamDirectController, 'write' | 'flush' | 'end'>;

/** What a `TaskEventStream` needs besides the updates of its task. */
export interface TaskEventStreamParts {
  /** The task when the stream began. Its id, model and time of creation never change. */
  readonly view: TaskView;
  /** Turns a file's name into its absolute signed URL. */
  readonly link: (name: string) => string;
  /** Throws if the key may no longer be used. */
  readonly requireKey: () => unknown;
  /**
   * Keeps the connection open for another `STALLED_AFTER_S`. Bun itself does not extend this time
   * when it sends data.
   */
  readonly keepOpen: () => void;
}

/** The body of one event stream. It reads from the watch only as fast as the client reads. */
export class TaskEventStream {
  private readonly ends_at_ms = performance.now() + MAX_STREAM_MS;

  constructor(
    private readonly watch: TaskWatch,
    private readonly parts: TaskEventStreamParts,
  ) {}

  /** Returns the body of the response. */
  body(): ReadableStream<string> {
    return new ReadableStream<string>({
      type: 'direct',
      pull: (client) => this.pump(client),
      cancel: () => this.watch.close(),
    });
  }

  private async pump(client: StreamClient): Promise<void> {
    // If the first event is not ready at once, a comment shows the client that the stream is open.
    let wait_ms = 0;
    try {
      while (performance.now() < this.ends_at_ms) {
        const update = await this.watch.next(wait_ms);
        wait_ms = STREAM_HEARTBEAT_MS;
        if (update.type === 'closed') break;
        // The key may have been revoked since the last event.
        await this.parts.requireKey();
        this.parts.keepOpen();
        const written = client.write(this.textOf(update));
        const sent = client.flush();
        if (update.type === 'ended') break;
        await written;
        await sent;
      }
    } catch {
      // The stream ends without the event of the task's end. If the client resumes, it gets the
      // error.
    }
    this.watch.close();
    client.end();
  }

  private textOf(update: Exclude<TaskUpdate, { type: 'closed' }>): string {
    switch (update.type) {
      case 'quiet':
        return HEARTBEAT;
      case 'progress':
        return eventText(update.seq, 'progress', this.progressOf(update));
      case 'ended': {
        const { view, seq } = update;
        return eventText(seq, view.status, taskRecord(view, this.parts.link));
      }
      default:
        return update satisfies never;
    }
  }

  private progressOf({ status, progress }: Extract<TaskUpdate, { type: 'progress' }>): object {
    const { id, created, model } = this.parts.view;
    return { id, task_id: id, status, progress, created, model };
  }
}

/** JSON text has no line break, so one line `data` is enough. */
function eventText(seq: number, event: string, data: object): string {
  return `id: ${seq}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
