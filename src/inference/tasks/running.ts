import type { PartialImage } from '../../upstreams/generation/contract.ts';

/**
 * Running submissions on this replica whose response is the result itself, not a job to poll. If the
 * client leaves, the submission is aborted.
 */
export class RunningSubmissions {
  private readonly byTask = new Map<string, AbortController>();
  /** Tasks that were canceled because the client left or its deadline passed. */
  private readonly abandoned = new Set<string>();

  /** Who receives the previews of a task's image. */
  private readonly listeners = new Map<string, (partial: PartialImage) => void>();

  /** Sends the previews of a task's image to `listener`, until `unlisten`. */
  listen(task_id: string, listener: (partial: PartialImage) => void): void {
    this.listeners.set(task_id, listener);
  }

  unlisten(task_id: string): void {
    this.listeners.delete(task_id);
  }

  /** Returns who receives the previews of a task's image; undefined if nobody does. */
  listenerOf(task_id: string): ((partial: PartialImage) => void) | undefined {
    return this.listeners.get(task_id);
  }

  /**
   * Registers a submission. Its signal is aborted when `signal` is aborted, or when the client of
   * the task leaves, also if it left before. `end` removes the submission.
   */
  watch(
    task_id: string,
    signal: AbortSignal,
  ): { signal: AbortSignal; hasClientLeft: () => boolean; end: () => void } {
    const client = new AbortController();
    this.byTask.set(task_id, client);
    if (this.abandoned.has(task_id)) client.abort(clientLeft());
    return {
      signal: AbortSignal.any([signal, client.signal]),
      hasClientLeft: () => client.signal.aborted,
      end: () => this.byTask.delete(task_id),
    };
  }

  /** Aborts the submission of a task. Called when the task's event CANCEL is committed. */
  abort(task_id: string): void {
    this.abandoned.add(task_id);
    this.byTask.get(task_id)?.abort(clientLeft());
  }

  /** True if the task has not ended, but its client left. */
  hasClientLeft(task_id: string): boolean {
    return this.abandoned.has(task_id);
  }

  /** Removes the mark that the client of a task left. Called when the task has ended. */
  onEnded(task_id: string): void {
    this.abandoned.delete(task_id);
  }
}

function clientLeft(): DOMException {
  return new DOMException('the client left', 'AbortError');
}
