import type { Fragment, Sql, TransactionSql } from 'postgres';
import { subscribers } from './alerts.ts';

/** A change is looked for during this time, so an endpoint that was off does not get old ones. */
const MAX_AGE = "interval '7 days'";

/** The prices that differ from those before, with the public names and prices of models only (P5). */
const changes = (sql: Sql | TransactionSql): Fragment => sql`
  select model, since, before, after from (
    select model, since, price as after, family, lag(price) over earlier as before,
      lag(family) over earlier as family_before
    from model_price
    where model in (select model from model_price where since > weir_now() - ${sql.unsafe(MAX_AGE)})
    window earlier as (partition by model order by since)
  ) as recorded
  where before is not null and (before, family_before) is distinct from (after, family)
    and since > weir_now() - ${sql.unsafe(MAX_AGE)}`;

const columns = (sql: Sql | TransactionSql): Fragment => sql`
  'price_changed:' || model || ':' || (extract(epoch from change.since) * 1000)::int8 as cause,
  'model' as subject_kind, model as subject_id, model as subject_name,
  jsonb_build_object('before', before, 'after', after, 'since', change.since) as figures`;

/** The causes of alerts of organizations to changed prices: those of models that they have called. */
export function changedPrices(sql: Sql | TransactionSql): Fragment {
  return sql`
    select owner.owner_id, ${columns(sql)}
    from (${changes(sql)}) as change
      join (${subscribers(sql, 'price_changed')}) as owner on change.since >= owner.since
    where exists (
      select 1 from usage_series as series
      where series.organization_id = owner.owner_id and series.scope = 'by_model'
        and series.model = change.model)`;
}

/** The causes of alerts of operators to changed prices since their first endpoint. */
export function changedPricesOfAll(sql: Sql | TransactionSql, since: Date): Fragment {
  return sql`
    select '' as owner_id, ${columns(sql)} from (${changes(sql)}) as change
    where change.since >= ${since}`;
}
