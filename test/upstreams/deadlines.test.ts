import { describe, expect, test } from 'bun:test';
import { unwatch, watch } from '../../src/upstreams/deadlines.ts';
import { until } from '../support/until.ts';

/** Something whose deadline is so many ms from now. */
function awaitedFor(ms: number) {
  return {
    deadline: performance.now() + ms,
    calls: 0,
    late() {
      this.calls += 1;
    },
  };
}

describe('deadlines', () => {
  test('call who is late, once', async () => {
    const late = awaitedFor(0);
    watch(late);
    await until('it was called', () => late.calls === 1);
    const next = awaitedFor(200);
    watch(next);
    await until('the next one was called', () => next.calls === 1);
    expect(late.calls).toBe(1);
  });

  test('may move while they are watched, and end', async () => {
    const moved = awaitedFor(0);
    const ended = awaitedFor(0);
    const witness = awaitedFor(150);
    for (const each of [moved, ended, witness]) watch(each);
    moved.deadline = Number.POSITIVE_INFINITY;
    unwatch(ended);
    await until('the witness was called', () => witness.calls === 1);
    expect([moved.calls, ended.calls]).toEqual([0, 0]);
    moved.deadline = 0;
    await until('it was called', () => moved.calls === 1);
  });

  test('are forgotten of what is over, however late it is', async () => {
    const over = { ...awaitedFor(0), isOver: () => true };
    const going = { ...awaitedFor(0), isOver: () => false };
    for (const each of [over, going]) watch(each);
    await until('who is not over was called', () => going.calls === 1);
    expect(over.calls).toBe(0);
  });

  test('may be watched and ended by who is called', async () => {
    const other = awaitedFor(0);
    const third = awaitedFor(0);
    const first = {
      deadline: 0,
      late() {
        unwatch(other);
        watch(third);
      },
    };
    watch(first);
    watch(other);
    await until('the third was called', () => third.calls === 1);
    expect(other.calls).toBe(0);
  });
});
