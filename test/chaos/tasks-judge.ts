/** Judges the task of one case: its row, its charge, and the provider's books. */
import type { Sql } from '../../db/client.ts';
import { compareBooks } from '../support/books/compare-books.ts';
import { differenceText } from '../support/books/difference.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import { until } from '../support/until.ts';
import type { Trait } from './tasks-provider.ts';
import type { Provider, Subject } from './tasks-subject.ts';

const END_TIMEOUT_MS = 60_000;

interface TaskRow {
  id: string;
  status: string;
  error_code: string | null;
  charges: number;
}

export interface Verdict {
  /** Usage lines of the case's task. */
  charged: number;
  /** Submissions that the provider accepted during the case. */
  submitted: number;
  /** The events of the case's tasks, for a case that is wrong. */
  evidence: string[];
}

export class CaseJudge {
  /** Submissions and usage lines of the earlier cases of this chain. */
  #submitted = 0;
  #lines = 0;
  readonly #known = new Set<string>();

  constructor(
    private readonly sql: Sql,
    private readonly subject: Subject,
    private readonly provider: Provider,
    private readonly seed: number,
  ) {}

  /** Waits until every task has ended. Adds what is wrong to `violations`. */
  async judge(key: string, step: string, fails: boolean, violations: string[]): Promise<Verdict> {
    const { sql } = this;
    await this.#allEnded().catch((error) => violations.push(String(error)));
    const tasks = await sql<TaskRow[]>`
      select task.id, status, error_code,
        (select count(*)::int4 from usage_line where hold_id = task.hold_id) as charges
      from task join task_request on task_id = task.id where idempotency_key = ${key}`;
    const [task] = tasks;
    if (tasks.length !== 1 || !task) violations.push(`${tasks.length} tasks of one create`);
    violations.push(...(await findMoneyNotAtRest(sql, { are_grants_returned: false })));
    const charges = task?.status === 'completed' ? 1 : 0;
    if (task && task.charges !== charges) {
      violations.push(`${task.status} with ${task.charges} charges`);
    }
    const lines = (await this.#count()) - this.#lines;
    this.#lines += lines;
    if (lines !== charges) violations.push(`${task?.status} with ${lines} more usage lines`);
    // Read last, so that late submissions count.
    const submitted = (await this.provider.accepted()) - this.#submitted;
    this.#submitted += submitted;
    if (task?.status === 'completed' && submitted === 0)
      violations.push('completed out of nothing');
    if (submitted > 1) violations.push(`${submitted} submissions of one task`);
    if (!fails && task?.status !== 'completed' && !mayBeLost(step, this.subject)) {
      violations.push(`${task?.status}: ${task?.error_code}`);
    }
    violations.push(...(await this.#newDifferences()));
    const evidence = violations.length === 0 ? [] : await this.#eventsOf(tasks);
    return { charged: task?.charges ?? 0, submitted, evidence };
  }

  #allEnded(): Promise<unknown> {
    const hasEnded = async () => {
      const [row] = await this.sql<{ open: number }[]>`
        select count(*)::int4 as open from task where status in ('pending', 'processing')`;
      return row?.open === 0;
    };
    return until('every task ends', hasEnded, END_TIMEOUT_MS);
  }

  async #count(): Promise<number> {
    const [row] = await this.sql<{ lines: number }[]>`
      select count(*)::int4 as lines from usage_line`;
    return row?.lines ?? 0;
  }

  /** The differences between the books that this case has added. */
  async #newDifferences(): Promise<string[]> {
    const { books } = this.provider;
    if (!books) return [];
    const print = () => undefined;
    const options = { ...books, sql: this.sql, seed: this.seed, killed: true, print };
    const texts = (await compareBooks(options)).map(differenceText);
    const added = texts.filter((text) => !this.#known.has(text));
    for (const text of added) this.#known.add(text);
    return added;
  }

  async #eventsOf(tasks: readonly TaskRow[]): Promise<string[]> {
    const rows = await this.sql<{ line: string }[]>`
      select concat_ws(' ', actor_id, seq, at, event::text, from_state, '->', to_state) as line
      from actor_event where actor_id = any(${tasks.map(({ id }) => id)}) order by actor_id, seq`;
    return rows.map(({ line }) => line);
  }
}

/** True if the outcome stays unknown: the provider has neither lookup nor idempotency (P10). */
function mayBeLost(step: string, { idempotent, finds, by_job }: Trait): boolean {
  if (idempotent) return false;
  // Nothing was sent. But after the kill Weir cannot know this.
  if (step === 'submit, nothing sent yet') return true;
  return step === 'submit, accepted upstream' && !(finds && by_job);
}
