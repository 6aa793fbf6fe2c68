import type { Sql, TransactionSql } from 'postgres';

/** The first number of the advisory locks of switches. Any constant works. */
const SWITCH_LOCK = 0x73_77_69_74;

/** The switch that an operator set for a channel. Both states stop new calls of the channel. */
export interface SwitchRow {
  readonly channel_id: string;
  readonly state: 'disabled' | 'draining';
  readonly reason: string;
  readonly changed_at: Date;
}

/** Returns the switches of all channels. */
export async function readSwitches(sql: Sql): Promise<SwitchRow[]> {
  return sql<SwitchRow[]>`select channel_id, state, reason, changed_at from channel_switch`;
}

/** Returns the switch of a channel; undefined if there is none. */
export async function findSwitch(
  sql: Sql | TransactionSql,
  channel_id: string,
): Promise<Pick<SwitchRow, 'state' | 'reason'> | undefined> {
  const [row] = await sql<Pick<SwitchRow, 'state' | 'reason'>[]>`
    select state, reason from channel_switch where channel_id = ${channel_id}`;
  return row;
}

/**
 * Returns the switch of a channel. Until the end of the transaction, no other transaction that calls
 * this function changes it, also if there is none yet.
 */
export async function lockSwitch(
  tx: TransactionSql,
  channel_id: string,
): Promise<Pick<SwitchRow, 'state' | 'reason'> | undefined> {
  await tx`select pg_advisory_xact_lock(${SWITCH_LOCK}, hashtext(${channel_id}))`;
  return findSwitch(tx, channel_id);
}

/**
 * Sets the operator's switch of a channel, or removes it if `to` is null. The caller must then
 * notify all replicas.
 */
export async function setSwitch(
  tx: TransactionSql,
  channel_id: string,
  to: Pick<SwitchRow, 'state' | 'reason'> | null,
): Promise<void> {
  if (to) {
    await tx`
      insert into channel_switch (channel_id, state, reason, changed_at)
      values (${channel_id}, ${to.state}, ${to.reason}, weir_now())
      on conflict (channel_id) do update set state = excluded.state, reason = excluded.reason,
        changed_at = excluded.changed_at`;
  } else await tx`delete from channel_switch where channel_id = ${channel_id}`;
}

/**
 * Returns the number of unfinished tasks of each channel. A channel without such tasks is left out.
 */
export async function countRunningTasks(sql: Sql | TransactionSql): Promise<Map<string, number>> {
  const rows = await sql<{ channel_id: string; running: number }[]>`
    select channel_id, count(*)::int4 as running from task
    where status in ('pending', 'processing') and channel_id is not null group by channel_id`;
  return new Map(rows.map(({ channel_id, running }) => [channel_id, running]));
}
