import type { Sql } from 'postgres';
import { type AsOf, isIn } from '../usage/as-of.ts';
import { byTransaction } from '../usage/roll-ups/plans.ts';
import { readSums } from '../usage/roll-ups/snapshot.ts';
import { compareSums, type Imbalance } from './audit.ts';

/** Charges of a key that the sums of usage do not have yet. */
interface NewCharges {
  readonly organization_id: string;
  readonly key_id: string;
  /** Nano-USD, as text. */
  readonly charged: string;
}

/**
 * Runs the audit of the books with the sums of usage instead of the usage lines, so it takes about as long
 * with many lines as with few. It reads only lines that are not in these sums yet. All in one snapshot of
 * the database. It does not check that the sums of usage are those of the lines, nor the charges of single
 * grants and holds (`lines-audit.ts` does). While Weir sums older lines, charges are not checked.
 */
export function findQuickImbalances(sql: Sql): Promise<Imbalance[]> {
  return readSums(sql, async ({ tx, fold }) => {
    if (!fold) return compareSums(tx, undefined);
    const lines = await newCharges(tx, { ...fold, at: new Date(0) });
    const column = (name: keyof NewCharges) => lines.map((line) => line[name]);
    return compareSums(
      tx,
      tx`
        select organization_id, key_id, sums.charged, sums.charged as folded from (
          select series_id, sum(charged_nano_usd) as charged from usage_key_day group by 1) as sums
        join usage_series on usage_series.id = series_id
        union all
        select organization_id, key_id, charged::numeric, 0 from unnest(
          ${column('organization_id')}::text[], ${column('key_id')}::text[],
          ${column('charged')}::text[]) as line(organization_id, key_id, charged)`,
    );
  });
}

/** Sums the lines that the sums of usage do not have. */
async function newCharges(tx: Sql, fold: AsOf): Promise<NewCharges[]> {
  const { next_xid, open_xids } = fold;
  const rows = await byTransaction(
    tx,
    () => tx<NewCharges[]>`
      select organization_id, key_id, sum(charged_nano_usd)::text as charged from (
        select organization_id, key_id, charged_nano_usd from usage_line
        where xid >= ${Math.min(next_xid, ...open_xids)} and not (${isIn(tx, fold, 'usage_line')})
        offset 0) as line group by 1, 2`,
  );
  return rows;
}
