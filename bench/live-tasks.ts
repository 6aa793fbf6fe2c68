/**
 * Measures many live tasks on one machine: memory and CPU, the spread of polls, the recovery after
 * kill -9, and the effect of clients that poll.
 */
import { connectDatabase, type Database } from '../db/client.ts';
import { compareBooks } from '../test/support/books/compare-books.ts';
import { findMoneyNotAtRest } from '../test/support/books/money-at-rest.ts';
import { createTestDatabase } from '../test/support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../test/support/simulator.ts';
import { until } from '../test/support/until.ts';
import { type RunningWeir, startWeir, type WeirOptions } from '../test/support/weir.ts';
import { ROLES } from './contenders.ts';
import { cpuSeconds, residentMb } from './process.ts';
import { machine, writeSection } from './results-file.ts';
import { median } from './statistics.ts';
import { createTask, jobsOf, taskChannels, watchPolls } from './task-channels.ts';
import type { LiveOptions } from './task-options.ts';

/** Duration of a job. All tasks must be created before the first job ends. */
const JOB_MS = 120_000;
const WATCH_MS = 20_000;

/**
 * Runs all measurements and writes their section of `bench/RESULTS.md`. Returns the exit code: 1 if
 * a charge was wrong or money is still held. Then nothing is written.
 */
export async function runLiveTasks({ tasks, rate, write }: LiveOptions): Promise<number> {
  const simulator = await startSimulator();
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'single' });
  const run = new LiveTasks(tasks, rate, simulator, database, {
    env: { DATABASE_URL: fresh.url, WEIR_BOOTSTRAP_BALANCE_USD: '1000000' },
    config: JSON.stringify({ channels: taskChannels(simulator.url), roles: ROLES }),
  });
  let wrong = 0;
  try {
    await run.all();
    wrong = await countWrong(simulator, database);
  } finally {
    await run.stop();
    await simulator.stop();
    await database.close();
    await fresh.drop();
  }
  if (wrong > 0) {
    console.log('bench: a charge was wrong; no results are written');
    return 1;
  }
  if (write) writeSection('live-tasks', sectionOf(tasks, run.lines));
  return 0;
}

/** Compares each job with its charge. Prints what is wrong, and returns how much that is. */
async function countWrong({ url }: RunningSimulator, { sql }: Database): Promise<number> {
  const books = { simulator_url: url, sql, seed: 'none', killed: true };
  const differences = await compareBooks(books);
  const at_rest = await findMoneyNotAtRest(sql, { are_grants_returned: false });
  for (const violation of at_rest) console.error(violation);
  return differences.length + at_rest.length;
}

const sectionOf = (tasks: number, lines: string[]) => `## ${tasks} live tasks

\`bin/bench tasks --live\`, ${machine()}. Weir, the simulated
providers, PostgreSQL and the clients share these cores. A quarter each of Veo, Kling, Ark and Suno jobs
of ${JOB_MS / 1_000} s. One client creates them as fast as it can. Then Weir runs without clients, is killed with -9, and starts again.

| | |
|---|---|
${lines.join('\n')}
`;

class LiveTasks {
  readonly lines: string[] = [];
  #weir: RunningWeir | undefined;

  constructor(
    private readonly tasks: number,
    private readonly rate: number,
    private readonly simulator: RunningSimulator,
    private readonly database: Database,
    private readonly options: WeirOptions,
  ) {}

  async all(): Promise<void> {
    this.#weir = await startWeir(this.options);
    this.#say('memory of Weir before', `${residentMb(this.#running.pid)} MB`);
    await this.#createAll();
    await this.#recoverFromKill();
    const quarter = this.tasks / 4;
    const quiet = await this.#cohort(quarter, 0);
    const busy = await this.#cohort(quarter, this.rate);
    this.#say(`${quarter} tasks: from the job's end to the task's end, p50 / p99`, quiet);
    this.#say(`the same delay with ${this.rate} status calls a second`, busy);
  }

  async stop(): Promise<void> {
    await this.#weir?.stop();
  }

  get #running(): RunningWeir {
    if (!this.#weir) throw new Error('Weir is not started');
    return this.#weir;
  }

