import { describe, expect, test } from 'bun:test';
import { Stop } from '../../src/inference/stop.ts';

/** What a listener hears of a stop. */
function listening(stop: Stop) {
  const heard: unknown[] = [];
  const object = { handleEvent: ({ type }: Event) => heard.push(type) };
  const plain = () => heard.push('called');
  stop.addEventListener('abort', object);
  stop.addEventListener('abort', plain);
  return { heard, object, plain };
}

describe('a stop', () => {
  test('tells each listener once, and keeps its first reason', () => {
    const stop = new Stop();
    const { heard } = listening(stop);
    expect(stop.aborted).toBe(false);
    stop.abort('first');
    stop.abort('second');
    expect([heard, stop.aborted, stop.reason]).toEqual([['abort', 'called'], true, 'first']);
  });

  test('that says no reason is an AbortError, as an AbortController’s', () => {
    const stop = new Stop();
    stop.abort();
    expect(stop.reason).toMatchObject({ name: 'AbortError' });
  });

  test('does not tell who has left', () => {
    const stop = new Stop();
    const { heard, object, plain } = listening(stop);
    stop.removeEventListener('abort', object);
    stop.abort();
    expect(heard).toEqual(['called']);
    stop.removeEventListener('abort', plain);
  });

  test('follows several signals, for the reason of the first that is aborted', () => {
    const [client, lane] = [new AbortController(), new AbortController()];
    const stop = new Stop();
    stop.follow(client.signal);
    stop.follow(lane.signal);
    const { heard } = listening(stop);
    lane.abort('slower');
    client.abort('left');
    expect([heard.length, stop.reason]).toEqual([2, 'slower']);
  });

  test('follows a signal that was aborted before', () => {
    const stop = new Stop();
    stop.follow(AbortSignal.abort('left'));
    expect([stop.aborted, stop.reason]).toEqual([true, 'left']);
  });
});
