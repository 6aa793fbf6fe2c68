import { describe, expect, test } from 'bun:test';
import { StopSignal } from '../../../src/inference/streaming/stop-signal.ts';

/** What two listeners hear of a stop. */
function listening(stop: StopSignal) {
  const heard: string[] = [];
  const [one, other] = [() => heard.push('one'), () => heard.push('other')] as const;
  stop.addEventListener('abort', one);
  stop.addEventListener('abort', other);
  return { heard, one, other };
}

describe('a stop', () => {
  test('tells each listener once, and keeps its first reason', () => {
    const stop = new StopSignal();
    const { heard } = listening(stop);
    expect(stop.aborted).toBe(false);
    stop.abort('first');
    stop.abort('second');
    expect([heard, stop.aborted, stop.reason]).toEqual([['one', 'other'], true, 'first']);
  });

  test('that says no reason is an AbortError, as an AbortController’s', () => {
    const stop = new StopSignal();
    stop.abort();
    expect(stop.reason).toMatchObject({ name: 'AbortError' });
  });

  test('does not tell who has left', () => {
    const stop = new StopSignal();
    const { heard, one } = listening(stop);
    stop.removeEventListener('abort', one);
    stop.abort();
    expect(heard).toEqual(['other']);
  });

  test('follows several signals, for the reason of the first that is aborted', () => {
    const [client, lane] = [new AbortController(), new AbortController()];
    const stop = new StopSignal(client.signal, lane.signal);
    const { heard } = listening(stop);
    expect(stop.aborted).toBe(false);
    lane.abort('slower');
    expect([stop.aborted, stop.reason, heard.length]).toEqual([true, 'slower', 2]);
    client.abort('left');
    expect([stop.aborted, stop.reason, heard.length]).toEqual([true, 'slower', 2]);
  });

  test('follows a signal that was aborted before', () => {
    const stop = new StopSignal(AbortSignal.abort('left'));
    expect([stop.aborted, stop.reason]).toEqual([true, 'left']);
  });
});
