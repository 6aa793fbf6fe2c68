/** Experiments that break things on purpose, each one command, each printing what it counted. */
import { parseArgs } from 'node:util';
import { runKills } from './kill.ts';

const HELP = `Usage: bin/chaos <experiment> [options]

  kill     kill -9 under streaming load, restart, compare the ledger with the provider's books
             --victim weir|database   (default: both)
             --kills N                kills in one run (default 3)
             --streams N              concurrent clients (default 50)
             --load-ms N              load before each kill (default 3000)

  durable  two replicas of the durable actor runtime, likewise
             --seed N --runs N --actors N --faults P --kills N --trace

  ledger   two replicas in one process, seeded faults and kills at every commit point
             --seed N --runs N --calls N --cap N --faults P --kills N --trace
`;

const [experiment] = process.argv.slice(2);
switch (experiment) {
  case 'kill':
    process.exit((await kill()) ? 0 : 1);
    break;
  case 'ledger':
  case 'durable':
    await import('../sim/main.ts');
    break;
  default:
    console.log(HELP);
    process.exit(experiment === '--help' ? 0 : 2);
}

async function kill(): Promise<boolean> {
  const { values } = parseArgs({
    allowPositionals: true,
    options: {
      victim: { type: 'string' },
      kills: { type: 'string', default: '3' },
      streams: { type: 'string', default: '50' },
      'load-ms': { type: 'string', default: '3000' },
    },
  });
  const victims = values.victim === undefined ? ['weir', 'database'] : [values.victim];
  let clean = true;
  for (const victim of victims) {
    if (victim !== 'weir' && victim !== 'database') throw new Error(`no such victim: ${victim}`);
    const report = await runKills({
      victim,
      kills: Number(values.kills),
      streams: Number(values.streams),
      load_ms: Number(values['load-ms']),
    });
    console.log(`kill -9 of ${victim}, ${values.kills} times, ${values.streams} streams`);
    console.table(report.violations.length > 0 ? report : { ...report, violations: 'none' });
    clean &&= report.violations.length === 0;
  }
  return clean;
}
