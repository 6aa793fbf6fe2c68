import type { Sql } from 'postgres';
import { isIn } from './as-of.ts';

/** Rows of usage that have the number of their transaction. */
const TABLES = ['usage_line', 'call_record'] as const;

/** The state of the sums, with the first transaction number that this server has not given yet. */
interface Restored {
  readonly next_xid: number;
  readonly open_xids: readonly number[];
  readonly present: number;
}

/**
 * Numbers the rows of usage again, if the database was restored from a dump of another server. That
 * server's transaction numbers may be higher than this server's, and a row with a number that was not
 * given yet is in no state (`isIn`). Rows that are in the sums get the number 0; the others get that of
 * this transaction, so the next fold adds them. Returns true if rows were numbered again. That takes
 * time for each row, but happens once.
 */
export function numberRestoredUsage(sql: Sql): Promise<boolean> {
  return sql.begin(async (transaction) => {
    const tx = transaction as unknown as Sql;
    // The lock makes other replicas wait. They find the rows in order then.
    const [state] = await tx<Restored[]>`
      select next_xid, open_xids, pg_snapshot_xmax(pg_current_snapshot())::text::int8 as present
      from usage_fold for update`;
    if (!state || !(await isRestored(tx, state))) return false;
    // All rows are written, which may take minutes.
    await tx`set local statement_timeout = 0`;
    const open_xids = state.open_xids.map(Number);
    const folded = { next_xid: state.next_xid, open_xids, at: new Date(0) };
    for (const table of TABLES) {
      const isFolded = state.next_xid === 0 ? tx`true` : isIn(tx, folded, table);
      await tx`
        update ${tx(table)} set xid =
          case when ${isFolded} then 0 else pg_current_xact_id()::text::int8 end`;
    }
    await tx`update usage_retention set last_xid = 0`;
    await tx`
      update usage_fold set open_xids = '{}', cache_open_xids = '{}',
        next_xid = case when next_xid = 0 then 0 else pg_current_xact_id()::text::int8 end,
        cache_next_xid = case when next_xid = 0 then 0 else pg_current_xact_id()::text::int8 end`;
    return true;
  }) as Promise<boolean>;
}

async function isRestored(tx: Sql, { next_xid, present }: Restored): Promise<boolean> {
  if (next_xid > 0) return next_xid > present;
  // Nothing is in the sums yet.
  const [row] = await tx<{ found: boolean }[]>`
    select exists (select from usage_line where xid > ${present})
      or exists (select from call_record where xid > ${present}) as found`;
  return row?.found ?? false;
}
