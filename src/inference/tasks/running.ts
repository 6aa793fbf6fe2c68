/**
 * Submissions on this replica whose upstream answers with the result itself. They are aborted if
 * the client leaves.
 */
export class RunningSubmissions {
  private readonly byTask = new Map<string, AbortController>();
  /** Tasks that have not ended, but whose clients left. */
  private readonly abandoned = new Set<string>();

  /**
   * Registers a submission. Its signal is aborted with `signal`, or when the client of the task
   * leaves. `end` removes it.
   */
  watch(
    task_id: string,
    signal: AbortSignal,
  ): { signal: AbortSignal; hasClientLeft: () => boolean; end: () => void } {
    const client = new AbortController();
    this.byTask.set(task_id, client);
    return {
      signal: AbortSignal.any([signal, client.signal]),
      hasClientLeft: () => client.signal.aborted,
      end: () => this.byTask.delete(task_id),
    };
  }

  /** Aborts the submission of a task. Called when the task's CANCEL is committed. */
  abort(task_id: string): void {
    this.abandoned.add(task_id);
    this.byTask.get(task_id)?.abort(new DOMException('the client abandoned', 'AbortError'));
  }

  /** True if the client of a task that has not ended left. */
  hasClientLeft(task_id: string): boolean {
    return this.abandoned.has(task_id);
  }

  /** Removes the mark of a task that has ended. */
  onEnded(task_id: string): void {
    this.abandoned.delete(task_id);
  }
}
