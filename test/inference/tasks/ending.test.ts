import { expect, test } from 'bun:test';
import type { AnyMachineSnapshot } from 'xstate';
import type { Watcher } from '../../../src/actors/durable/live-actor.ts';
import type { Watch } from '../../../src/actors/durable/registry.ts';
import { waitForEnd } from '../../../src/inference/tasks/ending.ts';

const snapshot = (status: 'active' | 'done') => ({ status }) as AnyMachineSnapshot;

/** A watch that begins when `begin` is called. */
function lateWatch(status: 'active' | 'done') {
  const { promise, resolve } = Promise.withResolvers<Watch | undefined>();
  const state = { stops: 0, watcher: (() => undefined) as Watcher };
  const stop = () => {
    state.stops += 1;
  };
  return {
    state,
    begin: () => resolve({ snapshot: snapshot(status), seq: 1, stop }),
    watch: (_: string, watcher: Watcher) => {
      state.watcher = watcher;
      return promise;
    },
  };
}

test('a client that leaves while the watch begins gets its reason, and the watch is stopped', async () => {
  const { watch, begin, state } = lateWatch('active');
  const client = new AbortController();
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  const waiting = waitForEnd(watch, 'weir_1', client.signal);
  client.abort(new Error('the client left'));
  await Bun.sleep(20);
  begin();
  expect(waiting).rejects.toThrow('the client left');
  await waiting.catch(() => undefined);
  process.off('unhandledRejection', onUnhandled);
  expect([state.stops, unhandled]).toEqual([1, []]);
});

test('the end comes with the first snapshot or with a change', async () => {
  const ended = lateWatch('done');
  ended.begin();
  await waitForEnd(ended.watch, 'weir_1', new AbortController().signal);
  const running = lateWatch('active');
  running.begin();
  const waiting = waitForEnd(running.watch, 'weir_1', new AbortController().signal);
  const change = { kind: 'task', id: 'weir_1', event: { type: 'X' }, taken: true };
  await Bun.sleep(0);
  running.state.watcher({ ...change, seq: 2, snapshot: snapshot('active') });
  running.state.watcher({ ...change, seq: 3, snapshot: snapshot('done') });
  await waiting;
  expect([ended.state.stops, running.state.stops]).toEqual([1, 1]);
});

test('a task that does not exist is an error', () => {
  const { signal } = new AbortController();
  expect(waitForEnd(async () => undefined, 'weir_1', signal)).rejects.toThrow('does not exist');
});
