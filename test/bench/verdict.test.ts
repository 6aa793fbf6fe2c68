import { describe, expect, test } from 'bun:test';
import { type Pair, summarize, summaryLine, verdictLine } from '../../bench/verdict.ts';

/** Returns one pair for each loss, in percent. */
const pairs = (...losses: number[]): Pair[] =>
  losses.map((loss) => ({ old: 1_000, new: 1_000 - loss * 10 }));

describe('the verdict', () => {
  test('depends on the median: one bad pair does not make a version slower', () => {
    const summary = summarize(pairs(0, 1, -1, 90, 0, 1, -1, 0), 0.02);
    expect(summary.slower).toBe(false);
    expect(summary.loss).toBeCloseTo(0, 9);
  });

  test('is "slower" if the loss is above the bound, but not if it equals the bound', () => {
    expect(summarize(pairs(3, 3, 3, 3, 3, 3), 0.02).slower).toBe(true);
    expect(summarize(pairs(3, 3, 3, 3, 3, 3), 0.05).slower).toBe(false);
    expect(summarize([{ old: 4, new: 3 }], 0.25).slower).toBe(false);
  });

  test('is not "slower" for a version that gains', () => {
    const summary = summarize(pairs(-10, -11, -12), 0);
    expect(summary).toMatchObject({ slower: false });
    expect(summary.loss).toBeCloseTo(-0.11, 9);
  });

  test('is "slower" if one of the two kinds of call is slower', () => {
    const [good, bad] = [summarize(pairs(1, 1, 1), 0.02), summarize(pairs(5, 5, 5), 0.02)];
    expect(verdictLine([good, good], 0.02)).toBe('verdict: no slower (bound 2 %)');
    expect(verdictLine([good, bad], 0.02)).toBe('verdict: slower (bound 2 %)');
    expect(verdictLine([bad, good], 0.02)).toBe('verdict: slower (bound 2 %)');
  });

  test('mentions an interval that contains the bound', () => {
    const open = summarize(pairs(-5, -4, 0, 1, 6, 7), 0.02);
    expect(verdictLine([open], 0.02)).toStartWith('verdict: no slower (bound 2 %; an interval');
  });
});

describe('the summary line of a kind of call', () => {
  test('gives the median loss and the 95 % interval', () => {
    const losses = pairs(-3, 9, 0.5, 1.5, 1, 1, 1, 1, 8, -2);
    expect(summaryLine('plain', summarize(losses, 0.02))).toMatch(
      /^plain +median loss \+1\.0 %, 95 % interval -2\.0 % to \+8\.0 %$/,
    );
  });

  test('names the lower confidence if there are fewer than 6 pairs', () => {
    expect(summaryLine('plain', summarize(pairs(1, 2, 3, 4), 0.02))).toMatch(
      /, 87\.5 % interval \+1\.0 % to \+4\.0 % \(6 pairs or more give 95 %\)$/,
    );
  });
});
