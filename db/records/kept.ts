import type { Sql } from 'postgres';

/** Which rows retention has left. A member is null if nothing of its table is removed. */
export interface Kept {
  /** All usage lines that are dated from here on are there. */
  readonly lines_since: Date | null;
  /** The same for records of calls without a charge. */
  readonly records_since: Date | null;
  /** No state whose next transaction is this or an earlier one can be read again; 0 = all can. */
  readonly last_xid: number;
}

/** Returns which rows are left. */
export async function readKept(sql: Sql): Promise<Kept> {
  const rows = await sql<{ table_name: string; rows_since: Date | null; last_xid: number }[]>`
    select table_name, rows_since, last_xid from usage_retention`;
  const sinceOf = (name: string) =>
    rows.find(({ table_name }) => table_name === name)?.rows_since ?? null;
  return {
    lines_since: sinceOf('usage_line'),
    records_since: sinceOf('call_record'),
    last_xid: Math.max(0, ...rows.map(({ last_xid }) => last_xid)),
  };
}

/** Returns `since` if a range that begins at `from` lacks rows; a range without `from` is open. */
export function lacking(from: Date | undefined, since: Date | null): Date | undefined {
  return since && (!from || from < since) ? since : undefined;
}
