import type { Sql } from 'postgres';
import { beginReading, endReading, readSlice } from '../../db/ledger/lines-audit.ts';

/** Runs the audit of all usage lines, a few at a time, and returns its verdict. */
export async function readWholeLinesAudit(sql: Sql): Promise<string> {
  let reading = await beginReading(sql);
  while (!reading.isDone) reading = await readSlice(sql, reading, 7);
  return (await endReading(sql, reading)).verdict;
}
