import { describe, expect, test } from 'bun:test';
import { ClientDeadline, ClientDeadlineError } from '../../src/inference/client-deadline.ts';
import { untilAborted } from '../../src/upstreams/transport/deadlines.ts';
import { until } from '../support/until.ts';

/** A deadline after `timeout_ms`, and the controller of its client. */
function scene(timeout_ms: number) {
  const client = new AbortController();
  const late = new ClientDeadlineError('late', 'hint');
  const expires_at_ms = performance.now() + timeout_ms;
  const signal = new ClientDeadline(client.signal, expires_at_ms, () => late);
  return { client, late, signal };
}

const LONG_MS = 60_000;

describe('the signal of a call with a deadline', () => {
  test('is not aborted before the deadline', () => {
    const { signal } = scene(LONG_MS);
    expect([signal.aborted, signal.reason, signal.check()]).toEqual([false, undefined, false]);
  });

  test('is aborted after the deadline, with the error for the client', () => {
    const { signal, late, client } = scene(0);
    expect([signal.aborted, signal.reason]).toEqual([true, late]);
    client.abort('left');
    expect([signal.aborted, signal.reason]).toEqual([true, late]);
  });

  test('is aborted with the client’s reason when the client leaves', () => {
    const { signal, client } = scene(LONG_MS);
    client.abort('left');
    expect([signal.aborted, signal.reason]).toEqual([true, 'left']);
  });

  test('calls its listeners once, without a read of `aborted`', async () => {
    const { signal } = scene(100);
    const calls: string[] = [];
    const removed = () => calls.push('removed');
    signal.addEventListener('abort', () => calls.push('one'));
    signal.addEventListener('abort', removed);
    signal.addEventListener('abort', () => calls.push('other'));
    signal.removeEventListener('abort', removed);
    expect(calls).toEqual([]);
    await until('the listeners are called', () => calls.length > 0);
    expect(signal.check()).toBe(false);
    expect(calls).toEqual(['one', 'other']);
  });

  test('is checked only while it has a listener', () => {
    const { signal } = scene(LONG_MS);
    const listener = () => undefined;
    signal.addEventListener('abort', listener);
    expect(signal.check()).toBe(true);
    signal.removeEventListener('abort', listener);
    expect(signal.check()).toBe(false);
  });
});

describe('work that ends when a signal is aborted', () => {
  test('resolves and rejects like the work', async () => {
    const { signal } = scene(LONG_MS);
    expect(await untilAborted(Promise.resolve('done'), signal)).toBe('done');
    expect(
      await untilAborted(
        Bun.sleep(5).then(() => 'later'),
        signal,
      ),
    ).toBe('later');
    const failing = Bun.sleep(5).then(() => Promise.reject(new Error('broken')));
    await expect(untilAborted(failing, signal)).rejects.toThrow('broken');
  });

  test('rejects with the reason of the signal, even if the work never ends', async () => {
    const { signal, late } = scene(50);
    const never = Promise.withResolvers<never>().promise;
    expect(await untilAborted(never, signal).catch((error: unknown) => error)).toBe(late);
  });
});
