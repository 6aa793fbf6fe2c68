/** The command line of `bin/chaos`: each experiment prints its counts. */
import { parseArgs } from 'node:util';
import { runBatchKills } from './batches.ts';
import { runBrownOut } from './channels.ts';
import { runKills } from './kill.ts';
import { runTaskKills } from './tasks.ts';
import { printTaskKills } from './tasks-table.ts';
import { watchThroughKill, watchViolations } from './watch.ts';

const HELP = `Usage: bin/chaos <experiment> [options]

  kill     kill -9 under streaming load, restart, compare the ledger with the provider's books
             --victim weir|database   (default: both)
             --kills N                kills in one run (default 3)
             --streams N              concurrent clients (default 50)
             --load-ms N              load before each kill (default 3000)

  tasks    kill -9 at every step of a generation task's life, for every kind of provider
             --step NAME --provider NAME   only these, by a part of their names (default: all)
             --parallel N             cases at a time (default 4)
             --sample N --seed N      only N cases, chosen by the seed (default: all)

  watch    kill -9 of the owner of a task that is watched on other replicas
             --redis URL              the bus of the replicas (default: PostgreSQL)

  channels of three channels one turns slow, one fails 30 % of its calls, one dies and comes back
             --clients N --fault-ms N (default 40 and 20000)

  batches  kill -9 while a message batch runs, restart, compare results and ledger
             --kills N --requests N   (default 5 and 400)

  durable  the same for two replicas of the durable actor runtime
             --seed N --runs N --actors N --faults P --kills N --trace

  ledger   two replicas in one process, seeded faults and kills at every commit point
             --seed N --runs N --calls N --cap N --faults P --kills N --trace
`;

const [experiment] = process.argv.slice(2);
switch (experiment) {
  case 'kill':
    process.exit((await kill()) ? 0 : 1);
    break;
  case 'tasks':
    process.exit((await tasks()) ? 0 : 1);
    break;
  case 'watch':
    process.exit((await watch()) ? 0 : 1);
    break;
  case 'channels':
    process.exit((await channels()) ? 0 : 1);
    break;
  case 'batches':
    process.exit((await batches()) ? 0 : 1);
    break;
  case 'ledger':
  case 'durable':
    await import('../sim/main.ts');
    break;
  default:
    console.log(HELP);
    process.exit(experiment === '--help' ? 0 : 2);
}

async function watch(): Promise<boolean> {
  const { values } = parseArgs({
    allowPositionals: true,
    options: { redis: { type: 'string' } },
  });
  const report = await watchThroughKill(values.redis);
  const { clients, watched, log, errors, ...counts } = report;
  const events = clients.map((seen) => seen.map(({ id, event }) => `${id} ${event}`).join(', '));
  console.log({ ...counts, log: log.length, watched: watched.length, events, errors });
  const violations = watchViolations(report);
  for (const violation of violations) console.error(violation);
  return violations.length === 0;
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

async function tasks(): Promise<boolean> {
  const { values } = parseArgs({
    allowPositionals: true,
    options: {
      step: { type: 'string' },
      provider: { type: 'string' },
      parallel: { type: 'string', default: '4' },
      sample: { type: 'string' },
      seed: { type: 'string' },
    },
  });
  const { step, provider, sample } = values;
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (sample !== undefined) console.log(`${sample} cases, chosen by --seed ${seed}`);
  const reports = await runTaskKills(
    {
      parallel: Number(values.parallel),
      ...(sample === undefined ? {} : { sample: Number(sample), seed }),
      ...(step === undefined ? {} : { step }),
      ...(provider === undefined ? {} : { provider }),
    },
    ({ step, provider, violations }) => {
      console.error(`${violations.length > 0 ? 'WRONG' : 'right'}  ${step} / ${provider}`);
      // The reasons are printed at once, because a run that is stopped early would lose them.
      for (const violation of violations) console.error(`       ${violation}`);
    },
  );
  printTaskKills(reports);
  return reports.length > 0 && reports.every(({ violations }) => violations.length === 0);
}

async function batches(): Promise<boolean> {
  const { values } = parseArgs({
    allowPositionals: true,
    options: {
      kills: { type: 'string', default: '5' },
      requests: { type: 'string', default: '400' },
    },
  });
  const report = await runBatchKills({
    kills: Number(values.kills),
    requests: Number(values.requests),
    work_ms: 1_000,
  });
  console.table(report.violations.length > 0 ? report : { ...report, violations: 'none' });
  return report.violations.length === 0;
}

async function channels(): Promise<boolean> {
  const { values } = parseArgs({
    allowPositionals: true,
    options: {
      clients: { type: 'string', default: '40' },
      'fault-ms': { type: 'string', default: '20000' },
    },
  });
  const report = await runBrownOut({
    clients: Number(values.clients),
    fault_ms: Number(values['fault-ms']),
  });
  const { calls, succeeded, success, ...byChannel } = report;
  console.log(`${calls} calls, ${succeeded} succeeded: ${(success * 100).toFixed(3)} %`);
  const rows = Object.keys(report.wasted).map((channel) => [
    channel,
    Object.fromEntries(
      Object.entries(byChannel).map(([what, figures]) => [what, String(figures[channel])]),
    ),
  ]);
  console.table(Object.fromEntries(rows));
  // Only the slow and the dead channel recover for certain. The circuit of the failing channel may
  // never have been open.
  const herd = Math.max(report.herd['slow'] ?? 0, report.herd['dead'] ?? 0);
  console.log(`no thundering herd: ${herd <= 1 ? 'right' : 'WRONG'}`);
  return success >= 0.999 && herd <= 1;
}
