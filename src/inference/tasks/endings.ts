import type { Clock } from '../../actors/clock.ts';

/** How often a waiting call looks for itself: the task may be run by another replica by now. */
const LOOK_MS = 1_000;

/** Calls on this replica that wait for the end of their tasks. */
export class TaskEndings {
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(private readonly clock: Clock) {}

  /** The end of a task was committed here. */
  ended(task_id: string): void {
    for (const wake of this.waiting.get(task_id) ?? []) wake();
  }

  /** Resolves once `isOver` says so; rejects with its error, or with the signal's reason. */
  async wait(task_id: string, isOver: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    const wakers = this.waiting.get(task_id) ?? new Set();
    this.waiting.set(task_id, wakers);
    let isWoken = false;
    let wake: (() => void) | undefined;
    const onEnd = () => {
      isWoken = true;
      wake?.();
    };
    wakers.add(onEnd);
    const leave = () => wake?.();
    signal.addEventListener('abort', leave);
    try {
      for (;;) {
        signal.throwIfAborted();
        isWoken = false;
        if (await isOver()) return;
        if (isWoken || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          const stopClock = this.clock.after(LOOK_MS, resolve);
          wake = () => {
            stopClock();
            resolve();
          };
        });
      }
    } finally {
      signal.removeEventListener('abort', leave);
      wakers.delete(onEnd);
      if (wakers.size === 0) this.waiting.delete(task_id);
    }
  }
}
