/** The windows of budgets, as the ledger reads and writes them while it has locked their organizations. */
import type { Fragment, TransactionSql } from 'postgres';
import { type BudgetPeriod, nextWindowStart, windowStart } from './calendar.ts';
import type { BudgetScope, Tags } from './tags.ts';

/** The sums of one window, nano-USD. */
export interface WindowSums {
  used_nano_usd: number;
  held_nano_usd: number;
}

/** A budget, with the windows that a transaction may change, by their first days. */
export interface BudgetRow extends BudgetScope {
  readonly id: string;
  readonly period: BudgetPeriod;
  readonly limit_nano_usd: number;
  /** What happens to a call that does not fit. A budget that does not refuse it is soft. */
  readonly when_reached: 'refuse' | 'warn' | 'move';
  /** The model to which such a call moves; null unless `when_reached` is `move`. */
  readonly move_to: string | null;
  readonly windows: Map<string, WindowSums>;
}

/** A day of an organization, `YYYY-MM-DD`. */
interface DayOfOrganization {
  readonly organization_id: string;
  readonly day: string;
}

const PERIODS: readonly BudgetPeriod[] = ['day', 'week', 'month'];

/**
 * Returns the budgets that limit some keys, or calls with some tags, with the windows of the days in `today` and `earlier`. A window of
 * today that has no row yet is summed from its grants and holds. An earlier window without a row is left out:
 * no budget counted it, and its sums are read if that changes.
 */
export async function readBudgets(
  tx: TransactionSql,
  { key_ids, tags }: { readonly key_ids: readonly string[]; readonly tags: readonly Tags[] },
  today: readonly DayOfOrganization[],
  earlier: readonly DayOfOrganization[],
): Promise<BudgetRow[]> {
  const starts = [...today, ...earlier].flatMap(({ day }) =>
    PERIODS.map((period) => windowStart(period, day)),
  );
  const rows = await tx<(Omit<BudgetRow, 'windows'> & WindowSums & { starts_on: string | null })[]>`
    select budget.id, organization_id, key_id, tag_name, tag_value, period, limit_nano_usd, when_reached, move_to,
      starts_on::text, used_nano_usd, held_nano_usd
    from budget left join budget_window on budget_id = budget.id
      and starts_on = any(${[...new Set(starts)]}::text[]::date[])
    where organization_id = any(${today.map((each) => each.organization_id)}::text[])
      and (key_id is null or key_id = any(${key_ids}::text[]))
      and (tag_name is null ${anyOf(tx, tags)})
    order by budget.id`;
  const budgets = new Map<string, BudgetRow>();
  for (const { starts_on, used_nano_usd, held_nano_usd, ...row } of rows) {
    const budget = budgets.get(row.id) ?? { ...row, windows: new Map() };
    budgets.set(row.id, budget);
    if (starts_on !== null) budget.windows.set(starts_on, { used_nano_usd, held_nano_usd });
  }
  for (const budget of budgets.values()) {
    const now = today.find(({ organization_id }) => organization_id === budget.organization_id);
    const start = now && windowStart(budget.period, now.day);
    if (start !== undefined && !budget.windows.has(start)) {
      budget.windows.set(start, await sumWindow(tx, budget, start));
    }
  }
  return [...budgets.values()];
}

/** A condition for the budgets of tags. Without tags in the transaction, it costs nothing. */
function anyOf(tx: TransactionSql, tags: readonly Tags[]): Fragment {
  if (tags.length === 0) return tx``;
  return tx`or exists (
    select from jsonb_array_elements(${JSON.stringify(tags)}::text::jsonb) as tagged(tags)
    where tagged.tags ->> tag_name = tag_value)`;
}

/** Sums the window that begins on `start` from the rows of its grants and holds. */
export async function sumWindow(
  tx: TransactionSql,
  budget: BudgetScope & Pick<BudgetRow, 'period'>,
  start: string,
): Promise<WindowSums> {
  const { organization_id, key_id, tag_name, tag_value, period } = budget;
  const isIn = tx`organization_id = ${organization_id}
    and day >= ${start}::text::date and day < ${nextWindowStart(period, start)}::text::date
    ${key_id === null ? tx`` : tx`and key_id = ${key_id}`}
    ${tag_name === null ? tx`` : tx`and tags ->> ${tag_name}::text = ${tag_value}`}`;
  const [sums] = await tx<WindowSums[]>`
    select (grants.used + holds.used)::int8 as used_nano_usd, (grants.held + holds.held)::int8 as held_nano_usd
    from (
      select coalesce(sum(posted_nano_usd), 0) as used,
        coalesce(sum(granted_nano_usd - posted_nano_usd), 0) as held
      from quota_grant where ${isIn}
    ) as grants, (
      select coalesce(sum(charged_nano_usd + uncharged_nano_usd), 0) as used,
        coalesce(sum(amount_nano_usd) filter (where status = 'held'), 0) as held
      from hold where ${isIn}
    ) as holds`;
  if (!sums) throw new Error('the database returned no sums');
  return sums;
}

/** Returns the time until the window of a budget that has `day` ends, ms; 0 if it has ended. */
export async function readResetTime(
  tx: TransactionSql,
  { organization_id, period }: Pick<BudgetRow, 'organization_id' | 'period'>,
  day: string,
): Promise<number> {
  const next = nextWindowStart(period, windowStart(period, day));
  const [row] = await tx<{ ms: number }[]>`
    select greatest(0, ceil(extract(epoch from weir_day_end(noon, time_zone) - weir_now()) * 1000))::float8 as ms
    from (
      select time_zone, (${next}::text::date - interval '12 hours') at time zone time_zone as noon
      from organization where id = ${organization_id}) as last_day`;
  return row?.ms ?? 0;
}

/** Writes the windows of budgets. */
export async function writeWindows(
  tx: TransactionSql,
  budgets: Iterable<BudgetRow>,
): Promise<void> {
  const windows = [...budgets].flatMap(({ id, windows: each }) =>
    Array.from(each, ([starts_on, sums]) => ({ id, starts_on, ...sums })),
  );
  if (windows.length === 0) return;
  await tx`
    insert into budget_window (budget_id, starts_on, used_nano_usd, held_nano_usd, ceiling_nano_usd)
    select input.id, starts_on, used_nano_usd, held_nano_usd,
      greatest(limit_nano_usd, used_nano_usd + held_nano_usd)
    from json_to_recordset(${JSON.stringify(windows)}::text::json) as input(
      id text, starts_on date, used_nano_usd int8, held_nano_usd int8)
    join budget on budget.id = input.id
    on conflict (budget_id, starts_on) do update set used_nano_usd = excluded.used_nano_usd,
      held_nano_usd = excluded.held_nano_usd, ceiling_nano_usd = excluded.ceiling_nano_usd`;
}
