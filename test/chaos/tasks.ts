/**
 * The kill matrix of durable tasks. Weir is killed with -9 at every step of a task, for every
 * kind of provider, and started again. Each task must end correctly: completed and charged once, or
 * failed and refunded once. The provider's books count its submissions.
 */
import { connectDatabase, type Sql } from '../../db/client.ts';
import { findImbalances } from '../../db/ledger/audit.ts';
import { Random } from '../sim/random.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import type { Trait } from './tasks-provider.ts';
import { type Provider, SUBJECTS, type Subject, stopSharedSimulator } from './tasks-subject.ts';

export interface TaskKillOptions {
  /** Parts of the names of providers and steps to run; default: all. */
  provider?: string;
  step?: string;
  /** Number of cases that run at a time. */
  parallel: number;
  /** Runs only this many cases, chosen by `seed`; default: all. */
  sample?: number;
  /** Seed of the order of the cases; default: 1. */
  seed?: number;
}

export interface CaseReport {
  step: string;
  provider: string;
  charged: number;
  submitted: number;
  violations: string[];
}

interface Step {
  readonly name: string;
  /** True if the job must fail, so that its money is refunded. */
  readonly fails?: boolean;
  readonly only?: 'job' | 'inline';
}

/**
 * The steps. They are every commit of a task, every point between a commit and its effect, and
 * points inside an effect.
 */
export const STEPS: readonly Step[] = [
  { name: 'pending.submitting, written and not committed' },
  { name: 'submit, not begun' },
  { name: 'submit, nothing sent yet' },
  { name: 'submit, accepted upstream' },
  { name: 'submit, done and not committed' },
  { name: 'processing.waiting, written and not committed', only: 'job' },
  { name: 'poll, not begun', only: 'job' },
  { name: 'poll, done and not committed', only: 'job' },
  { name: 'processing.collecting, written and not committed' },
  { name: 'collect, not begun' },
  { name: 'collect, done and not committed' },
  { name: 'processing.settling, written and not committed' },
  { name: 'settle, not begun' },
  { name: 'settle, done and not committed' },
  { name: 'completed, written and not committed' },
  { name: 'refunding, written and not committed', fails: true },
  { name: 'refund, not begun', fails: true },
  { name: 'refund, done and not committed', fails: true },
  { name: 'failed, written and not committed', fails: true },
];

/** Runs the chosen cases and yields each report. */
export async function runTaskKills(
  options: TaskKillOptions,
  onReport: (report: CaseReport) => void = () => undefined,
): Promise<CaseReport[]> {
  const all = STEPS.flatMap((step) => SUBJECTS.map((subject) => ({ step, subject }))).filter(
    ({ step, subject }) =>
      step.only !== (subject.by_job ? 'inline' : 'job') &&
      step.name.includes(options.step ?? '') &&
      subject.name.includes(options.provider ?? ''),
  );
  const random = new Random(options.seed ?? 1);
  const cases = options.sample === undefined ? all : random.shuffle(all).slice(0, options.sample);
  const reports: CaseReport[] = [];
  const worker = async () => {
    for (let next = cases.shift(); next; next = cases.shift()) {
      const report = await runCase(next.step, next.subject);
      reports.push(report);
      onReport(report);
    }
  };
  await Promise.all(Array.from({ length: options.parallel }, worker));
  await stopSharedSimulator();
  return reports;
}

async function runCase(step: Step, subject: Subject): Promise<CaseReport> {
  const provider = await subject.open();
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'single' });
  const start = (more: Record<string, string>) =>
    startWeir({
      main: 'test/chaos/tasks-victim.ts',
      config: provider.config,
      env: { DATABASE_URL: fresh.url, ...provider.env, ...more },
    });
  let weir: RunningWeir | undefined;
  try {
    weir = await start({ CHAOS_STEP: step.name });
    const first = createTask(weir, step, provider).catch(() => undefined);
    const violations: string[] = [];
    const killed = await Promise.race([weir.exited.then(() => true), Bun.sleep(20_000)]);
    if (!killed) violations.push('the step was never reached');
    await first;
    await weir.stop();
    // Ends the lease at once instead of after ten seconds.
    await database.sql`update replica set status = 'dead'`;
    weir = await start({});
    await createTask(weir, step, provider).catch((error) => violations.push(String(error)));
    const books = await judge(database.sql, step, subject, provider, violations);
    return { step: step.name, provider: subject.name, ...books, violations };
  } catch (error) {
    const violations = [String(error)];
    return { step: step.name, provider: subject.name, charged: 0, submitted: 0, violations };
  } finally {
    await weir?.stop();
    await database.close();
    await fresh.drop();
    await provider.stop();
  }
}

/** The client: sends the create call, and repeats it with the same key after a break (P7). */
async function createTask(weir: RunningWeir, step: Step, provider: Provider): Promise<void> {
  const { path, body } = provider.create(step.fails ?? false);
  const response = await fetch(weir.base_url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.api_key}`,
      'content-type': 'application/json',
      'idempotency-key': 'order-1',
    },
    body: JSON.stringify(body),
  });
  await response.text();
}

interface TaskRow {
  id: string;
  status: string;
  error_code: string | null;
}

/** Compares task, ledger and the provider's books, and adds differences to `violations`. */
async function judge(
  sql: Sql,
  step: Step,
  subject: Subject,
  provider: Provider,
  violations: string[],
): Promise<Pick<CaseReport, 'charged' | 'submitted'>> {
  await until(
    'every task ends',
    async () => {
      const [row] = await sql`
      select count(*)::int4 as open from task where status in ('pending', 'processing')`;
      return row?.['open'] === 0;
    },
    60_000,
  ).catch((error) => violations.push(String(error)));
  const tasks = await sql<TaskRow[]>`select id, status, error_code from task`;
  const lines = await sql`select id from usage_line`;
  const [{ held } = { held: -1 }] = await sql<{ held: number }[]>`
    select sum(held_nano_usd)::int8 as held from organization`;
  const [task] = tasks;
  if (tasks.length !== 1 || !task) violations.push(`${tasks.length} tasks of one create`);
  if (held !== 0) violations.push(`${held} nano-USD are still held`);
  for (const imbalance of await findImbalances(sql)) violations.push(JSON.stringify(imbalance));
  const charges = task?.status === 'completed' ? 1 : 0;
  if (lines.length !== charges) violations.push(`${task?.status} with ${lines.length} charges`);
  // Read last, so that late submissions count.
  const times = await provider.accepted();
  if (task?.status === 'completed' && times === 0) violations.push('completed out of nothing');
  if (times > 1) violations.push(`${times} submissions of one task`);
  if (!step.fails && task?.status !== 'completed' && !mayBeLost(step, subject)) {
    violations.push(`${task?.status}: ${task?.error_code}`);
  }
  return { charged: lines.length, submitted: times };
}

/** True if the outcome stays unknown: the provider has neither lookup nor idempotency (P10). */
function mayBeLost({ name }: Step, { idempotent, finds, by_job }: Trait): boolean {
  if (idempotent) return false;
  // Nothing was sent. But after the kill Weir cannot know this.
  if (name === 'submit, nothing sent yet') return true;
  return name === 'submit, accepted upstream' && !(finds && by_job);
}