  #say(what: string, figure: string): void {
    console.log(`${what.padEnd(70)} ${figure}`);
    this.lines.push(`| ${what} | ${figure} |`);
  }

  /** Creates all tasks, and measures them while they wait for their providers. */
  async #createAll(): Promise<void> {
    const began = performance.now();
    await this.#create(this.tasks, JOB_MS);
    const seconds = (performance.now() - began) / 1_000;
    const rate = Math.round(this.tasks / seconds);
    this.#say(`creating ${this.tasks} tasks`, `${seconds.toFixed(1)} s, ${rate}/s`);
    await until('all are submitted', async () => (await this.#polls()).jobs === this.tasks, JOB_MS);
    const { pid } = this.#running;
    const cpu = cpuSeconds(pid);
    const per_second = await watchPolls(this.simulator, WATCH_MS);
    const used = (cpuSeconds(pid) - cpu) / (WATCH_MS / 1_000);
    this.#say(`memory of Weir with ${this.tasks} live tasks`, `${residentMb(pid)} MB`);
    this.#say('CPU of Weir while they wait', `${(used * 100).toFixed(0)} % of one core`);
    const sorted = [...per_second].sort((a, b) => a - b);
    this.#say(
      'polls a second, sampled each second: least / median / most',
      `${sorted[0]} / ${median(sorted)} / ${sorted.at(-1)}`,
    );
  }

  async #recoverFromKill(): Promise<void> {
    const { port } = this.#running;
    this.#running.kill('SIGKILL');
    await this.#running.exited;
    const before = (await this.#polls()).polled;
    const killed = performance.now();
    this.#weir = await startWeir({ ...this.options, port });
    this.#say('from kill -9 to serving again', `${ago(killed)} s`);
    await until('polls go on', async () => (await this.#polls()).polled > before, 60_000);
    this.#say('from kill -9 to the first poll', `${ago(killed)} s`);
    await until(
      'every task is adopted',
      async () => (await this.#polls()).polled >= before + this.tasks || (await this.#open()) === 0,
      120_000,
    );
    this.#say('from kill -9 until Weir polled as often as there are tasks', `${ago(killed)} s`);
    await until('every task ends', async () => (await this.#open()) === 0, 600_000);
    const [row] = await this.database.sql`
      select count(*) filter (where status = 'completed')::int4 as completed,
        (select count(*)::int4 from usage_line) as charged from task`;
    const { jobs } = await this.#polls();
    this.#say(
      'completed / charged / submitted in the end',
      `${row?.['completed']} / ${row?.['charged']} / ${jobs}`,
    );
  }

  /** Runs tasks of ten seconds each, with `rate` status calls per second. */
  async #cohort(count: number, rate: number): Promise<string> {
    const since = Date.now();
    const ids = await this.#create(count, 10_000);
    const stopPolling = rate > 0 ? pollSteadily(this.#running, ids, rate) : undefined;
    await until('the cohort ends', async () => (await this.#open()) === 0, 300_000);
    const calls_per_second = await stopPolling?.();
    if (calls_per_second !== undefined)
      this.#say('status calls answered a second', `${Math.round(calls_per_second)}`);
    const jobs = await jobsOf(this.simulator);
    const began = new Map(jobs.map(({ id, began_at }) => [id, began_at]));
    const rows = await this.database.sql<{ job: { id: string }; ended_at: Date }[]>`
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

  async #create(count: number, task_ms: number): Promise<string[]> {
    const ids: string[] = [];
    let next = 0;
    const worker = async () => {
      for (let at = next++; at < count; at = next++) {
        ids.push(await createTask(this.#running, at, task_ms));
      }
    };
    await Promise.all(Array.from({ length: 64 }, worker));
    return ids;
  }

  async #polls(): Promise<{ jobs: number; polled: number }> {
    const jobs = await jobsOf(this.simulator);
    return { jobs: jobs.length, polled: jobs.reduce((sum, { polls }) => sum + polls, 0) };
  }

  async #open(): Promise<number> {
    const [row] = await this.database.sql`
      select count(*)::int4 as open from task where status in ('pending', 'processing')`;
    return row?.['open'] as number;
  }
}

/**
 * Polls one task after the other. The returned function stops the polling and returns the polls per
 * second.
 */
function pollSteadily(
  weir: RunningWeir,
  ids: readonly string[],
  rate: number,
): () => Promise<number> {
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

function ago(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1);
}
