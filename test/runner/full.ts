import { SAMPLE } from '../mutants/sample.ts';
import { TESTED } from '../mutants/tested.ts';
import { CLIENTS_FOLDER, FULL_FOLDER, ROOT, runBunTest } from './bun-test.ts';
import { runCommand } from './command.ts';
import type { Counts } from './counts.ts';
import type { Interrupt } from './interrupt.ts';
import type { Environment } from './servers.ts';
import type { Step } from './steps.ts';

/** All of them take half an hour, so each commit tests every fourth, and the next commit others. */
const MUTANTS = ['bin/test', '--mutants', `${SAMPLE}150`];

/** The commands that `--full` adds, each a step of its own. */
const COMMANDS: { title: string; command: string[] }[] = [
  { title: 'kill -9 of Weir and of its database', command: ['bin/chaos', 'kill'] },
  { title: 'pauses of replicas and database', command: ['bin/chaos', 'pause'] },
  {
    title: 'kill -9 at 48 steps of tasks, of 290',
    command: ['bin/chaos', 'tasks', '--sample', '48'],
  },
  { title: 'three sick channels', command: ['bin/chaos', 'channels'] },
  { title: 'kill -9 in the middle of a batch', command: ['bin/chaos', 'batches'] },
  { title: 'every fourth mutant', command: MUTANTS },
  { title: 'benches, short', command: ['bin/bench', '--short'] },
  { title: 'attacks, short', command: ['bin/bench', 'neighbours', '--short'] },
];

/**
 * What `bin/test --full` runs beside the tests of `bin/test`. `after_tests`: these tests have run
 * just before.
 */
export function addedSteps(
  environment: Environment,
  interrupt: Interrupt,
  after_tests: boolean,
): Step[] {
  const commands = COMMANDS.map(({ title, command }) => ({
    title: `${title} (${command.join(' ')})`,
    run: ({ failed }: Counts) => {
      const tested = command === MUTANTS && after_tests && failed === 0 ? [TESTED] : [];
      return runCommand({ command: [...command, ...tested], cwd: ROOT, environment, interrupt });
    },
  }));
  return [
    {
      title: `longer tests (${FULL_FOLDER})`,
      run: () => runBunTest({ test_arguments: [FULL_FOLDER], environment, interrupt }),
    },
    {
      title: `client programs (${CLIENTS_FOLDER})`,
      run: () => runBunTest({ test_arguments: [CLIENTS_FOLDER], environment, interrupt }),
    },
    ...commands,
  ];
}
