/**
 * Runs seeded schedules: `bin/chaos ledger --seed N --runs M --faults P`, `mishaps` or `durable`. Prints every
 * failing seed with its trace, and the totals.
 */
import { parseArgs } from 'node:util';
import { openDurableSimulation, openMishaps, openSimulation } from './many.ts';

const HELP = `Usage: bin/chaos ledger|mishaps|durable [options]

Two replicas on a real PostgreSQL, in an order that the seed decides: of lane and quota (ledger),
the same with outages, stopped processes and overruns (mishaps: only --seed, --runs, --trace),
or of the durable actor runtime (durable).

  --seed N     the first seed (default 1)
  --runs N     how many seeds (default 1)
  --calls N    calls of one run (default 24)
  --cap N      calls that the cap of the key pays for (default 10)
  --actors N   durable actors of one run (default 4)
  --faults P   chance of a lost connection or a kill at a commit point (default 0.2)
  --kills N    replicas that may be killed in one run (default 2)
  --trace      print what happened, step by step
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    calls: { type: 'string', default: '24' },
    cap: { type: 'string', default: '10' },
    actors: { type: 'string', default: '4' },
    faults: { type: 'string', default: '0.2' },
    kills: { type: 'string', default: '2' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const [subject] = positionals;
const SIMULATIONS = {
  ledger: openSimulation,
  mishaps: openMishaps,
  durable: openDurableSimulation,
};
if (values.help || subject === undefined || !(subject in SIMULATIONS)) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

const simulation = await SIMULATIONS[subject as keyof typeof SIMULATIONS]();
const first = Number(values.seed);
const totals: Record<string, number> = { runs: 0, steps: 0, failing_seeds: 0 };
for (let seed = first; seed < first + Number(values.runs); seed += 1) {
  const run = await simulation.run({
    seed,
    calls: Number(values.calls),
    capCalls: Number(values.cap),
    actors: Number(values.actors),
    faults: Number(values.faults),
    kills: Number(values.kills),
  });
  const broken = [...run.violations, ...('falseRefusals' in run ? run.falseRefusals : [])];
  if (values.trace || broken.length > 0) console.log(run.trace.join('\n'));
  if (broken.length > 0) console.log(`seed ${seed} FAILS: ${broken.join('; ')}`);
  add('runs', 1);
  add('steps', run.trace.length);
  add('failing_seeds', broken.length > 0 ? 1 : 0);
  for (const [name, value] of Object.entries(run)) {
    if (typeof value === 'number' && name !== 'seed') add(name, value);
  }
}
console.log(`seeds ${first}–${first + Number(values.runs) - 1}`, totals);
await simulation.close();
process.exit(totals['failing_seeds'] === 0 ? 0 : 1);

function add(name: string, value: number): void {
  totals[name] = (totals[name] ?? 0) + value;
}
