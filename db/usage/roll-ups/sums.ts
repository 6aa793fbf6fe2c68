import type { Fragment, Sql } from 'postgres';
import { isIn } from '../as-of.ts';
import { conditions } from '../filters.ts';
import { COUNTERS, type Counter, type Counts, TOOK_COLUMNS } from './counters.ts';
import { type Cover, coverOf, EARLIEST, LATEST, uncovered } from './cover.ts';
import { entriesOf } from './entries.ts';
import { foldedPart } from './folded.ts';
import { byTransaction } from './plans.ts';
import type { SumsRequest } from './request.ts';
import type { Reader } from './snapshot.ts';
import { bucketOf, countedOf, isAmong } from './wanted.ts';

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
  const parts = await partsOf(reader, request);
  if (parts.all.length === 0) return [];
  const names = groups.map((name) => `${name}, `).join('');
  const rows = await queried(
    reader,
    parts,
    (all) => tx<Record<string, string | number>[]>`
    select ${tx.unsafe(names)} bucket,
      ${tx.unsafe(counted.map((name) => `coalesce(sum(${name}), 0)::int8 as ${name}`).join(', '))}
    from (${all}) as part group by ${tx.unsafe(names)} bucket`,
  );
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

/** The groups with the largest sums, and the number of all groups. */
interface Ranking {
  readonly names: readonly (readonly string[])[];
  readonly count: number;
}

/**
 * Returns the groups with the largest sums of one counter. Groups with equal sums are sorted by their
 * names, so that two answers have the same ones.
 */
export async function rankUsage(
  reader: Reader,
  request: SumsRequest,
  counter: Counter,
  limit: number,
): Promise<Ranking> {
  const { tx } = reader;
  const { groups } = request;
  const parts = await partsOf(reader, { ...request, counters: [counter], took: false });
  if (parts.all.length === 0) return { names: [], count: 0 };
  const names = tx.unsafe(groups.join(', '));
  const order = tx.unsafe(groups.map((name) => `${name} collate "C"`).join(', '));
  // A group whose rows all came after `as_of` has no requests then.
  const rows = await queried(
    reader,
    parts,
    (all) => tx<{ [name: string]: string; count: never }[]>`
    select ${names}, count(*) over ()::int4 as count from (${all}) as part
    group by ${names} having sum(requests) <> 0
    order by coalesce(sum(${tx(counter)}), 0) desc, ${order} limit ${limit}`,
  );
  return {
    names: rows.map((row) => groups.map((name) => row[name] ?? '')),
    count: Number(rows[0]?.count ?? 0),
  };
}

/** The parts of which sums are made. */
interface Parts {
  readonly all: readonly Fragment[];
  /** True if one of them finds rows by their transactions. */
  readonly byTransaction: boolean;
}

async function partsOf(reader: Reader, request: SumsRequest): Promise<Parts> {
  const cover = coverOf(reader, request);
  const folded = cover ? await foldedPart(reader, request, cover) : [];
  const corrections = cover ? await correction(reader, request, cover) : [];
  return {
    all: [...folded, ...corrections, ...edges(reader, request, cover)],
    byTransaction: corrections.length > 0,
  };
}

/** Runs a query of all parts together. */
function queried<Rows>(
  { tx }: Reader,
  parts: Parts,
  query: (all: Fragment) => PromiseLike<Rows>,
): PromiseLike<Rows> {
  const all = parts.all.reduce((before, part) => tx`${before} union all ${part}`);
  return parts.byTransaction ? byTransaction(tx, () => query(all)) : query(all);
}

/** Rows that are either in the state or in the fold: the former are added, the latter removed. */
async function correction(
  { tx, fold, changedSince }: Reader,
  request: SumsRequest,
  cover: Cover,
): Promise<Fragment[]> {
  const { as_of } = request;
  if (!fold) return [];
  const lowest = Math.min(fold.next_xid, as_of.next_xid);
  const open = [...fold.open_xids, ...as_of.open_xids].filter((xid) => xid < lowest);
  const from = cover.from === EARLIEST ? tx`` : tx`and quarter >= ${cover.from}`;
  const until = cover.until === LATEST ? tx`` : tx`and quarter < ${cover.until}`;
  return (await changedSince(as_of)).map(({ table, name }) => {
    const inState = isIn(tx, as_of, table);
    const inFold = isIn(tx, { ...fold, at: as_of.at }, table);
    const early = open.length === 0 ? tx`` : tx`or xid = any(${open}::int8[])`;
    // The first part lets the index on `xid` skip old pages.
    const where = tx`xid >= ${Math.min(lowest, ...open)} and (xid >= ${lowest} ${early})
      and (${inState}) <> (${inFold})`;
    return summedRows(tx, request, {
      rows: tx`${entriesOf(tx, table, where, name)} offset 0`,
      where: tx`${chosenBy(tx, request, 'entry')} ${from} ${until}`,
      sign: tx`case when ${isIn(tx, as_of, 'entry')} then 1 else -1 end`,
    });
  });
}

/** Rows of the times at both ends that the sums do not cover; all rows if they cover nothing. */
function edges({ tx }: Reader, request: SumsRequest, cover: Cover | undefined): Fragment[] {
  const { as_of } = request;
  return uncovered(request, cover).flatMap((span) =>
    (['usage_line', 'call_record'] as const).map((table) => {
      const where = tx`${chosenBy(tx, request, table)} and ${isIn(tx, as_of, table)}
        ${span.from ? tx`and at >= ${span.from}` : tx``}
        ${span.until ? tx`and at < ${span.until}` : tx``}`;
      return summedRows(tx, request, {
        ...{ rows: entriesOf(tx, table, where), where: tx`true`, sign: tx`1` },
      });
    }),
  );
}

/** The conditions of the filters that rows of `alias` have as columns, but for the time. */
function chosenBy(tx: Sql, { filters }: SumsRequest, alias: string): Fragment {
  const { model: _, model_vendor: __, access_channel: ___, key_ids, outcomes, ...rest } = filters;
  return tx`${conditions(tx, { ...rest, from: undefined, until: undefined }, alias)}
    ${key_ids ? tx`and key_id = any(${[...key_ids]}::text[])` : tx``}
    ${outcomes ? tx`and outcome = any(${[...outcomes]}::text[])` : tx``}`;
}

/** Rows of a table as a part of the sums. */
function summedRows(
  tx: Sql,
  request: SumsRequest,
  { rows, where, sign }: { rows: Fragment; where: Fragment; sign: Fragment },
): Fragment {
  const { filters, groups } = request;
  const { model, model_vendor, access_channel } = filters;
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
      from (${rows}) as entry where ${where} ${is('model', model)}
        ${is('model_vendor', model_vendor)} ${is('access_channel', access_channel)}
        ${isAmong({ tx }, request)}) as signed
    group by ${tx.unsafe(names)} bucket`;
}
