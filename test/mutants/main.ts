/**
 * `bin/test --mutants [NAME]`: applies one mutant at a time and runs the tests that must detect it. A
 * mutant that survives shows a gap in the tests.
 */
import { availableParallelism } from 'node:os';
import { ACCESS } from './list/access.ts';
import { ACCOUNTS } from './list/accounts.ts';
import { ALERTS } from './list/alerts.ts';
import { BOUNDS } from './list/bounds.ts';
import { BUDGETS } from './list/budgets.ts';
import { BUS } from './list/bus.ts';
import { CACHE } from './list/cache.ts';
import { CHANNELS } from './list/channels.ts';
import { CONTRACTS } from './list/contracts.ts';
import { DEBUG } from './list/debug.ts';
import { DURABLE } from './list/durable.ts';
import { LEDGER } from './list/ledger.ts';
import { LEDGER_ROWS } from './list/ledger-rows.ts';
import { LIMITS } from './list/limits.ts';
import { LISTS } from './list/lists.ts';
import { LIVE_ACTORS } from './list/live-actors.ts';
import { PARAMETERS } from './list/parameters.ts';
import { PEOPLE_MUTANTS } from './list/people.ts';
import { PRICES } from './list/prices.ts';
import { QUOTA } from './list/quota.ts';
import { RECORDS } from './list/records.ts';
import { REPEATS } from './list/repeats.ts';
import { REPLICAS } from './list/replicas.ts';
import { RETENTION } from './list/retention.ts';
import { ROUTING } from './list/routing.ts';
import { START } from './list/start.ts';
import { TASKS } from './list/tasks.ts';
import { TRANSPORT } from './list/transport.ts';
import { VENDORS } from './list/vendors.ts';
import { type Candidate, candidatesOf } from './mutant.ts';
import { SAMPLE, sampleOf, turnOfCommit } from './sample.ts';
import { TESTED } from './tested.ts';
import { Tree } from './tree.ts';

export const MUTANTS = candidatesOf([
  ...ACCESS,
  ...ACCOUNTS,
  ...ALERTS,
  ...PEOPLE_MUTANTS,
  ...QUOTA,
  ...LEDGER,
  ...LEDGER_ROWS,
  ...BUDGETS,
  ...BUS,
  ...CACHE,
  ...CHANNELS,
  ...PARAMETERS,
  ...PRICES,
  ...BOUNDS,
  ...RECORDS,
  ...REPEATS,
  ...REPLICAS,
  ...RETENTION,
  ...ROUTING,
  ...START,
  ...TASKS,
  ...TRANSPORT,
  ...CONTRACTS,
  ...DEBUG,
  ...DURABLE,
  ...LIMITS,
  ...LISTS,
  ...LIVE_ACTORS,
  ...VENDORS,
]);
/**
 * Number of mutants that run at the same time. More mutants would only compete for the two
 * PostgreSQL servers.
 */
const MAX_PARALLEL = 2;
/** Number of simulated schedules of one test. The first few already show a defect of the ledger. */
const SCHEDULES = '20';

/**
 * `killed`: a test failed. `survived`: every test passed. `equivalent`: every test passed, as the list
 * says. `not equivalent`: a test failed, although the list says that none can. `not applied`: the mutant
 * was not tested.
 */
type Outcome = 'killed' | 'survived' | 'equivalent' | 'not equivalent' | 'not applied';

/**
 * Runs the mutants whose path or name contains one of the names among `given`; by default all. With
 * `--sample=N`, about N of them, others at each commit. Returns the exit code.
 */
