/**
 * Measures many live tasks on one machine: memory and CPU, the spread of polls, the recovery after
 * kill -9, and the effect of clients that poll.
 */
import { parseArgs } from 'node:util';
import { connectDatabase } from '../db/client.ts';
import { findImbalances } from '../db/ledger/audit.ts';
import { createTestDatabase } from '../test/support/postgres.ts';
import { startSimulator } from '../test/support/simulator.ts';
import { until } from '../test/support/until.ts';
import { startWeir } from '../test/support/weir.ts';
import { cpuSeconds, residentMb } from './process.ts';
import { machine, writeSection } from './results-file.ts';
import { median } from './statistics.ts';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '2000' },
    'no-write': { type: 'boolean', default: false },
  },
});
const TASKS = Number(values.tasks);
const RATE = Number(values.rate);
/** Duration of a job. All tasks must be created before the first job ends. */
const JOB_MS = 120_000;
const WATCH_MS = 20_000;
const ACCOUNT = 'bench';

const MODELS = [
  ['veo', '/google/v1beta', 'veo-3.1', 'videos'],
  ['kling', '/kling', 'kling-3.0', 'videos'],
  ['ark', '/ark/api/v3', 'seedance-2.0', 'videos'],
  ['suno', '/suno', 'suno_music', 'music'],
] as const;

const simulator = await startSimulator();
const fresh = await createTestDatabase();
const database = connectDatabase(fresh.url, { pool: 'single' });
const channels = MODELS.map(([protocol, path, model]) => ({
  id: protocol,
  protocol,
  base_url: simulator.url + path,
  api_key: `sim-${ACCOUNT}`,
  max_concurrency: 10_000,
  models: { [model]: `${model}-physical` },
}));
const options = {
  env: { DATABASE_URL: fresh.url, WEIR_BOOTSTRAP_BALANCE_USD: '1000000' },
  config: JSON.stringify({ channels, roles: { standard: 10_000_000 } }),
};
const lines: string[] = [];
const say = (what: string, figure: string) => {
  console.log(`${what.padEnd(70)} ${figure}`);
  lines.push(`| ${what} | ${figure} |`);
};

let weir = await startWeir(options);
try {
  say('memory of Weir before', `${residentMb(weir.pid)} MB`);
  await createAll();
  await recoverFromKill();
  const quiet = await cohort(TASKS / 4, 0);
  const busy = await cohort(TASKS / 4, RATE);
  say(`${TASKS / 4} tasks: from the job's end to the task's end, p50 / p99`, quiet);
  say(`the same delay with ${RATE} status calls a second`, busy);
  const [held] = await database.sql`select sum(held_nano_usd)::int8 as held from organization`;
  const imbalances = await findImbalances(database.sql);
  say('nano-USD held at the end; imbalances', `${held?.['held']}; ${imbalances.length}`);
} finally {
  await weir.stop();
  await simulator.stop();
  await database.close();
  await fresh.drop();
}
const text = `## ${TASKS} live tasks

\`bin/bench tasks\`, ${machine()}. Weir, the simulated
providers, PostgreSQL and the clients share these cores. A quarter each of Veo, Kling, Ark and Suno jobs
of ${JOB_MS / 1_000} s. One client creates them as fast as it can. Then Weir runs without clients, is killed with -9, and starts again.

| | |
|---|---|
${lines.join('\n')}
`;
if (!values['no-write']) writeSection('tasks', text);
process.exit(0);

/** Creates all tasks, and measures them while they wait for their providers. */
async function createAll(): Promise<void> {
  const began = performance.now();
  await create(TASKS, JOB_MS);
  const seconds = (performance.now() - began) / 1_000;
  say(`creating ${TASKS} tasks`, `${seconds.toFixed(1)} s, ${Math.round(TASKS / seconds)}/s`);
  await until('all are submitted', async () => (await polls()).jobs === TASKS, JOB_MS);
  const cpu = cpuSeconds(weir.pid);
  const per_second = await watchPolls(WATCH_MS);
  const used = (cpuSeconds(weir.pid) - cpu) / (WATCH_MS / 1_000);
  say(`memory of Weir with ${TASKS} live tasks`, `${residentMb(weir.pid)} MB`);
  say('CPU of Weir while they wait', `${(used * 100).toFixed(0)} % of one core`);
  const sorted = [...per_second].sort((a, b) => a - b);
  say(
    'polls a second, sampled each second: least / median / most',
    `${sorted[0]} / ${median(sorted)} / ${sorted.at(-1)}`,
  );
}

