/**
 * The command `bin/bench` for calls. It measures Weir beside other programs, or against a commit.
 */

import { orExit } from '../test/support/arguments.ts';
import { runAgainst } from './against.ts';
import { runCalls } from './calls.ts';
import { type CallOptions, readOptions } from './options.ts';
import { shortTaskOptions } from './task-options.ts';
import { runUnfinished } from './unfinished.ts';

const options = orExit(() => readOptions(process.argv.slice(2)));

/** Exit code if nothing could be measured. Exit code 1 means that a measurement found an error. */
const NOT_MEASURED = 3;

/** A short run checks unfinished tasks too. */
async function runCallsAndTasks(calls: CallOptions): Promise<number> {
  const code = await runCalls(calls);
  return code === 0 && calls.short ? runUnfinished(shortTaskOptions()) : code;
}

const run = options.mode === 'against' ? runAgainst(options) : runCallsAndTasks(options);
process.exit(
  await run.catch((error: unknown) => {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    return NOT_MEASURED;
  }),
);
