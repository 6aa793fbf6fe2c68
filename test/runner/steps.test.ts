/** `bin/test` itself: what its steps count, and what they do without a program. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { readArguments } from './arguments.ts';
import { ROOT, runBunTest } from './bun-test.ts';
import { runCommand } from './command.ts';
import { type Counts, closingLine, NO_TESTS, readClosingLine } from './counts.ts';
import { Interrupt } from './interrupt.ts';
import { ALLOW_MISSING, MISSING_FILE, readMissing } from './missing.ts';
import { runSteps, type Step, twoAtATime } from './steps.ts';

let folder: string;
beforeAll(() => {
  folder = throwawayFolder('runner');
});
afterAll(() => removeFolder(folder));

const command = (command: string[], environment: Record<string, string> = {}) =>
  runCommand({
    command,
    cwd: ROOT,
    environment: { ...process.env, ...environment },
    interrupt: new Interrupt(),
    quiet: true,
  });
const shell = (script: string) => command(['sh', '-c', script]);
const bunTest = (file: string, environment: Record<string, string>) =>
  runBunTest({
    test_arguments: [file],
    environment: { ...process.env, [MISSING_FILE]: '', ...environment },
    interrupt: new Interrupt(),
    quiet: true,
  });
const stepOf = (title: string, counts: Counts): Step => ({ title, run: async () => counts });

async function printed(steps: Step[]) {
  const lines: string[] = [];
  const totals = await runSteps(steps, { print: (line) => lines.push(line) });
  return { ...totals, lines, last: lines.at(-1) };
}

describe('a command', () => {
  test('counts by its own closing line', async () => {
    expect(await shell('echo 1 passed, 0 failed; echo done; echo 7 passed, 0 failed')).toEqual({
      ...{ passed: 7, failed: 0, skipped: 0 },
    });
  });

  test('without a closing line is one test, by its exit code', async () => {
    expect(await shell('echo fine')).toEqual({ passed: 1, failed: 0, skipped: 0 });
    expect(await shell('exit 3')).toMatchObject({ passed: 0, failed: 1, skipped: 0 });
  });

  test('that ends badly has failed, whatever its closing line says', async () => {
    expect(await shell('echo 4 passed, 0 failed; exit 1')).toMatchObject({ passed: 4, failed: 1 });
    expect(await shell('echo 4 passed, 2 failed; exit 1')).toMatchObject({ passed: 4, failed: 2 });
  });

  test('whose program is missing has failed, and is named', async () => {
    const file = join(folder, 'failed.jsonl');
    const counts = await command(['no-such-program', 'now'], { [MISSING_FILE]: file });
    expect(counts).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(readMissing(file)).toEqual([
      { what: 'no-such-program now', why: 'no-such-program is not on this machine' },
    ]);
  });

  test('whose program is missing is skipped under --allow-missing, and is named', async () => {
    const file = join(folder, 'allowed.jsonl');
    const allowed = { [MISSING_FILE]: file, [ALLOW_MISSING]: '1' };
    expect(await command(['no-such-program'], allowed)).toEqual({
      ...{ passed: 0, failed: 0, skipped: 1 },
    });
    expect(readMissing(file)).toHaveLength(1);
  });
});

describe('the steps of a run', () => {
  test('can run two at a time, and count together', async () => {
    let running = 0;
    let most = 0;
    const steps = [1, 2, 3, 4].map((passed): Step => {
      return {
        title: `step ${passed}`,
        run: async () => {
          running += 1;
          most = Math.max(most, running);
          await Bun.sleep(20);
          running -= 1;
          if (passed === 4) throw new Error('broken');
          return { passed, failed: 0, skipped: 0 };
        },
      };
    });
    const { counts, lines } = await printed([twoAtATime('all', steps)]);
    expect(most).toBe(2);
    expect(counts).toEqual({ passed: 6, failed: 1, skipped: 0 });
    expect(lines.join('\n')).toContain('step 4');
  });

  test('add up, and the last line says so', async () => {
    const run = await printed([
      stepOf('one', { passed: 3, failed: 0, skipped: 1 }),
      stepOf('two', { passed: 4, failed: 0, skipped: 0 }),
    ]);
    expect(run.last).toBe('7 passed, 0 failed, 1 skipped');
    expect(run.succeeded).toBe(true);
    expect(run.lines.join('\n')).toContain('== two');
  });

  test('go on after one that failed, and the run has failed', async () => {
    const broken: Step = {
      title: 'broken',
      run: () => Promise.reject(new Error('it broke')),
    };
    const run = await printed([broken, stepOf('two', { passed: 4, failed: 0, skipped: 0 })]);
    expect(run.last).toBe('4 passed, 1 failed');
    expect(run.succeeded).toBe(false);
    expect(run.lines.at(-2)).toBe('Failed:\n  broken\n    it broke');
  });

  test('name what passed only when it ran again, and have not failed', async () => {
    const long = 'x'.repeat(10_000);
    const unsteady = [{ what: 'a test', why: `Error: too late\n${long}` }];
    const step: Step = { title: 'one', run: async () => ({ ...NO_TESTS, passed: 3, unsteady }) };
    const run = await printed([step]);
    expect(run).toMatchObject({ last: '3 passed, 0 failed', succeeded: true });
    expect(run.lines.at(-2)).toStartWith('Failed, and passed when run again alone:\n  a test\n');
    expect(run.lines.at(-2)?.length).toBeLessThan(1_000);
  });

  test('know what came before them', async () => {
    const before: Counts[] = [];
    const step = (counts: Counts): Step => ({
      title: 'one',
      run: async (given) => {
        before.push(given);
        return counts;
      },
    });
    const counts = { passed: 3, failed: 1, skipped: 0 };
    await printed([step(counts), step(counts), step(counts)]);
    expect(before).toEqual([
      { passed: 0, failed: 0, skipped: 0 },
      counts,
      { passed: 6, failed: 2, skipped: 0 },
    ]);
  });

  test('say what could not run before the last line', async () => {
    const lines: string[] = [];
    await runSteps([stepOf('one', { passed: 1, failed: 0, skipped: 0 })], {
      missing: () => [{ what: 'prettier@3.6.2', why: 'no network' }],
      print: (line) => lines.push(line),
    });
    expect(lines.at(-2)).toContain('  prettier@3.6.2: no network');
    expect(lines.at(-1)).toBe('1 passed, 0 failed');
  });
});

describe('what failed is named at the end of a run', () => {
  const endOf = async (step: Step['run']) => (await printed([{ title: 'one', run: step }])).lines;

  test('tests: with their file, their groups and their error', async () => {
    const path = join(folder, 'fails.test.ts');
    writeFileSync(
      path,
      `import { describe, expect, test } from 'bun:test';
      describe('a group', () => test('has < and &', () => expect('"é"').toBe('\u0000')));
      test('throws', () => { throw new Error('seed 12\\nsecond line'); });
      test('hangs', () => new Promise(() => {}), 10);
      test('passes', () => {});`,
    );
    const lines = await endOf(() => bunTest(path, {}));
    const end = lines.join('\n');
    expect(lines.at(-1)).toBe('1 passed, 3 failed');
    expect(end).toContain('fails.test.ts: a group > has < and &\n    AssertionError: expect(');
    expect(end).toContain('fails.test.ts: throws\n    Error: seed 12\n    second line');
    expect(end).toContain('fails.test.ts: hangs\n    TimeoutError');
    expect(end).not.toContain('passes');
  });

  test('an error outside of a test: with its file', async () => {
    const path = join(folder, 'outside.test.ts');
    writeFileSync(
      path,
      `import { test } from 'bun:test';
      test('never runs', () => {});
      throw new Error('seed 7');`,
    );
    const lines = await endOf(() => bunTest(path, {}));
    expect(lines.at(-1)).toBe('0 passed, 1 failed');
    expect(lines.at(-2)).toContain('outside.test.ts: outside of a test\n');
    expect(lines.at(-2)).toContain('error: seed 7\n');
  });

  test('a command: with the last lines that it printed', async () => {
    const lines = await endOf(() => shell('seq 100; echo seed 9; exit 4'));
    expect(lines.at(-2)).toMatch(/^Failed:\n {2}"sh -c .*" ended with 4\n {4}62\n/s);
    expect(lines.at(-2)).toEndWith('\n    100\n    seed 9');
  });
});

/** A test file that registers one test, and another one that needs a program. */
function fileThatNeeds(
  program: string,
  find: 'machineProgram' | 'optionalProgram' = 'machineProgram',
): string {
  const support = join(ROOT, 'test/full/support/installed.ts');
  const path = join(folder, `needs-${program}-${find}.test.ts`);
  writeFileSync(
    path,
    `import { test } from 'bun:test';
    import { ${find}, withPrograms } from '${support}';
    test('needs nothing', () => {});
    withPrograms([${find}('${program}')], () => test('needs it', () => {}));`,
  );
  return path;
}