async function recoverFromKill(): Promise<void> {
  weir.kill('SIGKILL');
  await weir.exited;
  const before = (await polls()).polled;
  const killed = performance.now();
  weir = await startWeir({ ...options, port: weir.port });
  say('from kill -9 to serving again', `${ago(killed)} s`);
  await until('polls go on', async () => (await polls()).polled > before, 60_000);
  say('from kill -9 to the first poll', `${ago(killed)} s`);
  await until(
    'every task is adopted',
    async () => (await polls()).polled >= before + TASKS || (await open()) === 0,
    120_000,
  );
  say('from kill -9 until Weir polled as often as there are tasks', `${ago(killed)} s`);
  await until('every task ends', async () => (await open()) === 0, 600_000);
  const [row] = await database.sql`
    select count(*) filter (where status = 'completed')::int4 as completed,
      (select count(*)::int4 from usage_line) as charged from task`;
  const { jobs } = await polls();
  say(
    'completed / charged / submitted in the end',
    `${row?.['completed']} / ${row?.['charged']} / ${jobs}`,
  );
}

/** Runs tasks of ten seconds each, with `rate` status calls per second. */
async function cohort(count: number, rate: number): Promise<string> {
  const since = Date.now();
  const ids = await create(count, 10_000);
  const stopPolling = rate > 0 ? pollSteadily(ids, rate) : undefined;
  await until('the cohort ends', async () => (await open()) === 0, 300_000);
  const calls_per_second = await stopPolling?.();
  if (calls_per_second !== undefined)
    say('status calls answered a second', `${Math.round(calls_per_second)}`);
  const began = new Map((await jobList()).map(({ id, began_at }) => [id, began_at]));
  const rows = await database.sql<{ job: { id: string }; ended_at: Date }[]>`
    select job, ended_at from task where created_at > ${new Date(since)}`;
  const lags = rows
    .flatMap(({ job, ended_at }) => {
      const at = began.get(job.id.split('/').at(-1) ?? '');
      return at === undefined ? [] : [Number(ended_at) - at - 10_000];
    })
    .sort((a, b) => a - b);
  const p99 = lags[Math.floor(lags.length * 0.99)] ?? Number.NaN;
  return `${(median(lags) / 1_000).toFixed(1)} / ${(p99 / 1_000).toFixed(1)} s (${lags.length} tasks)`;
}

async function create(count: number, task_ms: number): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < count; at = next++) {
      const [, , model, route] = MODELS[at % MODELS.length] as (typeof MODELS)[number];
      const response = await fetch(`${weir.base_url}/v1/${route}/generations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${weir.api_key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ model, prompt: `A lighthouse [[sim task_ms=${task_ms}]]` }),
      });
      const { id } = (await response.json()) as { id?: string };
      if (id === undefined) throw new Error(`create answered ${response.status}`);
      ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  return ids;
}

/**
 * Polls one task after the other. The returned function stops the polling and returns the polls per
 * second.
 */
function pollSteadily(ids: readonly string[], rate: number): () => Promise<number> {
  const began = performance.now();
  let [sent, answered] = [0, 0];
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * rate;
    for (; sent < due && sent - answered < 1_000; sent += 1) {
      fetch(`${weir.base_url}/v1/tasks/${ids[sent % ids.length]}`, {
        headers: { authorization: `Bearer ${weir.api_key}` },
      })
        .then((response) => response.text())
        .finally(() => {
          answered += 1;
        });
    }
  }, 5);
  return async () => {
    clearInterval(timer);
    return answered / ((performance.now() - began) / 1_000);
  };
}

async function jobList(): Promise<{ id: string; began_at: number; polls: number }[]> {
  const response = await fetch(`${simulator.url}/_sim/jobs?account=${ACCOUNT}`);
  return ((await response.json()) as { jobs: { id: string; began_at: number; polls: number }[] })
    .jobs;
}

async function polls(): Promise<{ jobs: number; polled: number }> {
  const jobs = await jobList();
  return { jobs: jobs.length, polled: jobs.reduce((sum, { polls }) => sum + polls, 0) };
}

async function watchPolls(duration_ms: number): Promise<number[]> {
  const seen: number[] = [];
  let { polled } = await polls();
  for (let at = 0; at < duration_ms; at += 1_000) {
    await Bun.sleep(1_000);
    const now = (await polls()).polled;
    seen.push(now - polled);
    polled = now;
  }
  return seen;
}

async function open(): Promise<number> {
  const [row] = await database.sql`
    select count(*)::int4 as open from task where status in ('pending', 'processing')`;
  return row?.['open'] as number;
}

function ago(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1);
}