export async function runMutants(
  given: readonly string[],
  environment: Record<string, string | undefined>,
): Promise<number> {
  const names = given.filter((argument) => argument !== TESTED && !argument.startsWith(SAMPLE));
  const named = MUTANTS.filter(
    ({ path, name }) =>
      names.length === 0 || names.some((each) => `${path}: ${name}`.includes(each)),
  );
  const size = Number(given.find((argument) => argument.startsWith(SAMPLE))?.slice(SAMPLE.length));
  const chosen = size > 0 ? sampleOf(named, size, turnOfCommit()) : named;
  if (chosen.length === 0) {
    console.error(`weir: no mutant has a path or name with ${names.join(' or ')}`);
    return 2;
  }
  const few = { ...environment, WEIR_TEST_SCHEDULES: SCHEDULES };
  const count = Math.min(MAX_PARALLEL, availableParallelism(), chosen.length);
  const trees = Array.from({ length: count }, () => new Tree(few));
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort();
    for (const tree of trees) tree.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, interrupt);
  try {
    const isTested = given.includes(TESTED) || (await testsPass(trees, chosen, stop.signal));
    if (!isTested) return stop.signal.aborted ? 130 : 1;
    const outcomes = await runAll(trees, chosen, stop.signal);
    return stop.signal.aborted ? 130 : summarize(outcomes);
  } finally {
    for (const tree of trees) tree.remove();
  }
}

/** True if every test file passes without a mutant. A file that fails anyway detects no mutant. */
async function testsPass(
  trees: readonly Tree[],
  chosen: readonly Candidate[],
  signal: AbortSignal,
): Promise<boolean> {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
  let passed = true;
  await eachOnATree(trees, files, signal, async (tree, file) => {
    const { verdict, output } = await tree.run([file]);
    if (verdict === 'passed' || signal.aborted) return;
    passed = false;
    console.error(`${file} ${verdict} without a mutant:\n${output}`);
  });
  if (!signal.aborted) console.log(`${files.length} test files pass without mutants`);
  return passed;
}

async function runAll(
  trees: readonly Tree[],
  chosen: readonly Candidate[],
  signal: AbortSignal,
): Promise<Map<Candidate, Outcome>> {
  const outcomes = new Map<Candidate, Outcome>();
  await eachOnATree(trees, chosen, signal, async (tree, mutant) => {
    const started_ms = performance.now();
    const { outcome, why } = await outcomeOf(tree, mutant);
    if (signal.aborted) return;
    outcomes.set(mutant, outcome);
    const seconds = ((performance.now() - started_ms) / 1_000).toFixed(1);
    const note = why ? ` (${why})` : '';
    console.log(`${outcome}: ${mutant.path}: ${mutant.name}${note} [${seconds} s]`);
  });
  return outcomes;
}

async function outcomeOf(
  tree: Tree,
  mutant: Candidate,
): Promise<{ outcome: Outcome; why?: string }> {
  const { equivalent_because } = mutant;
  try {
    const { verdict, test } = await tree.runMutant(mutant.path, mutant, mutant.tests);
    if (verdict === 'passed') {
      return equivalent_because === undefined
        ? { outcome: 'survived' }
        : { outcome: 'equivalent', why: equivalent_because };
    }
    // The program did not load, so no test ran.
    if (verdict === 'failed' && !test) return { outcome: 'not applied', why: 'no test failed' };
    const outcome = equivalent_because === undefined ? 'killed' : 'not equivalent';
    return { outcome, why: test ?? verdict };
  } catch (error) {
    return { outcome: 'not applied', why: (error as Error).message };
  }
}

/** Runs `work` for each item in order. Each tree works on one item at a time. */
async function eachOnATree<Item>(
  trees: readonly Tree[],
  items: readonly Item[],
  signal: AbortSignal,
  work: (tree: Tree, item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  await Promise.all(
    trees.map(async (tree) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) {
        if (signal.aborted) return;
        await work(tree, item);
      }
    }),
  );
}

function summarize(outcomes: ReadonlyMap<Candidate, Outcome>): number {
  const all = [...outcomes];
  const of = (outcome: Outcome) => all.filter(([, each]) => each === outcome).length;
  const failed = all.filter(([, outcome]) => outcome !== 'killed' && outcome !== 'equivalent');
  for (const [{ path, name }, outcome] of failed) console.log(`${outcome}: ${path}: ${name}`);
  console.log(
    `${all.length} mutants: ${of('killed')} killed, ${of('survived')} survived, ` +
      `${of('equivalent')} equivalent, ${of('not equivalent')} not equivalent, ` +
      `${of('not applied')} not applied`,
  );
  console.log(`${all.length - failed.length} passed, ${failed.length} failed`);
  return failed.length > 0 ? 1 : 0;
}
