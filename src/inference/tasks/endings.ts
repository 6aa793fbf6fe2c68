import type { Clock } from '../../actors/clock.ts';
import type { ListenableSignal } from '../../actors/money/admission-queue.ts';

/**
 * A waiting call reads its task at this interval, ms, because the task may end on another replica.
 */
const POLL_MS = 1_000;

/** Wakes calls on this replica that wait for the end of their tasks. */
export class TaskEndings {
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(private readonly clock: Clock) {}

  /**
   * Wakes the calls that wait for a task. Called when this replica has committed the end of the
   * task.
   */
  onEnded(task_id: string): void {
    for (const wake of this.waiting.get(task_id) ?? []) wake();
  }

  /**
   * Resolves once `isOver` returns true. Rejects with the error of `isOver`, or with the signal's
   * reason.
   */
  async wait(
    task_id: string,
    isOver: () => Promise<boolean>,
    signal: ListenableSignal,
  ): Promise<void> {
    const wakers = this.waiting.get(task_id) ?? new Set();
    this.waiting.set(task_id, wakers);
    let isWoken = false;
    let wake: (() => void) | undefined;
    const onEnd = () => {
      isWoken = true;
      wake?.();
    };
    wakers.add(onEnd);
    const onAbort = () => wake?.();
    signal.addEventListener('abort', onAbort);
    try {
      for (;;) {
        if (signal.aborted) throw signal.reason;
        isWoken = false;
        if (await isOver()) return;
        if (isWoken || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          const stopClock = this.clock.after(POLL_MS, resolve);
          wake = () => {
            stopClock();
            resolve();
          };
        });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      wakers.delete(onEnd);
      if (wakers.size === 0) this.waiting.delete(task_id);
    }
  }
}
