/** The cases of one provider: kill, restart, recovery and the next kill, on one database. */
import { connectDatabase, type Database } from '../../db/client.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import type { CaseReport, Step } from './tasks.ts';
import { CaseJudge } from './tasks-judge.ts';
import type { Provider, Subject } from './tasks-subject.ts';

/** A task reaches each step within a second. The limit is for a machine that stands still. */
const STEP_TIMEOUT_MS = 60_000;
/** Lines of Weir's log that belong to the evidence of a wrong case. */
const LOG_LINES = 30;
/** More than all tasks of a chain can hold. */
const BALANCE_USD = '10000';

export class CaseChain {
  #weir: RunningWeir | undefined;

  constructor(
    private readonly subject: Subject,
    private readonly steps: readonly Step[],
    private readonly seed: number,
    private readonly onReport: (report: CaseReport) => void,
  ) {}

  /** Runs all cases. A case that ends in an error is reported, and the next one starts anew. */
  async run(): Promise<void> {
    const provider = await this.subject.open();
    const fresh = await createTestDatabase();
    const database = connectDatabase(fresh.url, { pool: 'single' });
    const start = (step: Step | undefined) =>
      startWeir({
        main: 'test/chaos/tasks-victim.ts',
        config: provider.config,
        env: {
          DATABASE_URL: fresh.url,
          WEIR_BOOTSTRAP_BALANCE_USD: BALANCE_USD,
          ...provider.env,
          ...(step ? { CHAOS_STEP: step.name } : {}),
        },
      });
    const judge = new CaseJudge(database.sql, this.subject, provider, this.seed);
    try {
      for (const [index, step] of this.steps.entries()) {
        const report = this.#newReport(step);
        try {
          this.#weir ??= await start(step);
          const restart = () => start(this.steps[index + 1]);
          Object.assign(
            report,
            await this.#runCase(index, report, provider, database, restart, judge),
          );
          if (index === this.steps.length - 1) await this.#stopClean(database, report);
        } catch (error) {
          report.violations.push(String(error));
          report.evidence.push(...this.#logOf(this.#weir));
          await this.#stop();
        }
        if (report.violations.length === 0) report.evidence = [];
        this.onReport(report);
      }
    } finally {
      await this.#stop();
      await database.close();
      await fresh.drop();
      await provider.stop();
    }
  }

  #newReport({ name: step }: Step): CaseReport {
    const provider = this.subject.name;
    return { step, provider, charged: 0, submitted: 0, violations: [], evidence: [] };
  }

  async #runCase(
    index: number,
    { step, violations, evidence }: CaseReport,
    provider: Provider,
    database: Database,
    restart: () => Promise<RunningWeir>,
    judge: CaseJudge,
  ): Promise<Pick<CaseReport, 'charged' | 'submitted'>> {
    const fails = this.steps[index]?.fails ?? false;
    const key = `order-${index}`;
    const victim = this.#weir as RunningWeir;
    await arm(victim);
    const first = createTask(victim, provider, fails, key);
    const isKilled = await Promise.race([
      victim.exited.then(() => true),
      Bun.sleep(STEP_TIMEOUT_MS).then(() => false),
    ]);
    if (!isKilled) {
      violations.push(`"${step}" was not reached within ${STEP_TIMEOUT_MS} ms`);
      victim.kill('SIGKILL');
    }
    evidence.push(`the first create: ${await first}`, ...this.#logOf(victim));
    await this.#stop();
    // Ends the lease at once instead of after ten seconds.
    await database.sql`update replica set status = 'dead'`;
    this.#weir = await restart();
    const second = await createTask(this.#weir, provider, fails, key);
    evidence.push(`the repeated create: ${second}`);
    if (second.startsWith('broken')) violations.push(`the repeated create: ${second}`);
    const found = await judge.judge(key, step, fails, violations);
    evidence.push(...this.#logOf(this.#weir), ...found.evidence);
    return { charged: found.charged, submitted: found.submitted };
  }

  /** Stops the last Weir in an orderly way. Then no grant may be open. */
  async #stopClean(database: Database, { violations }: CaseReport): Promise<void> {
    await this.#stop();
    violations.push(...(await findMoneyNotAtRest(database.sql, { are_grants_returned: true })));
  }

  async #stop(): Promise<void> {
    await this.#weir?.stop();
    this.#weir = undefined;
  }

  #logOf(weir: RunningWeir | undefined): string[] {
    return (weir?.output() ?? '').trim().split('\n').slice(-LOG_LINES);
  }
}

/** From now on the victim dies at its step. Before, it only recovers the task of the last case. */
async function arm(victim: RunningWeir): Promise<void> {
  victim.kill('SIGUSR2');
  await until('the victim is armed', () => victim.output().includes('Armed'));
}

/**
 * The client: sends the create call, and repeats it with the same key after a break (P7). Returns
 * the answer as text. It begins with `broken` if the connection broke.
 */
async function createTask(
  weir: RunningWeir,
  provider: Provider,
  fails: boolean,
  key: string,
): Promise<string> {
  const { path, body } = provider.create(fails);
  try {
    const response = await fetch(weir.base_url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${weir.api_key}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });
    return `${response.status} ${(await response.text()).slice(0, 500)}`;
  } catch (error) {
    return `broken: ${error}`;
  }
}
