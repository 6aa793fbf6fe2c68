/** Equal requests at once share a read, and nobody gets an answer that is older than the request. */
import { describe, expect, test } from 'bun:test';
import { SharedReads } from '../../../src/inference/records/shared-reads.ts';
import { fc } from '../../support/property.ts';

/** Reads that a test ends one by one. Each returns the value at its beginning. */
class Source {
  value = 0;
  reads = 0;
  private readonly open: (() => void)[] = [];

  readonly read = async (): Promise<number> => {
    const { value } = this;
    this.reads += 1;
    await new Promise<void>((resolve) => void this.open.push(resolve));
    return value;
  };

  /** Ends the oldest read, and lets the next one begin. */
  async end(): Promise<void> {
    this.open.shift()?.();
    await Bun.sleep(0);
  }

  get isOpen(): boolean {
    return this.open.length > 0;
  }
}

describe('shared reads', () => {
  test('of fifty equal requests at once are two', async () => {
    const [source, reads] = [new Source(), new SharedReads<number>()];
    const answers = Array.from({ length: 50 }, () => reads.run('a', source.read));
    while (source.isOpen) await source.end();
    await Promise.all(answers);
    expect(source.reads).toBe(2);
  });

  test('of other names are read apart', async () => {
    const [source, reads] = [new Source(), new SharedReads<number>()];
    const answers = ['a', 'b', 'c'].map((name) => reads.run(name, source.read));
    expect(source.reads).toBe(3);
    while (source.isOpen) await source.end();
    await Promise.all(answers);
  });

  test('answer with nothing older than the request, in any order of requests, changes and ends', async () => {
    const step = fc.constantFrom('ask', 'change', 'end');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const [source, reads] = [new Source(), new SharedReads<number>()];
        const answers: Promise<boolean>[] = [];
        for (const each of steps) {
          const { value } = source;
          if (each === 'ask') {
            answers.push(reads.run('a', source.read).then((answer) => answer >= value));
          } else if (each === 'change') source.value += 1;
          else await source.end();
        }
        while (source.isOpen) await source.end();
        expect(await Promise.all(answers)).not.toContain(false);
      }),
    );
  });

  test('that fail fail for who shares them, and the next one reads again', async () => {
    const reads = new SharedReads<number>();
    let calls = 0;
    const failing = async () => {
      calls += 1;
      await Bun.sleep(0);
      throw new Error(`read ${calls}`);
    };
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => reads.run('a', failing)));
    expect(outcomes.map((each) => String((each as PromiseRejectedResult).reason))).toEqual([
      ...['Error: read 1', 'Error: read 2', 'Error: read 2'],
    ]);
    expect(await reads.run('a', async () => 7)).toBe(7);
  });
});
