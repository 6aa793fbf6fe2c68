import type { Fragment } from 'postgres';
import { isIn } from '../as-of.ts';
import { conditions } from '../filters.ts';
import { COUNTERS, type Counts, TOOK_COLUMNS } from './counters.ts';
import {
  type Cover,
  coverOf,
  EARLIEST,
  FILTERED,
  instantOf,
  LATEST,
  scopeOf,
  uncovered,
} from './cover.ts';
import { type EntryTable, entriesOf, QUARTERS_A_DAY } from './entries.ts';
import type { SumsRequest } from './request.ts';
import type { Reader } from './snapshot.ts';

/** The sums of one group in one bucket. */
export interface SumsRow {
  readonly key_id?: string;
  readonly scene?: string;
  readonly model?: string;
  readonly model_vendor?: string;
  readonly access_channel?: string;
  readonly protocol?: string;
  readonly outcome?: string;
  /** The place of the bucket in `starts`, from 0; the number of the day with `utc_days`. */
  readonly bucket: number;
  readonly counts: Counts;
}

/**
 * Returns sums of usage lines and records of calls as they were in the state `as_of`: the sums that
 * are folded, plus rows of the state that the fold lacks, minus rows of the fold that the state
 * lacks, plus rows of the times at both ends that no whole quarter covers.
 */
export async function readUsage(reader: Reader, request: SumsRequest): Promise<SumsRow[]> {
  const { tx } = reader;
  const { groups, took = false } = request;
  const counted = countedOf(request);
  const cover = coverOf(reader, request);
  const parts: Fragment[] = [];
  if (cover) {
    const folded = await foldedPart(reader, request, cover);
    parts.push(...folded, ...correction(reader, request, cover));
  }
  parts.push(...edges(reader, request, cover));
  if (parts.length === 0) return [];
  const names = groups.map((name) => `${name}, `).join('');
  const all = parts.reduce((joined, part) => tx`${joined} union all ${part}`);
  const rows = await tx<Record<string, string | number>[]>`
    select ${tx.unsafe(names)} bucket,
      ${tx.unsafe(counted.map((name) => `coalesce(sum(${name}), 0)::int8 as ${name}`).join(', '))}
    from (${all}) as part group by ${tx.unsafe(names)} bucket`;
  return rows.flatMap((row) => {
    const counts = {
      ...Object.fromEntries(COUNTERS.map((name) => [name, Number(row[name] ?? 0)])),
      took: took ? TOOK_COLUMNS.map((name) => row[name] as number) : [],
    } as unknown as Counts;
    // A group whose rows all came after `as_of` has no requests then.
    if (counts.requests === 0) return [];
    const group = Object.fromEntries(groups.map((name) => [name, row[name]]));
    return [{ ...group, bucket: Number(row['bucket']) - 1, counts }];
  });
}

/** The columns that are summed. */
function countedOf({ counters = COUNTERS, took = false }: SumsRequest): string[] {
  return [...new Set(['requests', ...counters, ...(took ? TOOK_COLUMNS : [])])];
}

/** The sums that are folded. */
async function foldedPart(
  { tx }: Reader,
  request: SumsRequest,
  { from, until, days }: Cover,
): Promise<Fragment[]> {
  const { filters, groups } = request;
  const { organization_id } = filters;
  const ids = (
    await tx<{ id: number }[]>`
      select id from usage_series where ${seriesConditions({ tx }, request)}`
  ).map(({ id }) => id);
  if (ids.length === 0) return [];
  const counted = countedOf(request);
  const sums = tx.unsafe(counted.map((name) => `sum(${name}) as ${name}`).join(', '));
  const of = tx`series_id = any(${ids}::int4[])`;
  const byDay = (span: { from: number; until: number }) => tx`
    select series_id, ${bucketOf({ tx }, request, `day * ${QUARTERS_A_DAY}`)} as bucket, ${sums}
    from usage_day where ${of} and day >= ${span.from} and day < ${span.until} group by 1, 2`;
  const byQuarter = (first: number, last: number) => tx`
    select series_id, ${bucketOf({ tx }, request, 'quarter')} as bucket, ${sums}
    from usage_quarter where ${of} and quarter >= ${first} and quarter < ${last} group by 1, 2`;
  const parts: Fragment[] = [];
  if (days) {
    const [first, last] = [days.from * QUARTERS_A_DAY, days.until * QUARTERS_A_DAY];
    parts.push(byDay(days));
    // The sums of keys by model and so on have days only.
    if (from < first && from !== EARLIEST) parts.push(byQuarter(from, first));
    if (last < until && until !== LATEST) parts.push(byQuarter(last, until));
  } else parts.push(byQuarter(from, until));
  const names = tx.unsafe([...groups, 'bucket', ...counted].join(', '));
  return parts.map(
    (part) => tx`
      select ${names} from (${part}) as folded
      join usage_series on usage_series.id = folded.series_id
        and usage_series.organization_id = ${organization_id}`,
  );
}

