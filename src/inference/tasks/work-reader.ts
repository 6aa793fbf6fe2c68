import DataLoader from 'dataloader';
import type { Sql } from 'postgres';
import { findTaskWorks, missingTaskError, type TaskWorkRow } from '../../../db/tasks/rows.ts';
import { type TaskWork, workOf } from './deps.ts';

/** The outbox starts at most this many effects of one name together. */
const MAX_TASKS_PER_QUERY = 256;

/**
 * Reads tasks for their effects. Tasks that are read at the same time share one query, because the
 * outbox starts the polls of many tasks together.
 */
export class WorkReader {
  private readonly loader: DataLoader<string, TaskWorkRow>;

  constructor(sql: Sql) {
    const readAll = async (ids: readonly string[]) => {
      const rows = await findTaskWorks(sql, ids);
      return ids.map((id) => rows.get(id) ?? missingTaskError(id));
    };
    // Each effect needs the task as it is now, so no row is kept.
    this.loader = new DataLoader(readAll, { cache: false, maxBatchSize: MAX_TASKS_PER_QUERY });
  }

  /** Returns a task; its `input` is null. Throws if the task does not exist. */
  async get(id: string): Promise<TaskWork> {
    return workOf(await this.loader.load(id));
  }
}
