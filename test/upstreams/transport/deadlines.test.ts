import { describe, expect, test } from 'bun:test';
import { Deadline, type Watched, watch } from '../../../src/upstreams/transport/deadlines.ts';
import { until } from '../../support/until.ts';

/** A wait that counts its checks. It is over when `isOver` is set. */
class Wait implements Watched {
  checks = 0;
  isOver = false;

  constructor(private readonly onCheck: () => void = () => undefined) {}

  check(now: number): boolean {
    expect(now).toBeWithin(performance.now() - 60_000, performance.now() + 1);
    this.checks += 1;
    this.onCheck();
    return !this.isOver;
  }
}

describe('a watched wait', () => {
  test('is checked until it is over', async () => {
    const [wait, other] = [new Wait(), new Wait()];
    for (const each of [wait, other]) watch(each);
    await until('it was checked', () => wait.checks >= 3);
    wait.isOver = true;
    const { checks } = wait;
    const { checks: before } = other;
    await until('the other wait was checked', () => other.checks >= before + 3);
    expect(wait.checks).toBe(checks + 1);
    other.isOver = true;
  });

  test('may start another wait during its check, and after all waits are over', async () => {
    const next = new Wait();
    const first = new Wait(() => watch(next));
    first.isOver = true;
    watch(first);
    await until('the next wait was checked', () => next.checks >= 2);
    expect(first.checks).toBe(1);
    next.isOver = true;
    await Bun.sleep(150);
    const last = new Wait();
    last.isOver = true;
    watch(last);
    await until('the last wait was checked', () => last.checks === 1);
  });
});

describe('a deadline', () => {
  test('expires once if it passes, and never if it is canceled', async () => {
    const expired: string[] = [];
    const canceled = new Deadline(0, () => expired.push('canceled'));
    canceled.cancel();
    new Deadline(0, () => expired.push('early'));
    new Deadline(200, () => expired.push('late'));
    await until('both expired', () => expired.length === 2);
    expect(expired).toEqual(['early', 'late']);
    await Bun.sleep(150);
    expect(expired).toHaveLength(2);
  });
});
