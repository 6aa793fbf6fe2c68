import type { Sql } from 'postgres';
import { type Kept, readKept } from '../../records/kept.ts';
import { type AsOf, isSameState, writeAsOf } from '../as-of.ts';
import { type ChangedPartition, changedPartitions } from './changed.ts';
import { hasKeyModels } from './key-models.ts';

/** The state of the sums. */
interface Fold extends Pick<AsOf, 'next_xid' | 'open_xids'> {
  /** True if the sums of keys by model have this state too. */
  readonly has_key_models: boolean;
}

/** A transaction that reads one snapshot, and the state that the sums have in it. */
export interface Reader {
  readonly tx: Sql;
  /** The state of the sums; undefined while rows are folded that are older than the first fold. */
  readonly fold: Fold | undefined;
  /** The rows that retention has left. */
  readonly kept: Kept;
  /** Returns the partitions that have rows of either a state or the sums. Only while there is a `fold`. */
  readonly changedSince: (as_of: AsOf) => Promise<readonly ChangedPartition[]>;
}

/**
 * Runs queries in one snapshot of the database, so that no fold changes the sums between them. The
 * snapshot contains every state that was read before.
 */
export function readSums<Found>(
  sql: Sql,
  read: (reader: Reader) => Promise<Found>,
): Promise<Found> {
  return sql.begin('isolation level repeatable read read only', async (transaction) => {
    const tx = transaction as unknown as Sql;
    // This comes before the snapshot. Otherwise a month could be removed between both.
    const locked = tx`lock table usage_line, call_record in access share mode`.execute();
    // How many rows a query reads depends on its values. The general plan took seven times as long for the
    // days of some keys.
    const planned = tx`set local plan_cache_mode = force_custom_plan`.execute();
    const folded = tx<(Fold & { is_ready: boolean })[]>`
      select next_xid, open_xids, is_ready, ${hasKeyModels(tx)} as has_key_models
      from usage_fold`.execute();
    const [kept, [row]] = await Promise.all([readKept(tx), folded, locked, planned]);
    const fold = row?.is_ready ? { ...row, open_xids: row.open_xids.map(Number) } : undefined;
    const found = new Map<string, Promise<readonly ChangedPartition[]>>();
    const changedSince = (as_of: AsOf) => {
      if (!fold || isSameState(fold, as_of)) return Promise.resolve([]);
      const name = writeAsOf(as_of);
      const changed = found.get(name) ?? changedPartitions(tx, fold, as_of);
      found.set(name, changed);
      return changed;
    };
    return read({ tx, fold, kept, changedSince });
  }) as Promise<Found>;
}
