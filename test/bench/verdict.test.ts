import { describe, expect, test } from 'bun:test';
import { type Pair, summarize, summaryLine, verdictLine } from '../../bench/verdict.ts';

/** Pairs whose losses, in percent, are these. */
const pairs = (...losses: number[]): Pair[] =>
  losses.map((loss) => ({ old: 1_000, new: 1_000 - loss * 10 }));

describe('the verdict', () => {
  test('is about the median: one bad pair makes nobody slower', () => {
    const summary = summarize(pairs(0, 1, -1, 90, 0, 1, -1, 0), 0.02);
    expect(summary.slower).toBe(false);
    expect(summary.loss).toBeCloseTo(0, 9);
  });

  test('is slower above the bound, and not at the bound', () => {
    expect(summarize(pairs(3, 3, 3, 3, 3, 3), 0.02).slower).toBe(true);
    expect(summarize(pairs(3, 3, 3, 3, 3, 3), 0.05).slower).toBe(false);
    expect(summarize([{ old: 4, new: 3 }], 0.25).slower).toBe(false);
  });

  test('a version that gains is no slower', () => {
    const summary = summarize(pairs(-10, -11, -12), 0);
    expect(summary).toMatchObject({ slower: false });
    expect(summary.loss).toBeCloseTo(-0.11, 9);
  });

  test('is "slower" if either kind of call is', () => {
    const [good, bad] = [summarize(pairs(1, 1, 1), 0.02), summarize(pairs(5, 5, 5), 0.02)];
    expect(verdictLine([good, good], 0.02)).toBe('verdict: no slower (bound 2 %)');
    expect(verdictLine([good, bad], 0.02)).toBe('verdict: slower (bound 2 %)');
    expect(verdictLine([bad, good], 0.02)).toBe('verdict: slower (bound 2 %)');
  });

  test('says so if the interval contains the bound', () => {
    const open = summarize(pairs(-5, -4, 0, 1, 6, 7), 0.02);
    expect(verdictLine([open], 0.02)).toStartWith('verdict: no slower (bound 2 %; an interval');
  });
});

describe('the line of a kind', () => {
  test('gives the median loss and the 95 % interval', () => {
    const losses = pairs(-3, 9, 0.5, 1.5, 1, 1, 1, 1, 8, -2);
    expect(summaryLine('plain', summarize(losses, 0.02))).toMatch(
      /^plain +median loss \+1\.0 %, 95 % interval -2\.0 % to \+8\.0 %$/,
    );
  });

  test('calls no interval of few pairs a 95 % interval', () => {
    expect(summaryLine('plain', summarize(pairs(1, 2, 3, 4), 0.02))).toMatch(
      /, 87\.5 % interval \+1\.0 % to \+4\.0 % \(6 pairs or more give 95 %\)$/,
    );
  });
});
