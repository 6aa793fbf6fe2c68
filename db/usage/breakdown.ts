import type { Sql } from 'postgres';
import { type AsOf, isIn } from './as-of.ts';
import { conditions, type UsageFilters } from './filters.ts';

/** Sums over usage lines. Amounts are in nano-USD. */
interface UsageSums {
  readonly requests: number;
  readonly charged_nano_usd: number;
  readonly overrun_nano_usd: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
}

/** By what a breakdown groups, with the expression of each group. */
const GROUPS = {
  day: "to_char(at at time zone 'UTC', 'YYYY-MM-DD')",
  model: 'model',
  model_vendor: 'model_vendor',
  scene: 'scene',
  access_channel: 'access_channel',
} as const;

export type BreakdownGroup = keyof typeof GROUPS;
export const BREAKDOWN_GROUPS = Object.keys(GROUPS) as BreakdownGroup[];

/** The sums of one group; of all lines if `group` is null. */
export interface BreakdownRow extends UsageSums {
  readonly group: BreakdownGroup | null;
  readonly name: string | null;
}

/** Returns the sums of all lines, and by each group, as they were in one committed state. */
export function breakDown(sql: Sql, filters: UsageFilters, as_of: AsOf): Promise<BreakdownRow[]> {
  return sql<BreakdownRow[]>`
    with line as (
      select ${sql.unsafe(GROUPS.day)} as day, model, model_vendor, scene, access_channel,
        count(*) as requests, sum(charged_nano_usd) as charged, sum(overrun_nano_usd) as overrun,
        sum(input_tokens) as input, sum(cached_input_tokens) as cached,
        sum(cache_write_tokens) as written, sum(output_tokens) as output
      from usage_line
      where ${conditions(sql, filters, 'usage_line')} and ${isIn(sql, as_of, 'usage_line')}
      group by 1, 2, 3, 4, 5
    )
    select case
        when grouping(day) = 0 then 'day' when grouping(model) = 0 then 'model'
        when grouping(model_vendor) = 0 then 'model_vendor' when grouping(scene) = 0 then 'scene'
        when grouping(access_channel) = 0 then 'access_channel' end as group,
      coalesce(day, model, model_vendor, scene, access_channel) as name,
      coalesce(sum(requests), 0)::int8 as requests,
      coalesce(sum(charged), 0)::int8 as charged_nano_usd,
      coalesce(sum(overrun), 0)::int8 as overrun_nano_usd,
      coalesce(sum(input), 0)::int8 as input_tokens,
      coalesce(sum(cached), 0)::int8 as cached_input_tokens,
      coalesce(sum(written), 0)::int8 as cache_write_tokens,
      coalesce(sum(output), 0)::int8 as output_tokens
    from line
    group by grouping sets ((), (day), (model), (model_vendor), (scene), (access_channel))
    order by 1 nulls first, 2`;
}
