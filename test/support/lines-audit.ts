import type { Sql } from '../../db/client.ts';
import {
  beginReading,
  endReading,
  type LinesVerdict,
  readSlice,
} from '../../db/ledger/lines-audit.ts';

/** Compares the books with all usage lines, which are read in slices. */
export async function auditLines(sql: Sql, lines_a_slice = 2): Promise<LinesVerdict> {
  let reading = await beginReading(sql);
  while (!reading.isDone) reading = await readSlice(sql, reading, lines_a_slice);
  return endReading(sql, reading);
}
