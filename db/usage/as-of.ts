import type { Sql } from 'postgres';

/**
 * One committed state of the database: a row is in it if its transaction had committed. Rows of
 * usage are never changed, so the same state can be read again later, while new rows arrive.
 */
export interface AsOf {
  /** When the state was current, by the database's clock. */
  readonly at: Date;
  /** Transactions from this number on had not begun. */
  readonly next_xid: number;
  /** Transactions below `next_xid` that had not committed yet. */
  readonly open_xids: readonly number[];
}

/** More transactions than a server has connections. */
const MAX_OPEN = 10_000;
const TEXT =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)~(\d{1,15})~((?:\d{1,15}(?:,\d{1,15})*)?)$/;

/** Returns the present state. */
export async function readAsOf(sql: Sql): Promise<AsOf> {
  const [row] = await sql<{ at: Date; next_xid: number; open_xids: number[] }[]>`
    select weir_now() as at, pg_snapshot_xmax(now.snapshot)::text::int8 as next_xid,
      array(select xid::text::int8 from pg_snapshot_xip(now.snapshot) as xid) as open_xids
    from (select pg_current_snapshot() as snapshot) as now`;
  if (!row) throw new Error('the database returned no snapshot');
  return { at: row.at, next_xid: row.next_xid, open_xids: row.open_xids.map(Number) };
}

/** Returns the state as a text that clients send back: the instant comes first. */
export function writeAsOf({ at, next_xid, open_xids }: AsOf): string {
  return `${at.toISOString()}~${next_xid}~${open_xids.join()}`;
}

/** Reads a text of `writeAsOf`; undefined for any other text. */
export function parseAsOf(text: string): AsOf | undefined {
  const [, instant, next, open = ''] = TEXT.exec(text) ?? [];
  if (instant === undefined) return undefined;
  const open_xids = open === '' ? [] : open.split(',').map(Number);
  const at = new Date(instant);
  if (Number.isNaN(at.getTime()) || open_xids.length > MAX_OPEN) return undefined;
  return { at, next_xid: Number(next), open_xids };
}

/** True if two states have the same rows. */
export function isSameState(
  a: Pick<AsOf, 'next_xid' | 'open_xids'>,
  b: Pick<AsOf, 'next_xid' | 'open_xids'>,
): boolean {
  return a.next_xid === b.next_xid && a.open_xids.join() === b.open_xids.join();
}

/** A condition: the state has the row of `alias`, whose column `xid` names its transaction. */
export function isIn(sql: Sql, as_of: AsOf, alias: string) {
  const xid = sql(`${alias}.xid`);
  if (as_of.open_xids.length === 0) return sql`${xid} < ${as_of.next_xid}`;
  return sql`${xid} < ${as_of.next_xid} and ${xid} <> all(${as_of.open_xids as number[]}::int8[])`;
}
