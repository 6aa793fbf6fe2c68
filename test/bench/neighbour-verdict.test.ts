import { describe, expect, test } from 'bun:test';
import { ATTACKS } from '../../bench/attacks.ts';
import { attackOf } from '../../bench/client-attacks.ts';
import { readNeighbourOptions } from '../../bench/neighbour-options.ts';
import { type Attacked, harmOf, p99, rowOf } from '../../bench/neighbour-verdict.ts';
import { ArgumentError } from '../support/arguments.ts';

const attack = { name: 'bodies', side: 'client', what: 'many bodies' } as const;
const measured = (changes: Partial<Attacked> = {}): Attacked => ({
  attack,
  quiet: { times_ms: [1, 2], failures: [] },
  attacked: { times_ms: [10, 19], failures: [] },
  peak_mb: 500,
  ...changes,
});

describe('the verdict of bin/bench neighbours', () => {
  test('p99 is the time within which 99 % of the calls were answered', () => {
    const times_ms = Array.from({ length: 200 }, (_, at) => at + 1);
    expect(p99({ times_ms, failures: [] })).toBe(199);
    expect(p99({ times_ms: [7], failures: [] })).toBe(7);
  });

  test('a client that hardly notices the attack is not harmed', () => {
    expect(harmOf(measured(), false)).toBeUndefined();
    expect(rowOf(measured())).toBe('| client | many bodies | 2.0 | 19.0 | 9.5 | 0 | 500 |');
  });

  test.each([
    ['waits ten times longer', { attacked: { times_ms: [20], failures: [] } }, /10.0 times longer/],
    ['has a failure', { attacked: { times_ms: [1], failures: ['status 500'] } }, /status 500/],
    ['had a failure before', { quiet: { times_ms: [1], failures: ['status 503'] } }, /status 503/],
    ['has no answer', { attacked: { times_ms: [], failures: [] } }, /no answer/],
  ])('a client is harmed if it %s', (_, changes, reason) => {
    expect(harmOf(measured(changes), false)).toMatch(reason);
  });

  test('Weir is harmed if it needs too much memory', () => {
    expect(harmOf(measured({ peak_mb: 3_001 }), true)).toMatch(/3001 MB/);
  });

  test('a short run does not check speed', () => {
    const slow = measured({ attacked: { times_ms: [2_000], failures: [] } });
    expect(harmOf(slow, true)).toBeUndefined();
  });
});

describe('the attacks of bin/bench neighbours', () => {
  test.each(ATTACKS.map(({ name }) => name))('%s has an attacker', (name) => {
    expect(attackOf(name)).toBeFunction();
  });

  test('by default all of them run', () => {
    expect(readNeighbourOptions([])).toMatchObject({
      measure_ms: 5_000,
      short: false,
      write: true,
    });
    expect(readNeighbourOptions([]).attacks).toHaveLength(ATTACKS.length);
    expect(readNeighbourOptions(['--short'])).toMatchObject({ measure_ms: 400, write: false });
  });

  test('one of them can run alone, and does not replace the results', () => {
    const options = readNeighbourOptions(['--attack', 'hosts', '--seconds', '1']);
    expect(options).toMatchObject({ measure_ms: 1_000, write: false });
    expect(options.attacks.map(({ name }) => name)).toEqual(['hosts']);
    expect(() => readNeighbourOptions(['--attack', 'none'])).toThrow(ArgumentError);
  });
});
