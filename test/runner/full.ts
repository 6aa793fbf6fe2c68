import { FULL_FOLDER, ROOT, runBunTest } from './bun-test.ts';
import { runCommand } from './command.ts';
import type { Interrupt } from './interrupt.ts';
import type { Environment } from './servers.ts';
import type { Step } from './steps.ts';

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
  { title: 'mutants', command: ['bin/test', '--mutants'] },
  { title: 'benches, short', command: ['bin/bench', '--short'] },
  { title: 'attacks, short', command: ['bin/bench', 'neighbours', '--short'] },
];

/** What `bin/test --full` runs beside the tests of `bin/test`. */
export function addedSteps(environment: Environment, interrupt: Interrupt): Step[] {
  const commands = COMMANDS.map(({ title, command }) => ({
    title: `${title} (${command.join(' ')})`,
    run: () => runCommand({ command, cwd: ROOT, environment, interrupt }),
  }));
  return [
    {
      title: `longer tests (${FULL_FOLDER})`,
      run: () => runBunTest({ test_arguments: [FULL_FOLDER], environment, interrupt }),
    },
    ...commands,
  ];
}
