/**
 * `bin/test --mutants [NAME]`: breaks the product in one place at a time and runs the tests that must
 * notice. A mutant that no test notices is a gap in the tests.
 */
import { availableParallelism } from 'node:os';
import { LEDGER } from './list/ledger.ts';
import { PRICES } from './list/prices.ts';
import { QUOTA } from './list/quota.ts';
import { ROUTING } from './list/routing.ts';
import { TASKS } from './list/tasks.ts';
import { type Candidate, candidatesOf } from './mutant.ts';
import { Tree } from './tree.ts';

export const MUTANTS = candidatesOf([...QUOTA, ...LEDGER, ...PRICES, ...ROUTING, ...TASKS]);
/** Side by side: more would share what the two PostgreSQL servers can do. */
const MAX_PARALLEL = 2;
/** Simulated schedules of one test: a mistake in money shows in the first few. */
const SCHEDULES = '20';

/** `killed`: a test failed. `explained`: no test can fail, and the list says why. */
type Outcome = 'killed' | 'explained' | 'survived' | 'not applied' | 'explanation wrong';

/** Runs the mutants whose path or name contains one of `names`; all without names. Returns the exit code. */
export async function runMutants(
  names: readonly string[],
  environment: Record<string, string | undefined>,
): Promise<number> {
  const chosen = MUTANTS.filter(
    ({ path, name }) =>
      names.length === 0 || names.some((each) => `${path}: ${name}`.includes(each)),
  );
  if (chosen.length === 0) {
    console.error(`weir: no mutant is named ${names.join(' or ')}`);
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
    if (!(await testsPass(trees, chosen, stop.signal))) return stop.signal.aborted ? 130 : 1;
    const outcomes = await tryAll(trees, chosen, stop.signal);
    return stop.signal.aborted ? 130 : summarize(outcomes);
  } finally {
    for (const tree of trees) tree.remove();
  }
}

/** True if every named test file passes on its own: one that fails anyway notices nothing. */
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
    console.error(`${file} ${verdict} without any mutant:\n${output}`);
  });
  if (!signal.aborted) console.log(`${files.length} test files pass without mutants`);
  return passed;
}

async function tryAll(
  trees: readonly Tree[],
  chosen: readonly Candidate[],
  signal: AbortSignal,
): Promise<Map<Candidate, Outcome>> {
  const outcomes = new Map<Candidate, Outcome>();
  await eachOnATree(trees, chosen, signal, async (tree, mutant) => {
    const began = performance.now();
    const { outcome, why } = await outcomeOf(tree, mutant);
    if (signal.aborted) return;
    outcomes.set(mutant, outcome);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const note = why ? ` (${why})` : '';
    console.log(`${outcome}: ${mutant.path}: ${mutant.name}${note} [${seconds} s]`);
  });
  return outcomes;
}

async function outcomeOf(
  tree: Tree,
  mutant: Candidate,
): Promise<{ outcome: Outcome; why?: string }> {
  const { stands } = mutant;
  try {
    const { verdict, test } = await tree.runMutant(mutant.path, mutant, mutant.tests);
    if (verdict === 'passed') {
      return stands === undefined ? { outcome: 'survived' } : { outcome: 'explained', why: stands };
    }
    // A program that cannot even be loaded shows nothing of the tests.
    if (verdict === 'failed' && !test) return { outcome: 'not applied', why: 'no test failed' };
    const outcome = stands === undefined ? 'killed' : 'explanation wrong';
    return { outcome, why: test ?? verdict };
  } catch (error) {
    return { outcome: 'not applied', why: (error as Error).message };
  }
}

/** Works through `items` in order, as many at a time as there are trees. */
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
  const failed = all.filter(([, outcome]) => outcome !== 'killed' && outcome !== 'explained');
  for (const [{ path, name }, outcome] of failed) console.log(`${outcome}: ${path}: ${name}`);
  console.log(
    `${all.length} mutants: ${of('killed')} killed, ${of('explained')} explained, ` +
      `${of('survived')} survived, ${of('not applied')} not applied, ` +
      `${of('explanation wrong')} with a wrong explanation`,
  );
  console.log(`${all.length - failed.length} passed, ${failed.length} failed`);
  return failed.length > 0 ? 1 : 0;
}
