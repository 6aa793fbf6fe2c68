import { describe, expect, test } from 'bun:test';
import type { Sql } from 'postgres';
import { initialTransition } from 'xstate';
import type { Watch } from '../../../src/actors/durable/registry.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import type { WatchRequest } from '../../../src/inference/tasks/port.ts';
import { MAX_WATCHES_PER_KEY, TaskWatches } from '../../../src/inference/tasks/task-watches.ts';
import { taskMachine } from '../../../src/machines/task.ts';

const [snapshot] = initialTransition(taskMachine);

/** Watches of a task that never changes. `open` counts the watches of its live actor. */
function watches(max?: number, actor: () => Promise<boolean> = async () => true) {
  const counts = { open: 0 };
  const watch = async (): Promise<Watch | undefined> => {
    if (!(await actor())) return undefined;
    counts.open += 1;
    const stop = () => {
      counts.open -= 1;
    };
    return { snapshot, seq: 1, stop };
  };
  const deps = { sql: undefined as unknown as Sql, watch, find: async () => undefined };
  const onError = (error: unknown) => {
    throw error;
  };
  return { counts, all: new TaskWatches({ ...deps, onError }, max) };
}

const request = (key_id: string, signal = new AbortController().signal): WatchRequest => ({
  id: 'weir_1',
  key: { id: key_id, organization_id: 'org' },
  signal,
});
const refusalOf = (work: Promise<unknown>) =>
  work
    .then(() => undefined)
    .catch((error: unknown) => (error instanceof WeirError ? error : undefined));

describe('the watches of a replica', () => {
  test('have a limit for each key and one for all', async () => {
    const { all, counts } = watches(MAX_WATCHES_PER_KEY + 1);
    const first = await all.watch(request('a'));
    for (let each = 1; each < MAX_WATCHES_PER_KEY; each += 1) await all.watch(request('a'));
    const tooMany = await refusalOf(all.watch(request('a')));
    expect(tooMany?.id).toBe('rate_limit_exceeded');
    expect(tooMany?.details.retry_after).toBeGreaterThan(0);
    await all.watch(request('b'));
    const full = await refusalOf(all.watch(request('c')));
    expect(full?.id).toBe('service_unavailable');
    expect(full?.details.retry_after).toBeGreaterThan(0);
    first.close();
    expect(all.size).toBe(MAX_WATCHES_PER_KEY);
    await all.watch(request('a'));
    expect(counts.open).toBe(MAX_WATCHES_PER_KEY + 1);
  });

  test('end when the client leaves, also while a watch is being opened', async () => {
    const { all, counts } = watches();
    const client = new AbortController();
    const watch = await all.watch(request('a', client.signal));
    await watch.next(0);
    const next = watch.next(60_000);
    client.abort();
    expect(await next).toEqual({ type: 'closed' });
    expect([all.size, counts.open]).toEqual([0, 0]);
    const early = new AbortController();
    const opening = all.watch(request('a', early.signal));
    early.abort();
    expect(await (await opening).next(0)).toEqual({ type: 'closed' });
    expect([all.size, counts.open]).toEqual([0, 0]);
    const late = await all.watch(request('a', early.signal)).catch(() => 'left');
    expect([late, all.size, counts.open]).toEqual(['left', 0, 0]);
  });

  test('do not count if the task does not exist or cannot be read', async () => {
    const none = watches(undefined, async () => false);
    expect((await refusalOf(none.all.watch(request('a'))))?.id).toBe('async_task_not_found');
    const broken = watches(undefined, () => Promise.reject(new Error('no database')));
    expect(await broken.all.watch(request('a')).catch(String)).toContain('no database');
    expect([none.all.size, broken.all.size]).toEqual([0, 0]);
  });

  test('end when the replica stops, which then takes no new ones', async () => {
    const { all, counts } = watches();
    const watch = await all.watch(request('a'));
    all.stop();
    expect(await watch.next(60_000)).toEqual({ type: 'closed' });
    expect([all.size, counts.open]).toEqual([0, 0]);
    expect((await refusalOf(all.watch(request('a'))))?.id).toBe('service_unavailable');
  });
});
