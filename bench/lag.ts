/**
 * Measures how much later a client sees an event of a task if its stream comes from a replica that
 * did not commit the event. Two replicas share a database. Their messages go over PostgreSQL, over
 * Redis, or are lost.
 */
import { orExit, parseOptions, whole } from '../test/support/arguments.ts';
import { compareBooks } from '../test/support/books/compare-books.ts';
import { createVideo } from '../test/support/create-video.ts';
import { openEvents } from '../test/support/event-source.ts';
import { createTestDatabase } from '../test/support/postgres.ts';
import { startTestRedis } from '../test/support/redis.ts';
import { startSimulator } from '../test/support/simulator.ts';
import { type RunningWeir, startWeir } from '../test/support/weir.ts';
import { machine, writeSection } from './results-file.ts';
import { median } from './statistics.ts';

const { tasks: TASKS, write } = orExit(() => {
  const options = parseOptions(process.argv.slice(2), {
    tasks: { type: 'string' },
    'no-write': { type: 'boolean' },
  });
  return { tasks: whole(options, 'tasks', 40), write: options['no-write'] !== true };
});
const MODEL = 'grok-imagine-video';
const TASK_MS = 8_000;
/** The longest lag, at the 99th percentile. */
const TARGET_MS = { PostgreSQL: 100, Redis: 100, lost: 2_000 };

type Carrier = keyof typeof TARGET_MS;

const simulator = await startSimulator();
const lines: string[] = [];
let isMissed = false;
let differences = 0;
for (const carrier of ['PostgreSQL', 'Redis', 'lost'] as const) {
  const lags = (await measure(carrier)).sort((a, b) => a - b);
  const at = (share: number) =>
    lags[Math.min(lags.length - 1, Math.floor(share * lags.length))] ?? 0;
  const isLate = lags.length < TASKS || at(0.99) > TARGET_MS[carrier];
  isMissed ||= isLate;
  const cells = [median(lags), at(0.99), at(1)].map((lag) => lag.toFixed(0));
  const verdict = `${TARGET_MS[carrier]}${isLate ? ' (missed)' : ''}`;
  lines.push(`| ${[carrier, lags.length, ...cells, verdict].join(' | ')} |`);
  console.log(lines.at(-1));
}
await simulator.stop();
const text = `## The lag of events between replicas

\`bin/bench lag\`, ${machine()}. Each event of ${TASKS} tasks reaches two clients: one on the replica that committed
it, and one on another replica. The lag is the time between the two arrivals. In the row \`lost\`, Redis is stopped, so
that no message arrives and the live actors are compared with their rows.

| messages over | events | median, ms | p99, ms | most, ms | target of the p99, ms |
|---|---|---|---|---|---|
${lines.join('\n')}
`;
if (differences > 0) console.error('bench: a charge was wrong; no results are written');
else if (write) writeSection('lag', text);
process.exit(isMissed || differences > 0 ? 1 : 0);

/** Returns the lag of each event, ms. */
async function measure(carrier: Carrier): Promise<number[]> {
  const fresh = await createTestDatabase();
  const redis = carrier === 'PostgreSQL' ? undefined : await startTestRedis();
  const channel = {
    ...{
      id: 'xai',
      protocol: 'xai',
      base_url: `${simulator.url}/xai/v1`,
      api_key: `sim-${carrier}`,
    },
    ...{ models: { [MODEL]: 'physical' }, max_concurrency: TASKS },
  };
  const options = {
    config: JSON.stringify({ channels: [channel], roles: { standard: 1_000_000 } }),
    env: {
      DATABASE_URL: fresh.url,
      WEIR_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
      WEIR_BOOTSTRAP_BALANCE_USD: '10000',
      ...(redis ? { REDIS_URL: redis.url } : {}),
    },
  };
  const owner = await startWeir(options);
  const other = await startWeir(options);
  try {
    const ids = await Promise.all(
      Array.from({ length: TASKS }, () => createVideo(owner, MODEL, TASK_MS)),
    );
    if (carrier === 'lost') await redis?.stop();
    const lags = await Promise.all(
      ids.map(async (id) => {
        const [here, there] = await Promise.all([arrivals(owner, id), arrivals(other, id)]);
        const both = [...there].filter(([event]) => here.has(event));
        return both.map(([event, at]) => Math.max(0, at - (here.get(event) ?? at)));
      }),
    );
    await owner.stop();
    await other.stop();
    const { url: simulator_url } = simulator;
    const books = { simulator_url, sql: fresh.sql, seed: carrier, accounts: [carrier] };
    differences += (await compareBooks(books)).length;
    return lags.flat();
  } finally {
    await owner.stop();
    await other.stop();
    await fresh.drop();
    if (carrier === 'Redis') await redis?.stop();
  }
}

/** Reads the stream of a task. Returns when each event arrived, without the state at the start. */
async function arrivals(weir: RunningWeir, id: string): Promise<Map<number, number>> {
  const stream = await openEvents(`${weir.base_url}/v1/tasks/${id}/events`, weir.api_key);
  const times = new Map<number, number>();
  await stream.next();
  for (let event = await stream.next(); event; event = await stream.next()) {
    times.set(event.id, performance.now());
  }
  return times;
}
