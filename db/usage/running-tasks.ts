import type { Sql } from 'postgres';
import { type AsOf, isIn } from './as-of.ts';

/** The longest time between the end of a task, by its clock, and the commit of this end. */
const COMMITS_WITHIN = '1 minute';

/**
 * A condition for `task` joined with its `hold`: the task ran in the state. Its end is not in the state:
 * neither the usage line of a completed task, nor the record of a failed one.
 */
export function isRunningIn(sql: Sql, as_of: AsOf) {
  const { at } = as_of;
  return sql`
    hold.created_at <= ${at} and (task.ended_at is null
      or task.ended_at > ${at}::timestamptz - ${COMMITS_WITHIN}::text::interval)
    and not exists (select from usage_line
      where usage_line.id = task.billing_id and ${isIn(sql, as_of, 'usage_line')})
    and not exists (select from call_record
      where call_record.id = task.request_id and outcome <> 'accepted'
        and ${isIn(sql, as_of, 'call_record')})`;
}
