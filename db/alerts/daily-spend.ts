import type { Sql, TransactionSql } from 'postgres';
import { subscribers } from './alerts.ts';
import { today } from './cap-source.ts';
import { DEFAULT_ALERT_SETTINGS } from './settings.ts';

/** What an organization spent in each of the last days, UTC. */
export interface DailySpend {
  readonly owner_id: string;
  readonly name: string;
  readonly factor: number;
  /** The number of today's day, from the Unix epoch. */
  readonly today: number;
  /** The spend of today so far, of yesterday, and so on, nano-USD; as many as `days`. */
  readonly spend: readonly number[];
}

/**
 * Returns at most `limit` organizations whose endpoints receive alerts to unusual spend, the next ones after `after`
 * by their ids.
 */
export async function readDailySpend(
  sql: Sql | TransactionSql,
  days: number,
  after: string,
  limit: number,
): Promise<DailySpend[]> {
  const rows = await sql<
    (Omit<DailySpend, 'spend'> & { spent: [day: number, nano_usd: number][] })[]
  >`
    select owner.owner_id, org.name, ${today(sql)} as today,
      coalesce(settings.unusual_factor, ${DEFAULT_ALERT_SETTINGS.unusual_factor})::float8 as factor, (
        select coalesce(jsonb_agg(jsonb_build_array(day.day, day.charged_nano_usd)), '[]')
        from usage_series as series join usage_day as day on day.series_id = series.id
        where series.organization_id = org.id and series.scope = 'total'
          and day.day > ${today(sql)} - ${days}::int4) as spent
    from (${subscribers(sql, 'unusual_spend')}) as owner
      join organization as org on org.id = owner.owner_id
      left join alert_settings as settings on settings.owner_id = owner.owner_id
    where owner.owner_id > ${after} and org.status = 'active'
    order by owner.owner_id limit ${limit}`;
  return rows.map(({ spent, ...row }) => {
    const byDay = new Map(spent);
    return {
      ...row,
      spend: Array.from({ length: days }, (_, ago) => byDay.get(row.today - ago) ?? 0),
    };
  });
}
