import type { Sql, TransactionSql } from 'postgres';
import type { Actor } from '../audit/entry.ts';
import { appendAudit } from '../audit/log.ts';

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

/**
 * Sets the operator's switch of a channel, or removes it if `to` is null. The caller must then
 * notify all replicas.
 */
export async function writeSwitch(
  sql: Sql,
  channel_id: string,
  to: Pick<SwitchRow, 'state' | 'reason'> | null,
  actor: Actor,
): Promise<void> {
  await sql.begin(async (tx) => {
    const [before] = await tx<Pick<SwitchRow, 'state' | 'reason'>[]>`
      select state, reason from channel_switch where channel_id = ${channel_id} for update`;
    await setSwitch(tx, channel_id, to);
    await appendAudit(tx, {
      ...{ organization_id: null, actor, subject_id: channel_id },
      action: to ? `channel.${to.state === 'draining' ? 'drain' : 'disable'}` : 'channel.enable',
      ...{ before: before ? { ...before } : null, after: to },
    });
  });
}

async function setSwitch(
  sql: TransactionSql,
  channel_id: string,
  to: Pick<SwitchRow, 'state' | 'reason'> | null,
): Promise<void> {
  if (to) {
    await sql`
      insert into channel_switch (channel_id, state, reason, changed_at)
      values (${channel_id}, ${to.state}, ${to.reason}, weir_now())
      on conflict (channel_id) do update set state = excluded.state, reason = excluded.reason,
        changed_at = excluded.changed_at`;
  } else await sql`delete from channel_switch where channel_id = ${channel_id}`;
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
