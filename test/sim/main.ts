/**
 * Replays or explores seeded schedules: `bin/chaos ledger --seed N --runs M --faults P`.
 * Prints every failing seed with its trace, and the totals.
 */
import { parseArgs } from 'node:util';
import { openSimulation } from './many.ts';

const HELP = `Usage: bin/chaos ledger [options]

Two replicas of lane and quota on a real PostgreSQL, in an order that the seed decides.

  --seed N     the first seed (default 1)
  --runs N     how many seeds (default 1)
  --calls N    calls of one run (default 24)
  --cap N      calls that the cap of the key pays for (default 10)
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
    faults: { type: 'string', default: '0.2' },
    kills: { type: 'string', default: '2' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help || positionals[0] !== 'ledger') {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

const simulation = await openSimulation();
const first = Number(values.seed);
const totals = { runs: 0, steps: 0, served: 0, refused: 0, faults: 0, kills: 0, failing_seeds: 0 };
for (let seed = first; seed < first + Number(values.runs); seed += 1) {
  const run = await simulation.run({
    seed,
    calls: Number(values.calls),
    capCalls: Number(values.cap),
    faults: Number(values.faults),
    kills: Number(values.kills),
  });
  const broken = [...run.violations, ...run.falseRefusals];
  if (values.trace || broken.length > 0) console.log(run.trace.join('\n'));
  if (broken.length > 0) console.log(`seed ${seed} FAILS: ${broken.join('; ')}`);
  totals.runs += 1;
  totals.steps += run.trace.length;
  totals.served += run.served;
  totals.refused += run.refused;
  totals.faults += run.faults;
  totals.kills += run.kills;
  totals.failing_seeds += broken.length > 0 ? 1 : 0;
}
console.log(`seeds ${first}–${first + totals.runs - 1}`, totals);
await simulation.close();
process.exit(totals.failing_seeds === 0 ? 0 : 1);
