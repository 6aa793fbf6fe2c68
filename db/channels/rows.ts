import type { Sql, TransactionSql } from 'postgres';

/** What an operator chose for a channel, without its key. */
export interface ChannelSettings {
  readonly protocol: string;
  readonly base_url: string;
  /** Public model id → physical model id. */
  readonly models: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly weight: number;
  readonly max_concurrency: number;
  readonly timeout_ms: number;
  readonly enabled: boolean;
}

/** A channel that an operator made. */
export interface ChannelRow extends ChannelSettings {
  readonly id: string;
  /** The encrypted key of the upstream account. */
  readonly sealed_key: string;
  readonly api_key_changed_at: Date;
  readonly created_at: Date;
}

/** Returns the channels that operators made, the oldest first. */
export async function readChannelRows(sql: Sql): Promise<ChannelRow[]> {
  return sql<ChannelRow[]>`select * from channel order by created_at, id`;
}

/** Returns the row of a channel; undefined if there is none. */
export async function findChannelRow(
  sql: Sql | TransactionSql,
  id: string,
): Promise<ChannelRow | undefined> {
  const [row] = await sql<ChannelRow[]>`select * from channel where id = ${id}`;
  return row;
}

/** Returns the row of a channel, and locks it until the end of the transaction. */
export async function lockChannelRow(
  tx: TransactionSql,
  id: string,
): Promise<ChannelRow | undefined> {
  const [row] = await tx<ChannelRow[]>`select * from channel where id = ${id} for update`;
  return row;
}

/**
 * Returns the ids of all rows. Until the end of the transaction, no other transaction adds a row, so
 * the caller can choose a free id.
 */
export async function lockChannelNames(tx: TransactionSql): Promise<string[]> {
  await tx`lock table channel in share row exclusive mode`;
  const rows = await tx<{ id: string }[]>`select id from channel`;
  return rows.map(({ id }) => id);
}

/** Adds a row, and returns it. */
export async function insertChannelRow(
  tx: TransactionSql,
  { models, ...row }: Omit<ChannelRow, 'api_key_changed_at' | 'created_at'>,
): Promise<ChannelRow> {
  const values = { ...row, models: tx.json(models) };
  const [added] = await tx<ChannelRow[]>`insert into channel ${tx(values)} returning *`;
  if (!added) throw new Error('the database returned no row');
  return added;
}

/** Writes all settings of a row, and the key if there is a new one. Returns the changed row. */
export async function updateChannelRow(
  tx: TransactionSql,
  id: string,
  { models, ...settings }: ChannelSettings,
  sealed_key: string | undefined,
): Promise<ChannelRow> {
  const values = { ...settings, models: tx.json(models) };
  const [row] = await tx<ChannelRow[]>`
    update channel set ${tx(values)}
      ${sealed_key === undefined ? tx`` : tx`, sealed_key = ${sealed_key}, api_key_changed_at = weir_now()`}
    where id = ${id} returning *`;
  if (!row) throw new Error('the database returned no row');
  return row;
}

/** Writes a whole row as it was, also its encrypted key and its times. */
export async function putChannelRow(tx: TransactionSql, row: ChannelRow): Promise<void> {
  const values = { ...row, models: tx.json(row.models) };
  const { id: _, ...changed } = values;
  await tx`insert into channel ${tx(values)} on conflict (id) do update set ${tx(changed)}`;
}

/** Removes a row and the switch of the channel, so that a later channel of this id starts without it. */
export async function deleteChannelRow(tx: TransactionSql, id: string): Promise<void> {
  await tx`delete from channel_switch where channel_id = ${id}`;
  await tx`delete from channel where id = ${id}`;
}
