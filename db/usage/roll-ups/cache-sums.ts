/**
 * The sums of the cache: look-ups, hits, and what the hits saved. A replica of a version that does not know them
 * may fold too, while versions are replaced. So `usage_fold` says which rows they have, and the next fold adds
 * the rows that are in all other sums and not in these. Rows that are older than the first fold have no part in this:
 * while they are folded, no replica of an earlier version runs beside one that records look-ups.
 */
import type { Fragment, Sql } from 'postgres';
import type { AsOf } from '../as-of.ts';
import { addToSums, forgetEntries, groupEntries } from './additions.ts';
import { changedPartitions } from './changed.ts';
import { COUNTERS, type Counter } from './counters.ts';
import { DIMENSIONS, entriesOf, isNew } from './entries.ts';
import { byTransaction } from './plans.ts';

type Snapshot = Pick<AsOf, 'next_xid' | 'open_xids'>;

const OF_CACHE: readonly Counter[] = ['cache_lookups', 'cache_hits', 'saved_nano_usd'];
const NAMES = `organization_id, key_id, ${DIMENSIONS.join(', ')}, quarter`;
const ONLY_CACHE = COUNTERS.map((name) => (OF_CACHE.includes(name) ? name : `0 as ${name}`)).join(
  ', ',
);

/** The condition on `usage_fold` that the sums of the cache have the state of the fold. */
export function hasCacheSums(tx: Sql): Fragment {
  return tx`(cache_next_xid = next_xid and cache_open_xids = open_xids)`;
}

/** Notes, in the transaction of a fold, that the sums of the cache have the state of the fold. */
export async function noteCacheSums(tx: Sql): Promise<void> {
  await tx`update usage_fold set cache_next_xid = next_xid, cache_open_xids = open_xids`;
}

/** Adds the rows that are in all other sums and not in those of the cache, in the transaction of a fold. */
export async function catchUpCacheSums(tx: Sql, has_key_models: boolean): Promise<void> {
  const [states] = await tx<{ from: Snapshot; until: Snapshot }[]>`
    select json_build_object('next_xid', cache_next_xid, 'open_xids', cache_open_xids) as from,
      json_build_object('next_xid', next_xid, 'open_xids', open_xids) as until
    from usage_fold`;
  if (!states) return;
  const { from, until } = states;
  const changed = await changedPartitions(tx, from, until);
  if (changed.length > 0) {
    const rows = changed.map(
      ({ table, name }) => tx`
        select ${tx.unsafe(`${NAMES}, null::int4 as took, ${ONLY_CACHE}`)}
        from (${entriesOf(tx, table, tx`${isNew(tx, from, until, table)} and looked_up`, name)}) as entry`,
    );
    const all = rows.reduce((before, part) => tx`${before} union all ${part}`);
    const entries = await byTransaction(tx, () => groupEntries(tx, all));
    await addToSums(tx, entries, has_key_models);
    await forgetEntries(tx);
  }
  await noteCacheSums(tx);
}
