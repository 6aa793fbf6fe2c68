import type { Sql } from 'postgres';

/**
 * The PostgreSQL notification channel for switched channels. The payload is the switched channel's
 * id.
 */
export const SWITCH_CHANNEL = 'weir_channel_switch';
/**
 * The PostgreSQL notification channel by which replicas report circuits to each other; see
 * `src/actors/channels/circuit-hints.ts`.
 */
export const CIRCUIT_CHANNEL = 'weir_circuit';

/** A switched channel. With `draining`, calls in flight may end. */
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

/** Switches a channel off, or on again (`null`). The commit notifies all replicas. */
export async function writeSwitch(
  sql: Sql,
  channel_id: string,
  to: Pick<SwitchRow, 'state' | 'reason'> | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    if (to) {
      await tx`
        insert into channel_switch (channel_id, state, reason, changed_at)
        values (${channel_id}, ${to.state}, ${to.reason}, weir_now())
        on conflict (channel_id) do update set state = excluded.state, reason = excluded.reason,
          changed_at = excluded.changed_at`;
    } else await tx`delete from channel_switch where channel_id = ${channel_id}`;
    await tx`select pg_notify(${SWITCH_CHANNEL}, ${channel_id})`;
  });
}

/**
 * Returns the number of unfinished tasks of each channel. A channel without such tasks is left out.
 */
export async function countRunningTasks(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ channel_id: string; running: number }[]>`
    select channel_id, count(*)::int4 as running from task
    where status in ('pending', 'processing') and channel_id is not null group by channel_id`;
  return new Map(rows.map(({ channel_id, running }) => [channel_id, running]));
}