describe('a test file that needs a program', () => {
  test('fails if the program is missing', async () => {
    const file = join(folder, 'file-failed.jsonl');
    const counts = await bunTest(fileThatNeeds('no-such-program'), { [MISSING_FILE]: file });
    expect(counts).toMatchObject({ passed: 1, failed: 1, skipped: 0 });
    expect(readMissing(file)).toEqual([{ what: 'no-such-program', why: 'not on this machine' }]);
  });

  test('is skipped in that part under --allow-missing', async () => {
    expect(await bunTest(fileThatNeeds('no-such-program'), { [ALLOW_MISSING]: '1' })).toEqual({
      ...{ passed: 1, failed: 0, skipped: 1 },
    });
  });

  test('is skipped in that part if the machine may lack the program, and the end names it', async () => {
    const file = join(folder, 'file-skipped.jsonl');
    const needs = fileThatNeeds('no-such-program', 'optionalProgram');
    expect(await bunTest(needs, { [MISSING_FILE]: file })).toEqual({
      ...{ passed: 1, failed: 0, skipped: 1 },
    });
    expect(readMissing(file)).toEqual([{ what: 'no-such-program', why: 'not on this machine' }]);
  });

  test('runs whole if the program is there', async () => {
    expect(await bunTest(fileThatNeeds('sh'), {})).toEqual({ passed: 2, failed: 0, skipped: 0 });
  });
});

test('a run of bun test that finds no test has failed', async () => {
  const counts = await bunTest('no-such-test-file', {});
  expect(counts.failed).toBe(1);
});

test('a closing line is read as it is written', () => {
  for (const counts of [
    { passed: 12, failed: 0, skipped: 0 },
    { passed: 0, failed: 3, skipped: 2 },
  ]) {
    expect(readClosingLine(`before\n${closingLine(counts)}\nafter`)).toEqual(counts);
  }
  expect(readClosingLine('it passed, nothing failed')).toBeUndefined();
});

test('arguments of bun test are passed on, but not with --full', () => {
  expect(readArguments(['-t', 'P2'])).toMatchObject({ full: false, rest: ['-t', 'P2'] });
  expect(readArguments(['--full', '--only-added'])).toMatchObject({ full: true, only_added: true });
  expect(() => readArguments(['--full', 'test/http'])).toThrow('--full');
  expect(() => readArguments(['--only-added'])).toThrow('--full');
  expect(() => readArguments(['--allow-missing'])).toThrow('--full');
});
