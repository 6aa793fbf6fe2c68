import { describe, expect, test } from 'bun:test';
import { ClientDeadline } from '../../../src/inference/client-deadline.ts';
import {
  Deadline,
  untilAborted,
  unwatch,
  type Watched,
  watch,
} from '../../../src/upstreams/transport/deadlines.ts';
import { Exchange } from '../../../src/upstreams/transport/exchange.ts';
import { countKept } from '../../support/kept.ts';
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

  test('is not checked any more once it was forgotten', async () => {
    const [forgotten, other] = [new Wait(), new Wait()];
    for (const each of [forgotten, other]) watch(each);
    await until('both were checked', () => other.checks >= 1);
    const { checks } = forgotten;
    unwatch(forgotten);
    const { checks: before } = other;
    await until('the other wait was checked', () => other.checks >= before + 2);
    expect(forgotten.checks).toBe(checks);
    other.isOver = true;
  });
});

/**
 * Between two checks, thousands of waits may end. If each were kept until the next check, with its call, collections in
 * between would take its call for memory that lives long.
 */
describe('what a wait held is not kept after its end', () => {
  const nothing = () => undefined;
  const client = { aborted: false, reason: undefined };
  const target = { timeout_ms: 60_000, transport: undefined };

  test.each<[string, (held: object) => unknown]>([
    ['a deadline', (held) => new Deadline(60_000, () => held).cancel()],
    ['work of a client', (held) => untilAborted(Bun.sleep(0), { ...client, ...{ held } })],
    [
      'the deadline of a client',
      (held) => {
        const deadline = new ClientDeadline({ ...client, ...{ held } }, 1e12, nothing as never);
        deadline.addEventListener('abort', nothing);
        deadline.removeEventListener('abort', nothing);
      },
    ],
    [
      'an exchange',
      (held) => new Exchange({ target, signal: { ...client, ...{ held } } } as never).close(),
    ],
  ])('%s', async (_, use) => {
    // The collector takes some old words on the stack for references.
    expect(await countKept(use)).toBeLessThan(20);
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
