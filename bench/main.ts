/**
 * The command `bin/bench` for calls. It measures Weir beside other programs, or against a commit.
 */
import { runAgainst } from './against.ts';
import { runCalls } from './calls.ts';
import { ArgumentError, readOptions } from './options.ts';

const options = (() => {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    console.error(`${error.message} Try --help.`);
    process.exit(2);
  }
})();

/** Exit code if nothing could be measured. Exit code 1 means that a measurement found an error. */
const NOT_MEASURED = 3;

const run = options.mode === 'against' ? runAgainst(options) : runCalls(options);
process.exit(
  await run.catch((error: unknown) => {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    return NOT_MEASURED;
  }),
);
