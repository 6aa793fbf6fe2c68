/** What a call through Weir costs, beside the same call direct, through nginx and through Portkey. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSimulator } from '../test/support/simulator.ts';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import { type Contender, direct, nginx, portkey, weir } from './contenders.ts';
import { measure, quiet } from './load.ts';
import { findProgram } from './programs.ts';
import { report, type Series, table } from './report.ts';
import { writeSection } from './results-file.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '256' },
    'no-write': { type: 'boolean', default: false },
  },
});
const settings = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
};

const install = Bun.spawn([process.execPath, 'install', '--frozen-lockfile', '--silent'], {
  cwd: HERE,
});
if ((await install.exited) !== 0) throw new Error('the contenders could not be installed');

const folder = throwawayFolder('bench');
const stops: (() => Promise<unknown>)[] = [async () => removeFolder(folder)];
const stopAll = async () => {
  for (const stop of stops.splice(0).reverse()) await stop().catch(() => undefined);
};
process.on('SIGINT', () => stopAll().finally(() => process.exit(130)));

try {
  const wrk = await findProgram('wrk');
  const simulator = await startSimulator();
  stops.push(() => simulator.stop());
  const gateway = await weir(simulator.url);
  const contenders: Contender[] = [
    direct(simulator.url),
    await nginx(simulator.url, folder),
    await portkey(simulator.url),
    gateway,
  ];
  for (const contender of contenders) stops.push(() => contender.stop());
  const series: Series[] = [];
  for (const stream of [false, true]) {
    const rounds: Series['rounds'] = { direct: [], nginx: [], portkey: [], weir: [] };
    for (let round = 0; round <= settings.rounds; round += 1) {
      for (const contender of contenders) {
        await quiet();
        const result = await measure(wrk, contender.target(stream), folder, settings);
        // The first round warms everybody up: it is as long as the others, and does not count.
        if (round === 0) continue;
        rounds[contender.name].push(result);
        console.log(
          `${stream ? 'stream' : 'whole '} ${round}/${settings.rounds} ${contender.name.padEnd(8)}` +
            `${Math.round(result.requests_per_s)}/s p50 ${result.p50_ms} ms p99 ${result.p99_ms} ms` +
            `${result.errors > 0 ? ` ${result.errors} errors` : ''}`,
        );
      }
    }
    series.push({ stream, rounds });
    console.log(`\n${table({ stream, rounds })}`);
  }
  const books = await ledgerCheck(gateway.weir, simulator.url);
  console.log(books);
  if (!values['no-write']) writeSection('calls', report(series, settings, books));
} finally {
  await stopAll();
}
process.exit(0);

/** After the load the ledger must say what the simulator's books say. */
async function ledgerCheck(
  running: { base_url: string; management_token: string },
  simulatorUrl: string,
): Promise<string> {
  const balance = (await fetch(`${running.base_url}/v1/management/balance`, {
    headers: { authorization: `Bearer ${running.management_token}` },
  }).then((response) => response.json())) as Record<
    'total_deposited' | 'available' | 'held' | 'used',
    number
  >;
  const books = (await fetch(`${simulatorUrl}/_sim/books?calls=0`).then((response) =>
    response.json(),
  )) as {
    totals: { calls: number };
  };
  const gap = balance.total_deposited - balance.available - balance.held - balance.used;
  return `After the run: the simulator served ${books.totals.calls} calls in all; Weir charged ${balance.used} USD for its share, and deposits − available − held − used = ${Math.round(gap * 1e9)} nano-USD.`;
}
