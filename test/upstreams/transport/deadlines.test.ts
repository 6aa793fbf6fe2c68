import { describe, expect, test } from 'bun:test';
import { Deadline, type Watched, watch } from '../../../src/upstreams/transport/deadlines.ts';
import { until } from '../../support/until.ts';

/** Something that is over when it says so. */
class Wait implements Watched {
  looks = 0;
  isOver = false;

  constructor(private readonly onLook: () => void = () => undefined) {}

  check(now: number): boolean {
    expect(now).toBeWithin(performance.now() - 60_000, performance.now() + 1);
    this.looks += 1;
    this.onLook();
    return !this.isOver;
  }
}

describe('what is waited for', () => {
  test('is looked at again and again until it is over', async () => {
    const [wait, witness] = [new Wait(), new Wait()];
    for (const each of [wait, witness]) watch(each);
    await until('it was looked at', () => wait.looks >= 3);
    wait.isOver = true;
    const { looks } = wait;
    const { looks: before } = witness;
    await until('the witness was looked at', () => witness.looks >= before + 3);
    expect(wait.looks).toBe(looks + 1);
    witness.isOver = true;
  });

  test('may begin another wait while it is looked at, and when all were over', async () => {
    const next = new Wait();
    const first = new Wait(() => watch(next));
    first.isOver = true;
    watch(first);
    await until('the next was looked at', () => next.looks >= 2);
    expect(first.looks).toBe(1);
    next.isOver = true;
    await Bun.sleep(150);
    const last = new Wait();
    last.isOver = true;
    watch(last);
    await until('the last was looked at', () => last.looks === 1);
  });
});

describe('a deadline', () => {
  test('that passes is said once, one that was met is not', async () => {
    const said: string[] = [];
    const met = new Deadline(0, () => said.push('met'));
    met.cancel();
    new Deadline(0, () => said.push('early'));
    new Deadline(200, () => said.push('late'));
    await until('both were said', () => said.length === 2);
    expect(said).toEqual(['early', 'late']);
    await Bun.sleep(150);
    expect(said).toHaveLength(2);
  });
});
