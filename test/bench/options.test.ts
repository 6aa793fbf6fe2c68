import { describe, expect, test } from 'bun:test';
import { readOptions } from '../../bench/options.ts';
import { ArgumentError } from '../support/arguments.ts';

describe('the arguments of bin/bench', () => {
  test('by default select a run beside other programs', () => {
    expect(readOptions([])).toEqual({
      ...{ mode: 'calls', rounds: 5, seconds: 3, connections: 256 },
      ...{ short: false, write: true },
    });
  });

  test('--short selects one short round that writes nothing', () => {
    expect(readOptions(['--short'])).toEqual({
      ...{ mode: 'calls', rounds: 1, seconds: 1, connections: 32 },
      ...{ short: true, write: false },
    });
    expect(readOptions(['--short', '--seconds', '2'])).toMatchObject({ seconds: 2, rounds: 1 });
  });

  test('--no-write leaves the results file unchanged', () => {
    expect(readOptions(['--no-write'])).toMatchObject({ write: false, rounds: 5 });
  });

  test('--against compares ten pairs, with a bound of 2 %, by default', () => {
    expect(readOptions(['--against', 'HEAD'])).toEqual({
      ...{ mode: 'against', commit: 'HEAD', pairs: 10, seconds: 2, connections: 256 },
      ...{ bound: 0.02, one_simulator: false },
    });
  });

  test('each option of a comparison can be set', () => {
    const line =
      '--pairs 4 --against e7d3e6a --seconds 1 --connections 8 --bound 0.5 --one-simulator';
    expect(readOptions(line.split(' '))).toEqual({
      ...{ mode: 'against', commit: 'e7d3e6a', pairs: 4, seconds: 1, connections: 8 },
      ...{ bound: 0.005, one_simulator: true },
    });
    expect(readOptions(['--against', 'HEAD', '--bound', '0'])).toMatchObject({ bound: 0 });
  });

  test.each([
    ['--pairs 4', '--pairs needs --against'],
    ['--bound 4', '--bound needs --against'],
    ['--one-simulator', '--one-simulator needs --against'],
    ['--against HEAD --rounds 4', '--rounds does not go with --against'],
    ['--against HEAD --short', '--short does not go with --against'],
    ['--against HEAD --no-write', '--no-write does not go with --against'],
    ['--against', '--against'],
    ['--against=', '--against needs a commit'],
    ['--against=--pairs', '--against needs a commit'],
    ['--against HEAD --pairs 0', '--pairs must be a whole number'],
    ['--against HEAD --pairs 1.5', '--pairs must be a whole number'],
    ['--against HEAD --pairs ten', '--pairs must be a whole number'],
    ['--against HEAD --seconds=-1', '--seconds must be a whole number'],
    ['--seconds 0.5', '--seconds must be a whole number'],
    ['--connections=', '--connections must be a whole number'],
    ['--against HEAD --bound two', '--bound must be a percentage'],
    ['--against HEAD --bound=', '--bound must be a percentage'],
    ['--against HEAD --bound=-1', '--bound must be a percentage'],
    ['--against HEAD --bound 101', '--bound must be a percentage'],
    ['--paris 4', '--paris'],
    ['HEAD', 'HEAD'],
  ])('%p is refused, and the argument is named', (line, named) => {
    expect(() => readOptions(line.split(' '))).toThrow(ArgumentError);
    expect(() => readOptions(line.split(' '))).toThrow(named);
  });

  test('bin/bench ends with exit code 2 on a wrong argument', () => {
    const bench = new URL('../../bin/bench', import.meta.url).pathname;
    const { exitCode, stderr } = Bun.spawnSync([bench, '--against', 'HEAD', '--pairs', 'none']);
    expect(stderr.toString()).toContain('--pairs must be a whole number of at least 1, not "none"');
    expect(exitCode).toBe(2);
  });
});
