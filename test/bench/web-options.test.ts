import { describe, expect, test } from 'bun:test';
import { readWebOptions } from '../../bench/web-options.ts';
import { ArgumentError } from '../support/arguments.ts';

describe('the arguments of bin/bench web', () => {
  test('by default select everything, each page once', () => {
    expect(readWebOptions([])).toEqual({
      ...{ short: false, write: true, only_pages: false, rounds: 1 },
      ...{ pairs: 10, seconds: 20, dashboards: 50, events: 3_600, bound: 0.03 },
    });
  });

  test('--only-pages measures pages, several times if asked, and writes nothing', () => {
    expect(readWebOptions(['--only-pages', '--rounds', '3'])).toMatchObject({
      ...{ only_pages: true, rounds: 3, write: false },
    });
  });

  test.each(['pairs', 'seconds', 'dashboards', 'events', 'bound'])(
    '--%s is refused with --only-pages, which would not use it',
    (name) => {
      expect(() => readWebOptions(['--only-pages', `--${name}`, '1'])).toThrow(ArgumentError);
      expect(() => readWebOptions(['--only-pages', `--${name}`, '1'])).toThrow(`--${name}`);
    },
  );

  test('--short checks no budget and writes nothing', () => {
    expect(readWebOptions(['--short'])).toMatchObject({ short: true, write: false, events: 20 });
  });
});
