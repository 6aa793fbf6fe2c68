/** The sums that are folded, as a part of an answer. */
import type { Fragment } from 'postgres';
import { type Cover, EARLIEST, FILTERED, LATEST, scopeOf } from './cover.ts';
import { QUARTERS_A_DAY } from './entries.ts';
import type { SumsRequest } from './request.ts';
import { tablesOf } from './scopes.ts';
import type { Reader } from './snapshot.ts';
import { bucketOf, countedOf, isAmong } from './wanted.ts';
import { firstDayOf } from './weeks.ts';

/** So many series are named by their ids. Of more, the rows of the whole organization are read. */
const MAX_NAMED_SERIES = 200;

/**
 * Returns a query for the folded sums of a request, if there are any. It is in a list, because a promise of a query
 * would run it.
 */
export async function foldedPart(
  reader: Reader,
  request: SumsRequest,
  { from, until, days, weeks }: Cover,
): Promise<Fragment[]> {
  const { tx } = reader;
  const { filters, groups } = request;
  const { organization_id } = filters;
  const chosen = tx`select id from usage_series where ${seriesConditions(reader, request)}`;
  const few = await tx<{ id: number }[]>`${chosen} limit ${MAX_NAMED_SERIES + 1}`;
  if (few.length === 0) return [];
  const counted = countedOf(request);
  const sums = tx.unsafe(counted.map((name) => `sum(${name})::int8 as ${name}`).join(', '));
  const scope = scopeOf(reader, request);
  const { week: byWeeks, day: byDays, quarter: byQuarters } = tablesOf(scope);
  // The tables without quarters have a column that names the organization.
  const ofAll =
    byQuarters === undefined
      ? tx`owner_id = (select id from usage_series
          where organization_id = ${organization_id} and scope = 'total')`
      : tx`series_id in (${chosen})`;
  const of =
    few.length > MAX_NAMED_SERIES ? ofAll : tx`series_id = any(${few.map(({ id }) => id)}::int4[])`;
  const parts: Fragment[] = [];
  const addDays = (first: number, end: number) => {
    if (first >= end) return;
    parts.push(tx`
      select series_id, ${bucketOf({ tx }, request, `day * ${QUARTERS_A_DAY}`)} as bucket, ${sums}
      from ${tx(byDays)} where ${of} and day >= ${first} and day < ${end} group by 1, 2`);
  };
  // The sums of keys by model and so on have days only.
  const addQuarters = (first: number, last: number) => {
    if (byQuarters === undefined || first >= last) return;
    parts.push(tx`
      select series_id, ${bucketOf({ tx }, request, 'quarter')} as bucket, ${sums}
      from ${tx(byQuarters)} where ${of} and quarter >= ${first} and quarter < ${last} group by 1, 2`);
  };
  if (days) {
    const [first, last] = [days.from * QUARTERS_A_DAY, days.until * QUARTERS_A_DAY];
    if (weeks && byWeeks) {
      addDays(days.from, firstDayOf(weeks.from));
      parts.push(tx`
        select series_id, 1 as bucket, ${sums}
        from ${tx(byWeeks)} where ${of} and week >= ${weeks.from} and week < ${weeks.until} group by 1, 2`);
      addDays(firstDayOf(weeks.until), days.until);
    } else addDays(days.from, days.until);
    if (from !== EARLIEST) addQuarters(from, first);
    if (until !== LATEST) addQuarters(last, until);
  } else addQuarters(from, until);
  const names = tx.unsafe([...groups, 'bucket', ...counted].join(', '));
  const all = parts.reduce((before, part) => tx`${before} union all ${part}`);
  const named = tx`
    select ${names} from (${all}) as folded
    join usage_series on usage_series.id = folded.series_id
      and ${seriesConditions(reader, request)}`;
  return [named];
}

/** Which series answer a request. The organization is always among the conditions (P6). */
function seriesConditions(reader: Reader, request: SumsRequest): Fragment {
  const { tx } = reader;
  const { filters } = request;
  const { organization_id, key_id, key_ids, outcomes } = filters;
  const names = FILTERED.filter((name) => filters[name] !== undefined).map(
    (name) => tx`and ${tx(name)} = ${filters[name] ?? ''}`,
  );
  return tx`organization_id = ${organization_id} and scope = ${scopeOf(reader, request)}
    ${key_id === undefined ? tx`` : tx`and key_id = ${key_id}`}
    ${key_ids === undefined ? tx`` : tx`and key_id = any(${[...key_ids]}::text[])`}
    ${outcomes === undefined ? tx`` : tx`and outcome = any(${[...outcomes]}::text[])`}
    ${names.reduce((all, name) => tx`${all} ${name}`, tx``)} ${isAmong({ tx }, request)}`;
}
