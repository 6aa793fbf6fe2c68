import type { Sql } from 'postgres';
import { hashOf, readAudit } from './log.ts';

/** Lines of one query. */
const BATCH = 1_000;

/** What a check of a log found. */
export interface ChainCheck {
  /** The lines that were read. */
  readonly lines: number;
  /** The place of the first line that is missing or was changed; null if there is none. */
  readonly broken_at: number | null;
}

/**
 * Checks the log of an organization, or of the installation (null). Finds a line that was changed, one
 * that was removed, also the last ones, and lines in another order.
 */
export async function verifyAudit(sql: Sql, organization_id: string | null): Promise<ChainCheck> {
  const [head] = await sql<{ seq: number; hash: string }[]>`
    select seq, hash from audit_head where organization_id = ${organization_id ?? ''}`;
  let seq = 0;
  let last_hash = '';
  for (;;) {
    const lines = await readAudit(sql, organization_id, {}, { after_seq: seq }, BATCH);
    for (const { hash, ...line } of lines) {
      const follows = line.seq === seq + 1 && line.previous_hash === last_hash;
      if (!follows || hashOf(line) !== hash) return { lines: seq, broken_at: seq + 1 };
      seq = line.seq;
      last_hash = hash;
      // Lines after the head came later than it was read.
      if (seq === head?.seq && hash !== head.hash) return { lines: seq, broken_at: seq };
    }
    if (lines.length < BATCH) break;
  }
  const isWhole = head ? seq >= head.seq : seq === 0;
  return { lines: seq, broken_at: isWhole ? null : seq + 1 };
}
