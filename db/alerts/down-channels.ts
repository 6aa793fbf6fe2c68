import type { Fragment, Sql, TransactionSql } from 'postgres';

/** A circuit must be open for so long before a channel counts as down. A short disturbance is no alert. */
const DOWN_AFTER = "interval '1 minute'";
/** A channel must have no open circuit for so long before it counts as up, so that one that flaps is one cause. */
const UP_AFTER = "interval '5 minutes'";
/** A circuit that opened earlier than this, and of which nothing was recorded since, is no news. */
const LOOK_BACK = "interval '1 hour'";

/**
 * The condition that no call can be sent: the circuit is open, or the upstream refused the credentials. A channel that
 * an operator switched off is not down.
 */
const isDown = (sql: Sql | TransactionSql, alias: string): Fragment => sql`
  (${sql(`${alias}.to_state`)} in ('open', 'probing')
    or (${sql(`${alias}.to_state`)} = 'disabled' and ${sql(`${alias}.cause`)} = 'auth'))`;

/** The state of each circuit of a living replica that changed in a while. */
const lastChanges = (sql: Sql | TransactionSql, where: Fragment): Fragment => sql`
  select distinct on (change.channel_id, change.model, change.replica_id)
    change.channel_id, change.model, change.replica_id, change.to_state, change.cause, change.at
  from channel_transition as change
    join replica on replica.id = change.replica_id and replica.status = 'alive'
  where ${where}
  order by change.channel_id, change.model, change.replica_id, change.at desc, change.id desc`;

/**
 * The causes of alerts of operators to channels that are down: a model's circuit is open for a minute on at least one
 * replica. A channel that has an alert which did not end gets no other one.
 */
export function downChannels(sql: Sql | TransactionSql): Fragment {
  const [down_after, look_back] = [sql.unsafe(DOWN_AFTER), sql.unsafe(LOOK_BACK)];
  return sql`
    select '' as owner_id,
      'channel_down:' || channel_id || ':' || (extract(epoch from min(since)) * 1000)::int8 as cause,
      'channel' as subject_kind, channel_id as subject_id, channel_id as subject_name,
      jsonb_build_object('since', min(since), 'models', array_agg(distinct model),
        'reasons', array_remove(array_agg(distinct circuit.cause), null)) as figures
    from (
      select last.channel_id, last.model, last.cause, (
        select min(opened.at) from channel_transition as opened
        where opened.channel_id = last.channel_id and opened.model = last.model
          and opened.replica_id = last.replica_id and ${isDown(sql, 'opened')}
          and opened.at > coalesce((
            select max(good.at) from channel_transition as good
            where good.channel_id = last.channel_id and good.model = last.model
              and good.replica_id = last.replica_id
              and not ${isDown(sql, 'good')}), '-infinity')) as since
      from (${lastChanges(sql, sql`change.at > weir_now() - ${look_back}`)}) as last
      where ${isDown(sql, 'last')}
    ) as circuit
    where since <= weir_now() - ${down_after}
      and not exists (select 1 from alert
        where kind = 'channel_down' and ended_at is null and subject_id = channel_id)
    group by channel_id`;
}

/** Ends the alerts of channels that have had no open circuit for a while. Returns their number. */
export async function endDownChannels(tx: TransactionSql): Promise<number> {
  const up_after = tx.unsafe(UP_AFTER);
  const { count } = await tx`
    update alert set ended_at = weir_now()
    where kind = 'channel_down' and ended_at is null
      and not exists (
        select 1 from (${lastChanges(tx, tx`change.channel_id = alert.subject_id`)}) as last
        where ${isDown(tx, 'last')})
      and not exists (
        select 1 from channel_transition as change
        where change.channel_id = alert.subject_id and change.at > weir_now() - ${up_after}
          and ${isDown(tx, 'change')})`;
  return count;
}
