import type { Watcher } from '../../actors/durable/live-actor.ts';
import type { Watch } from '../../actors/durable/registry.ts';
import type { ListenableSignal } from '../../actors/money/admission-queue.ts';

/**
 * Watches the live actor of a task, which is the copy of its actor in the memory of this replica.
 * Resolves with undefined if there is no such task.
 */
export type WatchTask = (task_id: string, watcher: Watcher) => Promise<Watch | undefined>;

/**
 * Resolves when the live actor reports that the task has ended. Rejects if the actor cannot be
 * watched. If the signal is aborted, rejects with its reason.
 */
export async function waitForEnd(
  watch: WatchTask,
  task_id: string,
  signal: ListenableSignal,
): Promise<void> {
  if (signal.aborted) throw signal.reason;
  const end = Promise.withResolvers<void>();
  // Until the watch has begun, nothing waits for `end`. Without this line, a rejection at that time
  // would count as unhandled.
  end.promise.catch(() => undefined);
  const onAbort = () => end.reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  let watched: Watch | undefined;
  try {
    watched = await watch(task_id, ({ snapshot }) => {
      if (snapshot.status !== 'active') end.resolve();
    });
    if (!watched) throw new Error(`task ${task_id} does not exist any more`);
    if (watched.snapshot.status === 'active') await end.promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    watched?.stop();
  }
}
