import { describe, expect, test } from 'bun:test';
import { readTaskOptions, shortTaskOptions } from '../../bench/task-options.ts';
import { ArgumentError } from '../support/arguments.ts';

describe('the arguments of bin/bench tasks', () => {
  test('by default select 100,000 unfinished tasks, of which 10,000 are polled', () => {
    expect(readTaskOptions([])).toEqual({
      ...{ mode: 'unfinished', unfinished: 100_000, polled: 10_000, against: undefined },
      ...{ pairs: 10, seconds: 15, watch_seconds: 60, connections: 256 },
      ...{ short: false, write: true },
    });
  });

  test('each option can be set, and --against writes results too', () => {
    const line =
      '--unfinished 900 --polled 90 --against HEAD --pairs 6 --seconds 1 --connections 8 --no-write';
    expect(readTaskOptions(line.split(' '))).toMatchObject({
      ...{ unfinished: 900, polled: 90, against: 'HEAD', pairs: 6, seconds: 1, connections: 8 },
      write: false,
    });
    expect(readTaskOptions(['--against', 'HEAD'])).toMatchObject({ write: true });
  });

  test('--short selects few tasks and writes nothing', () => {
    expect(readTaskOptions(['--short'])).toEqual(shortTaskOptions());
    expect(shortTaskOptions()).toMatchObject({
      ...{ unfinished: 10_000, polled: 500, against: undefined, short: true, write: false },
    });
  });

  test('--live selects tasks that clients create and that end', () => {
    expect(readTaskOptions(['--live'])).toEqual({
      ...{ mode: 'live', tasks: 10_000, rate: 2_000, write: true },
    });
    const line = '--live --tasks 40 --rate 7 --no-write';
    expect(readTaskOptions(line.split(' '))).toEqual({
      ...{ mode: 'live', tasks: 40, rate: 7, write: false },
    });
  });

  test.each([
    ['--tasks 40', '--tasks needs --live'],
    ['--rate 40', '--rate needs --live'],
    ['--live --polled 40', '--polled does not go with --live'],
    ['--live --against HEAD', '--against does not go with --live'],
    ['--short --against HEAD', '--against does not go with --short'],
    ['--pairs 4', '--pairs needs --against'],
    ['--against=', '--against needs a commit'],
    ['--polled 3', '--polled must be at least 4'],
    ['--unfinished 100', '--polled is larger than --unfinished'],
    ['--unfinished none', '--unfinished must be a whole number'],
    ['--live --tasks 0', '--tasks must be a whole number'],
    ['--poled 4', '--poled'],
  ])('%p is refused, and the argument is named', (line, named) => {
    expect(() => readTaskOptions(line.split(' '))).toThrow(ArgumentError);
    expect(() => readTaskOptions(line.split(' '))).toThrow(named);
  });

  test('bin/bench tasks ends with exit code 2 on a wrong argument', () => {
    const bench = new URL('../../bin/bench', import.meta.url).pathname;
    const { exitCode, stderr } = Bun.spawnSync([bench, 'tasks', '--polled', 'none']);
    expect(stderr.toString()).toContain(
      '--polled must be a whole number of at least 1, not "none"',
    );
    expect(exitCode).toBe(2);
  });
});
