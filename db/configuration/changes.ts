import type { Sql, TransactionSql } from 'postgres';
import type { AuditLine } from '../audit/entry.ts';
import type { ItemKind } from './items.ts';

/** What a change changed. */
export type ConfiguredKind = 'channel' | 'channel_switch' | ItemKind;
/** A whole row as JSON. */
export type RowState = Readonly<Record<string, unknown>>;

/** A change of a row that operators configure. */
export interface ConfigurationChange {
  /** The number of its line in the audit log of the installation. */
  readonly seq: number;
  readonly kind: ConfiguredKind;
  readonly id: string;
  /** The row before; null = there was none. */
  readonly before: RowState | null;
  readonly after: RowState | null;
  /** The change that this one took back; null = none. */
  readonly takes_back: number | null;
}

/** Stores a change, so that it can be taken back. */
export async function recordConfigurationChange(
  tx: TransactionSql,
  { before, after, ...change }: ConfigurationChange,
): Promise<void> {
  const jsonOf = (state: RowState | null) => (state === null ? null : tx.json(state as never));
  await tx`insert into configuration_change ${tx({
    ...{ ...change, before: jsonOf(before), after: jsonOf(after) },
  })}`;
}

/** Returns a change; undefined if there is none, or if it is too old. */
export async function findConfigurationChange(
  sql: Sql | TransactionSql,
  seq: number,
): Promise<ConfigurationChange | undefined> {
  const [row] = await sql<ConfigurationChange[]>`
    select seq, kind, id, before, after, takes_back from configuration_change where seq = ${seq}`;
  return row;
}

/** A change with its line of the audit log, which has no secret. */
export interface ListedChange
  extends Pick<ConfigurationChange, 'seq' | 'kind' | 'id' | 'takes_back'>,
    Pick<AuditLine, 'action' | 'before' | 'after'> {
  readonly at: Date;
  readonly actor_label: string;
  readonly actor_id: string;
  /** The change that took this one back; null = none. */
  readonly taken_back_by: number | null;
}

/** Returns at most `limit` changes before a number, the newest first. */
export function listConfigurationChanges(
  sql: Sql,
  { kind, id }: { readonly kind?: string | undefined; readonly id?: string | undefined },
  before_seq: number,
  limit: number,
): Promise<ListedChange[]> {
  return sql<ListedChange[]>`
    select change.seq, change.kind, change.id, change.takes_back, line.action, line.before, line.after,
      line.at, line.actor_label, line.actor_id, (
        select max(later.seq) from configuration_change as later
        where later.kind = change.kind and later.id = change.id and later.takes_back = change.seq
      ) as taken_back_by
    from configuration_change as change
      join audit_log as line on line.organization_id = '' and line.seq = change.seq
    where change.seq < ${before_seq}
      ${kind === undefined ? sql`` : sql`and change.kind = ${kind}`}
      ${id === undefined ? sql`` : sql`and change.id = ${id}`}
    order by change.seq desc limit ${limit}`;
}

/** Deletes at most `limit` changes that are older than `age_days`, with the encrypted keys in them. */
export async function deleteOldConfigurationChanges(
  sql: Sql,
  age_days: number,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    delete from configuration_change where seq in (
      select seq from configuration_change
      where at < weir_now() - ${age_days} * interval '1 day' order by at limit ${limit})`;
  return count;
}
