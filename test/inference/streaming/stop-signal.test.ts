import { describe, expect, test } from 'bun:test';
import { StopSignal } from '../../../src/inference/streaming/stop-signal.ts';

/** Adds two listeners and records their calls. */
function addListeners(stop: StopSignal) {
  const calls: string[] = [];
  const [one, other] = [() => calls.push('one'), () => calls.push('other')] as const;
  stop.addEventListener('abort', one);
  stop.addEventListener('abort', other);
  return { calls, one, other };
}

describe('a stop signal', () => {
  test('calls each listener once, and keeps its first reason', () => {
    const stop = new StopSignal();
    const { calls } = addListeners(stop);
    expect(stop.aborted).toBe(false);
    stop.abort('first');
    stop.abort('second');
    expect([calls, stop.aborted, stop.reason]).toEqual([['one', 'other'], true, 'first']);
  });

  test('has an AbortError as its default reason, like an AbortController', () => {
    const stop = new StopSignal();
    stop.abort();
    expect(stop.reason).toMatchObject({ name: 'AbortError' });
  });

  test('does not call a removed listener', () => {
    const stop = new StopSignal();
    const { calls, one } = addListeners(stop);
    stop.removeEventListener('abort', one);
    stop.abort();
    expect(calls).toEqual(['other']);
  });

  test('follows several signals, and takes the reason of the first abort', () => {
    const [client, hedge] = [new AbortController(), new AbortController()];
    const stop = new StopSignal(client.signal, hedge.signal);
    const { calls } = addListeners(stop);
    expect(stop.aborted).toBe(false);
    hedge.abort('slower');
    expect([stop.aborted, stop.reason, calls.length]).toEqual([true, 'slower', 2]);
    client.abort('left');
    expect([stop.aborted, stop.reason, calls.length]).toEqual([true, 'slower', 2]);
  });

  test('follows a signal that was aborted before', () => {
    const stop = new StopSignal(AbortSignal.abort('left'));
    expect([stop.aborted, stop.reason]).toEqual([true, 'left']);
  });
});
