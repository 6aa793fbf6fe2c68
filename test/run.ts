/**
 * `bin/test`: starts the servers that the tests share, runs the tests, stops the servers, and says
 * in one plain line how many tests passed.
 */
import { join } from 'node:path';
import { runMutants } from './mutants/main.ts';
import { readArguments, type TestArguments } from './runner/arguments.ts';
import { runAllTests, runBunTest } from './runner/bun-test.ts';
import { addedSteps } from './runner/full.ts';
import { Interrupt } from './runner/interrupt.ts';
import { ALLOW_MISSING, MISSING_FILE, readMissing } from './runner/missing.ts';
import { type Environment, startServers } from './runner/servers.ts';
import { runSteps, type Step } from './runner/steps.ts';
import { removeFolder, throwawayFolder } from './support/throwaway.ts';

const USAGE_ERROR = 2;
const INTERRUPTED = 130;

const interrupt = new Interrupt();
interrupt.listen();
process.exitCode = await main(process.argv.slice(2));
process.exit();

async function main(given: readonly string[]): Promise<number> {
  let asked: TestArguments;
  try {
    asked = readArguments(given);
  } catch (error) {
    console.error(`weir: ${(error as Error).message}; see bin/test --help`);
    return USAGE_ERROR;
  }
  try {
    return await runTests(asked);
  } catch (error) {
    console.error(error);
    return 1;
  }
}

async function runTests(asked: TestArguments): Promise<number> {
  const folder = throwawayFolder('missing');
  const missing_file = join(folder, 'missing.jsonl');
  const servers = await startServers();
  try {
    const environment = {
      ...servers.environment,
      [MISSING_FILE]: missing_file,
      ...(asked.allow_missing ? { [ALLOW_MISSING]: '1' } : {}),
    };
    const [first, ...names] = asked.rest;
    if (first === '--mutants') return await runMutants(names, environment);
    const { succeeded } = await runSteps(stepsOf(asked, environment), {
      stopped: () => interrupt.signal !== undefined,
      missing: () => readMissing(missing_file),
      print: (line) => console.log(line),
    });
    if (interrupt.signal !== undefined) return INTERRUPTED;
    return succeeded ? 0 : 1;
  } finally {
    await servers.stop();
    removeFolder(folder);
  }
}

function stepsOf(asked: TestArguments, environment: Environment): Step[] {
  const tests = {
    title: 'tests',
    run: () => {
      const options = { test_arguments: asked.rest, environment, interrupt };
      return asked.rest.length === 0 ? runAllTests(options) : runBunTest(options);
    },
  };
  return [
    ...(asked.only_added ? [] : [tests]),
    ...(asked.full ? addedSteps(environment, interrupt, !asked.only_added) : []),
  ];
}
