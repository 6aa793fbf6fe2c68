import type { Fragment, Sql, TransactionSql } from 'postgres';
import { subscribers } from './alerts.ts';
import { budgetCaps } from './budget-caps.ts';
import type { CapSource } from './cap-source.ts';
import { keyCaps } from './key-caps.ts';

/** The shares of a cap that are alerted to, percent. */
const CAP_SHARES = [50, 80, 100] as const;

/** What can be used up: the caps of keys, and budgets. */
type Capped = 'cap' | 'budget';

/** Another kind of caps is another source here. Only its words must know it. */
const SOURCES: Readonly<Record<Capped, CapSource>> = { cap: keyCaps, budget: budgetCaps };

/** Names a cap and its window. With another limit, or in another window, a share is a new cause. */
const capName = (sql: Sql | TransactionSql): Fragment =>
  sql`subject_kind || ':' || subject_id || ':' || limit_nano_usd || ':' || span`;

const figures = (sql: Sql | TransactionSql): Fragment =>
  sql`'limit_nano_usd', limit_nano_usd, 'used_nano_usd', used_nano_usd, 'window', nullif(span, '')`;

/** The causes of alerts to used caps or budgets: one for each share that is reached. */
export function usedCaps(sql: Sql | TransactionSql, of: Capped): Fragment {
  const kind = `${of}_used` as const;
  return sql`
    select owner_id, ${kind} || ':' || ${capName(sql)} || ':' || share as cause, subject_kind, subject_id,
      subject_name, jsonb_build_object('share', share, 'is_refused', is_refused,
        'until', case when span <> '' then until end, ${figures(sql)}) || more as figures
    from (${SOURCES[of](sql, subscribers(sql, kind), 'use')}) as cap,
      unnest(${[...CAP_SHARES]}::int4[]) as share
    where used_nano_usd::numeric * 100 >= limit_nano_usd::numeric * share
      or (share = ${CAP_SHARES.at(-1) ?? 100} and is_refused)`;
}

/**
 * The causes of alerts to caps or budgets that will be reached before their window ends, if the spend stays as it
 * is. What is reached already needs no forecast.
 */
export function forecastCaps(sql: Sql | TransactionSql, of: Capped): Fragment {
  const kind = `${of}_forecast` as const;
  return sql`
    select owner_id, ${kind} || ':' || ${capName(sql)} || ':'
        || case when span = '' then (until at time zone 'UTC')::date::text else '' end as cause,
      subject_kind, subject_id, subject_name, jsonb_build_object('per_day_nano_usd', per_day_nano_usd,
        'crosses_at', weir_now() + (limit_nano_usd - used_nano_usd) / per_day_nano_usd * interval '1 day',
        'until', until, ${figures(sql)}) || more as figures
    from (${SOURCES[of](sql, subscribers(sql, kind), 'spend')}) as cap
    where used_nano_usd < limit_nano_usd and per_day_nano_usd > 0
      and (limit_nano_usd - used_nano_usd) / per_day_nano_usd
        < extract(epoch from until - weir_now()) / 86400`;
}
