import { describe, expect, test } from 'bun:test';
import { readCacheOptions } from '../../bench/cache-options.ts';
import { cacheSection } from '../../bench/cache-report.ts';
import { type CacheFindings, type CacheRound, failuresOf } from '../../bench/cache-verdict.ts';
import { expectedOf, zipfTrace } from '../../bench/zipf.ts';
import { ArgumentError } from '../support/arguments.ts';

const round = (stream: boolean, changes: Partial<CacheRound> = {}): CacheRound => ({
  stream,
  ...{ nginx_per_s: 1_000, proxied_per_s: 400, hits_per_s: 1_500, proxied_us: 200, hit_us: 80 },
  ...changes,
});
const outcome = { upstream_calls: 40, hits: 60, saved_nano_usd: 12_345 };
const found = (changes: Partial<CacheFindings> = {}): CacheFindings => ({
  rounds: [round(false), round(true)],
  hits: { answered: 90, on_record: 92 },
  trace: { expected: outcome, measured: outcome },
  herd: { calls: 1_000, whole: 1, stream: 1 },
  ...changes,
});

describe('the verdict of bin/bench cache', () => {
  test('a cache that is cheap, fast and right passes', () => {
    expect(failuresOf(found(), false)).toEqual([]);
  });

  const both = (changes: Partial<CacheRound>) => [round(false), round(true, changes)];
  test.each<[string, Partial<CacheFindings>, RegExp]>([
    ['a hit that needs much CPU', { rounds: both({ hit_us: 101 }) }, /stream: a hit needs 0.51/],
    ['hits that are slower than nginx', { rounds: both({ hits_per_s: 990 }) }, /ratio 0.99/],
    ['hits that are not on record', { hits: { answered: 90, on_record: 89 } }, /only 89 are on/],
    [
      'another number of upstream calls',
      { trace: { expected: outcome, measured: { ...outcome, upstream_calls: 41 } } },
      /upstream_calls is 41 instead of 40/,
    ],
    [
      'other savings',
      { trace: { expected: outcome, measured: { ...outcome, saved_nano_usd: 12_344 } } },
      /saved_nano_usd is 12344/,
    ],
    ['a herd of several calls', { herd: { calls: 9, whole: 1, stream: 2 } }, /\(stream\) was 2/],
  ])('%s fails', (_, changes, why) => {
    const failures = failuresOf(found(changes), false);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(why);
  });

  test('the medians of the rounds count, and a short run checks no speed', () => {
    const slow = round(false, { hit_us: 300, hits_per_s: 1 });
    const rounds = [round(false), slow, round(false), round(true)];
    expect(failuresOf(found({ rounds }), false)).toEqual([]);
    expect(failuresOf(found({ rounds: [slow, round(true)] }), true)).toEqual([]);
    expect(failuresOf(found({ rounds: [slow, round(true)] }), false)).toHaveLength(2);
  });

  test('the results have the ratios, and what was expected beside what was measured', () => {
    const options = readCacheOptions(['--trace', '100']);
    if (options.mode !== 'hits') throw new Error('not these options');
    const text = cacheSection(found(), options);
    expect(text).toContain('| plain | 1000 | 400 | 1500 | 1.50 | 200.0 | 80.0 | 0.40 |');
    expect(text).toContain('| hit rate | 60.00 % | 60.00 % |');
    expect(text).toContain('| saved, USD | 0.000012 | 0.000012 |');
  });
});

describe('the trace', () => {
  test('is the same for the same seed, and asks the first question most', () => {
    const trace = zipfTrace(10_000, 1_000, 24);
    expect(trace).toEqual(zipfTrace(10_000, 1_000, 24));
    expect(trace).not.toEqual(zipfTrace(10_000, 1_000, 25));
    const times = (question: number) => trace.filter((each) => each === question).length;
    expect(Math.min(...trace)).toBe(0);
    expect(Math.max(...trace)).toBeLessThan(1_000);
    // The weights of all questions add up to 7.49.
    expect(times(0)).toBeWithin(1_200, 1_480);
    expect(times(0) / times(9)).toBeWithin(7, 14);
  });

  test('only the first call of a question reaches an upstream', () => {
    const costs = new Map([
      [0, 5],
      [1, 7],
      [2, 11],
    ]);
    expect(expectedOf([0, 1, 0, 0, 2, 1], costs)).toEqual({
      ...{ upstream_calls: 3, hits: 3, saved_nano_usd: 5 + 5 + 7 },
    });
  });
});

describe('the arguments of bin/bench cache', () => {
  test('have defaults, and a short run writes nothing', () => {
    expect(readCacheOptions([])).toEqual({
      ...{ mode: 'hits', rounds: 30, seconds: 1, connections: 256, trace: 20_000, herd: 1_000 },
      ...{ short: false, write: true },
    });
    expect(readCacheOptions(['--short'])).toMatchObject({ rounds: 1, herd: 100, write: false });
    expect(readCacheOptions(['--pairs', '3'])).toEqual({
      ...{ mode: 'pairs', pairs: 3, seconds: 3, connections: 256, bound: 0.02 },
      write: true,
    });
    expect(readCacheOptions(['--pairs', '3', '--no-write'])).toMatchObject({ write: false });
  });

  test.each([['--bound 3'], ['--pairs 2 --short'], ['--pairs 0'], ['--trace many'], ['--hits 3']])(
    '%p is refused',
    (line) => {
      expect(() => readCacheOptions(line.split(' '))).toThrow(ArgumentError);
    },
  );
});
