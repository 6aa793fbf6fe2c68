import { describe, expect, test } from 'bun:test';
import { readLimitsOptions } from '../../bench/limits-options.ts';
import { isSlower, limitsSection, verdictOf } from '../../bench/limits-report.ts';
import type { Measured } from '../../bench/pairs.ts';
import { ArgumentError } from '../support/arguments.ts';

describe('the arguments of bin/bench limits', () => {
  test('by default select ten pairs with a bound of 5 %, without Redis', () => {
    expect(readLimitsOptions([])).toEqual({
      ...{ pairs: 10, seconds: 1, connections: 256, bound: 0.05 },
      ...{ redis: false, short: false, write: true },
    });
  });

  test('--short selects one short pair that writes nothing', () => {
    expect(readLimitsOptions(['--short'])).toMatchObject({
      ...{ pairs: 1, seconds: 1, connections: 32, short: true, write: false },
    });
  });

  test('each option can be set', () => {
    const line = '--pairs 4 --seconds 2 --connections 8 --bound 0.5 --redis --no-write';
    expect(readLimitsOptions(line.split(' '))).toEqual({
      ...{ pairs: 4, seconds: 2, connections: 8, bound: 0.005 },
      ...{ redis: true, short: false, write: false },
    });
  });

  test.each([
    ['--pairs 0', '--pairs must be a whole number'],
    ['--seconds 0.5', '--seconds must be a whole number'],
    ['--bound two', '--bound must be a percentage'],
    ['--against HEAD', '--against'],
  ])('%p is refused, and the argument is named', (line, named) => {
    expect(() => readLimitsOptions(line.split(' '))).toThrow(ArgumentError);
    expect(() => readLimitsOptions(line.split(' '))).toThrow(named);
  });

  test('bin/bench limits ends with exit code 2 on a wrong argument', () => {
    const bench = new URL('../../bin/bench', import.meta.url).pathname;
    const { exitCode, stderr } = Bun.spawnSync([bench, 'limits', '--pairs', 'none']);
    expect(stderr.toString()).toContain('--pairs must be a whole number of at least 1, not "none"');
    expect(exitCode).toBe(2);
  });
});

describe('the verdict of bin/bench limits', () => {
  const pair = (rate: number, cpu: number): Measured => ({
    ...{ rates: { old: 1_000, new: rate }, cpu_us: { old: 200, new: cpu } },
    undisturbed: true,
  });
  const found = (plain: Measured[]) => ({ plain, stream: [pair(1_000, 200)] });

  test('a median loss of rate above the bound fails', () => {
    const plain = [pair(990, 202), pair(940, 202), pair(930, 202)];
    expect(verdictOf(plain, 0.05).rate.loss).toBeCloseTo(0.06);
    expect(isSlower(found(plain), 0.05)).toBe(true);
    expect(isSlower(found(plain), 0.07)).toBe(false);
  });

  test('a median rise of CPU time above the bound fails, also if the rate is the same', () => {
    const plain = [pair(1_000, 200), pair(1_000, 212), pair(1_000, 214)];
    expect(verdictOf(plain, 0.05).cpu.loss).toBeCloseTo(0.06);
    expect(isSlower(found(plain), 0.05)).toBe(true);
    expect(isSlower(found(plain), 0.07)).toBe(false);
  });

  test('the results have both figures of each kind of calls, and the verdict', () => {
    const options = readLimitsOptions(['--pairs', '3', '--redis']);
    const text = limitsSection(found([pair(990, 202), pair(980, 204), pair(970, 206)]), options);
    expect(text).toContain('## All limits at once, with Redis');
    expect(text).toContain('--pairs 3 --seconds 1 --connections 256 --redis');
    expect(text).toContain(
      '| plain | 1000 / 980 | +2.0 % (+1.0 % to +3.0 %) | 200.0 / 204.0 | +2.0 % (+1.0 % to +3.0 %) |',
    );
    expect(text).toContain('verdict: no slower (bound 5 %)');
  });
});
