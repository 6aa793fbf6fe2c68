/** Weir's side of the comparison: its usage lines and its generation tasks. */
import type { Sql } from '../../../db/client.ts';
import type { LineTokens } from './provider-work.ts';

export interface UsageLine extends LineTokens {
  /** UUID without dashes, as in `x-request-id` after `req_`. */
  request_id: string;
  scene: string;
  /** The public model. */
  model: string;
  model_vendor: string;
  channel_id: string;
  outcome: 'completed' | 'partial';
  estimated: boolean;
  /** Nano-USD that the client paid, and nano-USD that the platform absorbed. */
  charged: number;
  overrun: number;
  /** The upstream's job as Weir stored it, as JSON; null for calls, and for results without a job. */
  job: string | null;
}

/** A generation task that is not charged. */
export interface UnchargedTask {
  status: string;
  job: string | null;
}

/** Reads all usage lines, oldest first. */
export async function readUsageLines(sql: Sql): Promise<UsageLine[]> {
  const rows = await sql<UsageLine[]>`
    select replace(usage_line.request_id::text, '-', '') as request_id, usage_line.scene,
      usage_line.model, model_vendor, usage_line.channel_id, outcome, estimated, input_tokens,
      cached_input_tokens, cache_write_tokens, output_tokens, charged_nano_usd as charged,
      overrun_nano_usd as overrun, task.job::text as job
    from usage_line left join task on task.billing_id = usage_line.id
    order by usage_line.created_at, usage_line.id`;
  return [...rows];
}

/** Reads the tasks that no usage line charges. */
export async function readUnchargedTasks(sql: Sql): Promise<UnchargedTask[]> {
  const rows = await sql<UnchargedTask[]>`
    select status, job::text as job from task where billing_id is null`;
  return [...rows];
}