/** Which series answer a request. The organization is always among the conditions (P6). */
function seriesConditions({ tx }: Pick<Reader, 'tx'>, request: SumsRequest): Fragment {
  const { filters } = request;
  const { organization_id, key_id, key_ids, outcomes } = filters;
  const names = FILTERED.filter((name) => filters[name] !== undefined).map(
    (name) => tx`and ${tx(name)} = ${filters[name] ?? ''}`,
  );
  return tx`organization_id = ${organization_id} and scope = ${scopeOf(request)}
    ${key_id === undefined ? tx`` : tx`and key_id = ${key_id}`}
    ${key_ids === undefined ? tx`` : tx`and key_id = any(${[...key_ids]}::text[])`}
    ${outcomes === undefined ? tx`` : tx`and outcome = any(${[...outcomes]}::text[])`}
    ${names.reduce((all, name) => tx`${all} ${name}`, tx``)} ${isAmong({ tx }, request)}`;
}

/** The condition that a row has the names of one of the wanted groups. */
function isAmong({ tx }: Pick<Reader, 'tx'>, { groups, among }: SumsRequest): Fragment {
  if (!among || groups.length === 0) return tx``;
  const columns = groups.map((_, at) => tx`${among.map((names) => names[at] ?? '')}::text[]`);
  const lists = columns.reduce((all, list) => tx`${all}, ${list}`);
  return tx`and (${tx.unsafe(groups.join(', '))}) in (select * from unnest(${lists}))`;
}

/** Rows that are either in the state or in the fold: the former are added, the latter removed. */
function correction({ tx, fold }: Reader, request: SumsRequest, cover: Cover): Fragment[] {
  const { as_of } = request;
  if (!fold) return [];
  const lowest = Math.min(fold.next_xid, as_of.next_xid);
  const open = [...fold.open_xids, ...as_of.open_xids].filter((xid) => xid < lowest);
  const isSame =
    fold.next_xid === as_of.next_xid && fold.open_xids.join() === as_of.open_xids.join();
  if (isSame) return [];
  return rowsOf({ tx }, request, (table) => {
    const inState = isIn(tx, as_of, table);
    const inFold = isIn(tx, { ...fold, at: as_of.at }, table);
    const early = open.length === 0 ? tx`` : tx`or xid = any(${open}::int8[])`;
    const from = cover.from === EARLIEST ? tx`` : tx`and at >= ${instantOf(cover.from)}`;
    const until = cover.until === LATEST ? tx`` : tx`and at < ${instantOf(cover.until)}`;
    return {
      // The first part lets the index on `xid` skip old pages.
      where: tx`xid >= ${Math.min(lowest, ...open)} and (xid >= ${lowest} ${early})
        and (${inState}) <> (${inFold}) ${from} ${until}`,
      sign: tx`case when ${isIn(tx, as_of, 'entry')} then 1 else -1 end`,
    };
  });
}

/** Rows of the times at both ends that the sums do not cover; all rows if they cover nothing. */
function edges({ tx }: Reader, request: SumsRequest, cover: Cover | undefined): Fragment[] {
  const { as_of } = request;
  return uncovered(request, cover).flatMap((span) =>
    rowsOf({ tx }, request, (table) => ({
      where: tx`${isIn(tx, as_of, table)}
        ${span.from ? tx`and at >= ${span.from}` : tx``}
        ${span.until ? tx`and at < ${span.until}` : tx``}`,
      sign: tx`1`,
    })),
  );
}

/** Rows of both tables that the filters and `of` choose, as parts of the sums. */
function rowsOf(
  { tx }: Pick<Reader, 'tx'>,
  request: SumsRequest,
  of: (table: EntryTable) => { where: Fragment; sign: Fragment },
): Fragment[] {
  const { filters, groups } = request;
  const { model, model_vendor, access_channel, from: _, until: __, ...rest } = filters;
  return (['usage_line', 'call_record'] as const).map((table) => {
    const { where, sign } = of(table);
    const { key_ids, outcomes } = filters;
    const rows = entriesOf(
      tx,
      table,
      tx`${conditions(tx, rest, table)} and ${where}
        ${key_ids ? tx`and key_id = any(${[...key_ids]}::text[])` : tx``}
        ${outcomes ? tx`and outcome = any(${[...outcomes]}::text[])` : tx``}`,
    );
    const names = groups.map((name) => `${name}, `).join('');
    const sums = countedOf(request).map((name) => {
      const took_class = TOOK_COLUMNS.indexOf(name);
      if (took_class < 0) return `sum(sign * ${name}) as ${name}`;
      return `sum(sign) filter (where took = ${took_class}) as ${name}`;
    });
    const is = (name: 'model' | 'model_vendor' | 'access_channel', value: string | undefined) =>
      value === undefined ? tx`` : tx`and ${tx(name)} = ${value}`;
    return tx`
      select ${tx.unsafe(names)} bucket,
        ${tx.unsafe(sums.join(', '))}
      from (select entry.*, ${sign} as sign, ${bucketOf({ tx }, request, 'quarter')} as bucket
        from (${rows}) as entry where true ${is('model', model)}
          ${is('model_vendor', model_vendor)} ${is('access_channel', access_channel)}
          ${isAmong({ tx }, request)}) as signed
      group by ${tx.unsafe(names)} bucket`;
  });
}

/** The number of the bucket of a quarter, from 1. */
function bucketOf({ tx }: Pick<Reader, 'tx'>, { starts }: SumsRequest, quarter: string): Fragment {
  if (starts === 'utc_days') {
    return tx`floor(${tx.unsafe(quarter)} / ${tx.unsafe(`${QUARTERS_A_DAY}.0`)})::int4 + 1`;
  }
  if (!starts || starts.length < 2) return tx`1`;
  return tx`width_bucket(${tx.unsafe(quarter)}, ${[...starts]}::int4[])`;
}
