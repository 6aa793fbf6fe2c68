/** Submissions under way on this replica whose clients wait for the answer itself. */
export class RunningSubmissions {
  private readonly byTask = new Map<string, AbortController>();
  /** Tasks that have not ended and whose clients are gone. */
  private readonly left = new Set<string>();

  /** A signal that is aborted with `signal`, or when the client of the task leaves. */
  watch(
    task_id: string,
    signal: AbortSignal,
  ): { signal: AbortSignal; left: () => boolean; end: () => void } {
    const client = new AbortController();
    this.byTask.set(task_id, client);
    return {
      signal: AbortSignal.any([signal, client.signal]),
      left: () => client.signal.aborted,
      end: () => this.byTask.delete(task_id),
    };
  }

  /** The client of a task left, which is committed. */
  abort(task_id: string): void {
    this.left.add(task_id);
    this.byTask.get(task_id)?.abort(new DOMException('the client left', 'AbortError'));
  }

  clientLeft(task_id: string): boolean {
    return this.left.has(task_id);
  }

  /** The task has ended. */
  forget(task_id: string): void {
    this.left.delete(task_id);
  }
}
