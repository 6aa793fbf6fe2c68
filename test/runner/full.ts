import { SAMPLE } from '../mutants/sample.ts';
import { TESTED } from '../mutants/tested.ts';
import { CLIENTS_FOLDER, FULL_FOLDER, ROOT, runAllTests } from './bun-test.ts';
import { runCommand } from './command.ts';
import type { Interrupt } from './interrupt.ts';
import type { Environment } from './servers.ts';
import { type Step, twoAtATime } from './steps.ts';

/** All of them take half an hour, so each commit tests every twentieth, and the next commit others. */
const MUTANTS = ['bin/test', '--mutants', `${SAMPLE}26`];

interface Command {
  readonly title: string;
  readonly command: readonly string[];
}

/** The longest first. */
const CHAOS: readonly Command[] = [
  {
    title: 'kill -9 at 30 steps of tasks, of 290',
    command: ['bin/chaos', 'tasks', '--sample', '30'],
  },
  { title: 'pauses of replicas and database', command: ['bin/chaos', 'pause'] },
  { title: 'kill -9 of Weir and of its database', command: ['bin/chaos', 'kill'] },
  { title: 'three sick channels', command: ['bin/chaos', 'channels'] },
  { title: 'kill -9 in the middle of a batch', command: ['bin/chaos', 'batches'] },
];
/** What measures runs alone. */
const BENCHES: readonly Command[] = [
  { title: 'benches, short', command: ['bin/bench', '--short'] },
  { title: 'attacks, short', command: ['bin/bench', 'neighbours', '--short'] },
  { title: 'the cache, short', command: ['bin/bench', 'cache', '--short'] },
  { title: 'limits, short', command: ['bin/bench', 'limits', '--short'] },
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
  const stepOf = ({ title, command }: Command, held = false): Step => ({
    title: `${title} (${command.join(' ')})`,
    run: () => runCommand({ command, cwd: ROOT, environment, interrupt, held }),
  });
  const mutants: Step = {
    title: `every twentieth mutant (${MUTANTS.join(' ')})`,
    run: ({ failed }) => {
      const tested = after_tests && failed === 0 ? [TESTED] : [];
      const command = [...MUTANTS, ...tested];
      return runCommand({ command, cwd: ROOT, environment, interrupt });
    },
  };
  return [
    {
      title: `longer tests (${FULL_FOLDER})`,
      run: () => runAllTests({ test_arguments: [FULL_FOLDER], environment, interrupt }),
    },
    {
      title: `client programs (${CLIENTS_FOLDER})`,
      run: () => runAllTests({ test_arguments: [CLIENTS_FOLDER], environment, interrupt }),
    },
    twoAtATime(
      'chaos',
      CHAOS.map((each) => stepOf(each, true)),
    ),
    mutants,
    ...BENCHES.map((each) => stepOf(each)),
  ];
}
