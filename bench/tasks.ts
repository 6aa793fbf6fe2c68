/** The command `bin/bench tasks`. */
import { orExit } from '../test/support/arguments.ts';
import { runLiveTasks } from './live-tasks.ts';
import { readTaskOptions } from './task-options.ts';
import { runUnfinished } from './unfinished.ts';

const options = orExit(() => readTaskOptions(process.argv.slice(2)));

/** Exit code if nothing could be measured. Exit code 1 means that a target is missed. */
const NOT_MEASURED = 3;

const run = options.mode === 'live' ? runLiveTasks(options) : runUnfinished(options);
process.exit(
  await run.catch((error: unknown) => {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    return NOT_MEASURED;
  }),
);
