/** What a request for sums wants, as parts of SQL. */
import type { Fragment } from 'postgres';
import { COUNTERS, TOOK_COLUMNS } from './counters.ts';
import { isOneBucket } from './cover.ts';
import { QUARTERS_A_DAY } from './entries.ts';
import type { SumsRequest } from './request.ts';
import type { Reader } from './snapshot.ts';

/** The columns that are summed. */
export function countedOf({ counters = COUNTERS, took = false }: SumsRequest): string[] {
  return [...new Set(['requests', ...counters, ...(took ? TOOK_COLUMNS : [])])];
}

/** The condition that a row has the names of one of the wanted groups. */
export function isAmong({ tx }: Pick<Reader, 'tx'>, { groups, among }: SumsRequest): Fragment {
  if (!among || groups.length === 0) return tx``;
  const columns = groups.map((_, at) => tx`${among.map((names) => names[at] ?? '')}::text[]`);
  const lists = columns.reduce((all, list) => tx`${all}, ${list}`);
  return tx`and (${tx.unsafe(groups.join(', '))}) in (select * from unnest(${lists}))`;
}

/** The number of the bucket of a quarter, from 1. */
export function bucketOf(
  { tx }: Pick<Reader, 'tx'>,
  { starts }: SumsRequest,
  quarter: string,
): Fragment {
  if (starts === 'utc_days') {
    return tx`floor(${tx.unsafe(quarter)} / ${tx.unsafe(`${QUARTERS_A_DAY}.0`)})::int4 + 1`;
  }
  if (!starts || isOneBucket(starts)) return tx`1`;
  return tx`width_bucket(${tx.unsafe(quarter)}, ${[...starts]}::int4[])`;
}
