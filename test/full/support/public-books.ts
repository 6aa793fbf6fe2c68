/**
 * Everything that an organization reads of its money on the public interface, in one shape, so that
 * each view can be compared with the same expectation. Amounts are whole nano-USD.
 */
import { parse } from 'csv-parse/sync';
import type { HistoryWorld } from './history-world.ts';

/** Amounts by a name, without those of zero. */
export type Amounts = Record<string, bigint>;

/** The sums of a view. A view lacks the members that it does not show. */
export interface Sums {
  total: bigint;
  requests?: number;
  tokens?: string;
  by_model?: Amounts;
  by_key?: Amounts;
  by_scene?: Amounts;
  /** Sums over groups whose names the expectation does not know. */
  other_groups?: bigint[];
}

interface Line {
  request_id: string;
  amount: number;
  list_price: number;
  held?: number;
  outcome: string;
  api_key_id: string;
  date: string;
}

interface Counted {
  amount: number;
  list_price: number;
  requests: number;
  input_tokens: number;
  output_tokens: number;
}

type Groups = Record<
  'by_day' | 'by_model' | 'by_vendor' | 'by_scene' | 'by_access_channel',
  (Counted & { name: string })[]
>;

/** An amount of an answer, USD as a JSON number, as whole nano-USD. */
const nano = (usd: number) => BigInt(usd.toFixed(9).replace('.', ''));
const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n);

export function amountsBy<Row>(
  rows: readonly Row[],
  name: (row: Row) => string,
  amount: (row: Row) => bigint,
): Amounts {
  const amounts: Amounts = {};
  for (const row of rows) {
    const so_far = (amounts[name(row)] ?? 0n) + amount(row);
    if (so_far !== 0n) amounts[name(row)] = so_far;
  }
  return amounts;
}

/** Reads the views that are sums. Retention must not change them. */
export async function readSums(
  world: HistoryWorld,
  months: readonly string[],
): Promise<Record<string, Sums>> {
  const { data: keys } = await world.manage<{ data: { id: string; used_amount: number }[] }>(
    '/api-keys',
  );
  const views: Record<string, Sums> = {
    'used amounts': {
      ...totalOf(
        amountsBy(
          keys,
          ({ id }) => id,
          ({ used_amount }) => nano(used_amount),
        ),
      ),
    },
  };
  const balance =
    await world.manage<Record<'total_deposited' | 'available' | 'held' | 'used', number>>(
      '/balance',
    );
  views['balance: used'] = { total: nano(balance.used) };
  const { total_deposited, available, held } = balance;
  views['balance: the rest'] = { total: nano(total_deposited) - nano(available) - nano(held) };
  views['billing'] = billingSums(await world.manage('/billing'));
  const byKey = await Promise.all(
    keys.map(async ({ id }) => ({
      ...{ id, bill: billingSums(await world.manage(`/api-keys/${id}/billing`)) },
    })),
  );
  views['billing of keys'] = totalOf(
    amountsBy(
      byKey,
      ({ id }) => id,
      ({ bill }) => bill.total,
    ),
  );
  views['groups of the billing of keys'] = {
    total: sumOf(byKey.map(({ bill }) => bill.total)),
    by_model: merged(byKey.map(({ bill }) => bill.by_model ?? {})),
    by_scene: merged(byKey.map(({ bill }) => bill.by_scene ?? {})),
  };
  const statements = await Promise.all(
    months.map(async (month) => {
      const statement = await world.manage<
        Groups & {
          charged: Counted;
          held: number;
          by_api_key: { api_key_id: string; amount: number }[];
        }
      >(`/statements/${month}`);
      if (statement.held !== 0) throw new Error(`${month} still holds ${statement.held} USD`);
      return {
        sums: billingSums({ ...statement, total: statement.charged }),
        keys: amountsBy(
          statement.by_api_key,
          ({ api_key_id }) => api_key_id,
          ({ amount }) => nano(amount),
        ),
      };
    }),
  );
  views['statement'] = {
    total: sumOf(statements.map(({ sums }) => sums.total)),
    requests: statements.reduce((all, { sums }) => all + (sums.requests ?? 0), 0),
    by_model: merged(statements.map(({ sums }) => sums.by_model ?? {})),
    by_scene: merged(statements.map(({ sums }) => sums.by_scene ?? {})),
    by_key: merged(statements.map(({ keys: of }) => of)),
  };
  for (const [group, member] of [
    ['logical_model', 'by_model'],
    ['api_key_id', 'by_key'],
    ['scene', 'by_scene'],
  ] as const) {
    views[`query by ${group}`] = await readQuery(world, months, group, member);
  }
  return views;
}

function totalOf(by_key: Amounts): Sums {
  return { total: sumOf(Object.values(by_key)), by_key };
}

function merged(parts: readonly Amounts[]): Amounts {
  return amountsBy(
    parts.flatMap((part) => Object.entries(part)),
    ([name]) => name,
    ([, amount]) => amount,
  );
}

function billingSums({ total, ...groups }: Groups & { total: Counted }): Sums {
  const by = (group: keyof Groups) =>
    amountsBy(
      groups[group],
      ({ name }) => name,
      ({ amount }) => nano(amount),
    );
  const others = (['by_day', 'by_vendor', 'by_access_channel'] as const).map((group) =>
    sumOf(Object.values(by(group))),
  );
  return {
    total: nano(total.amount),
    requests: total.requests,
    tokens: `${total.input_tokens} in, ${total.output_tokens} out`,
    by_model: by('by_model'),
    by_scene: by('by_scene'),
    other_groups: others,
  };
}

async function readQuery(
  world: HistoryWorld,
  months: readonly string[],
  group: string,
  member: 'by_model' | 'by_key' | 'by_scene',
): Promise<Sums> {
  const [first = '', last = first] = [months[0], months.at(-1)];
  const end = new Date(Date.UTC(Number(last.slice(0, 4)), Number(last.slice(5)), 0));
  const range = `startDate=${first}-01&endDate=${end.toISOString().slice(0, 10)}`;
  const answer = await world.manage<{
    total: { value: number | null; values: (number | null)[] };
    series: { group: string; value: number | null }[];
    other: unknown;
  }>(`/usage/query?metric=cost&group=${group}&top=50&${range}`);
  if (answer.other !== null) throw new Error(`the query by ${group} has other series`);
  return {
    total: nano(answer.total.value ?? 0),
    [member]: amountsBy(
      answer.series,
      (series) => series.group,
      ({ value }) => nano(value ?? 0),
    ),
    other_groups: [sumOf(answer.total.values.map((value) => nano(value ?? 0)))],
  };
}

/** The views that list each charge: the amounts by the id of the request, without `req_`. */
export interface Lists {
  readonly views: Record<string, Amounts>;
  /** The names of the dates from which on all charges are listed; null for a list without. */
  readonly since: Record<string, string | null>;
  /** The key and the list price of each charge, by the id of its request. */
  readonly keys: ReadonlyMap<string, string>;
  /** The outcomes of all calls by the id of the request. A call has one. */
  readonly outcomes: ReadonlyMap<string, readonly string[]>;
  /** All charges by their dates. */
  readonly dates: readonly string[];
}

/** Reads all lists to their ends. */
export async function readLists(world: HistoryWorld): Promise<Lists> {
  const since: Lists['since'] = {};
  const views: Lists['views'] = {};
  const usage = await readPages(world, '/usage');
  const { data: keys } = await world.manage<{ data: { id: string }[] }>('/api-keys');
  const ofKeys = await Promise.all(keys.map(({ id }) => readPages(world, `/api-keys/${id}/usage`)));
  const calls = await readCalls(world);
  for (const [name, lists] of Object.entries({
    usage: [usage],
    'usage of keys': ofKeys,
    requests: [calls],
  })) {
    const lines = lists.flatMap(({ data }) => data);
    views[name] = byRequest(lines.map((line) => [line.request_id, nano(line.amount)]));
    since[name] = lists.at(0)?.lines_since ?? null;
    if (name === 'requests') continue;
    views[`${name}: list prices`] = byRequest(
      lines.map(({ request_id, list_price }) => [request_id, nano(list_price)]),
    );
  }
  const csv = await world.fetchManaged('/usage/export?format=csv');
  const rows = parse(await csv.text(), { columns: true }) as Record<string, string>[];
  views['csv'] = byRequest(
    rows.map(({ request_id = '', amount_usd = '' }) => [
      request_id,
      BigInt(amount_usd.replace('.', '')),
    ]),
  );
  since['csv'] = csv.headers.get('x-weir-lines-since');
  const ndjson = await world.fetchManaged('/usage/export?format=ndjson');
  const objects = (await ndjson.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { request_id: string; amount_nano_usd: number });
  views['ndjson'] = byRequest(
    objects.map(({ request_id, amount_nano_usd }) => [request_id, BigInt(amount_nano_usd)]),
  );
  since['ndjson'] = ndjson.headers.get('x-weir-lines-since');
  return {
    ...{ views, since },
    keys: new Map(usage.data.map((line) => [line.request_id.slice(4), line.api_key_id])),
    outcomes: new Map(
      [...Map.groupBy(calls.data, ({ request_id }) => request_id.slice(4))].map(([id, listed]) => [
        id,
        listed.map(({ outcome }) => outcome),
      ]),
    ),
    dates: usage.data.map(({ date }) => date),
  };
}

/** Amounts by the id of a request. A request that is listed twice counts twice. */
function byRequest(lines: readonly (readonly [request_id: string, amount: bigint])[]): Amounts {
  return amountsBy(
    lines,
    ([request_id]) => request_id.slice(4),
    ([, amount]) => amount,
  );
}

interface Listed {
  data: Line[];
  lines_since?: string | undefined;
}

async function readPages(world: HistoryWorld, path: string): Promise<Listed> {
  const data: Line[] = [];
  let as_of = '';
  for (let page = 1; ; page += 1) {
    const answer = await world.manage<Listed & { has_more: boolean; total: number; as_of: string }>(
      `${path}?limit=17&page=${page}${as_of}`,
    );
    data.push(...answer.data);
    as_of ||= `&as_of=${encodeURIComponent(answer.as_of)}`;
    if (answer.has_more) continue;
    if (data.length !== answer.total) {
      throw new Error(`${path} has ${data.length} lines, and says ${answer.total}`);
    }
    return { data, lines_since: answer.lines_since };
  }
}

async function readCalls(world: HistoryWorld): Promise<Listed> {
  const data: Line[] = [];
  for (let cursor = ''; ; ) {
    const answer = await world.manage<Listed & { next_cursor: string | null }>(
      `/requests?limit=100${cursor}`,
    );
    data.push(...answer.data);
    if (answer.next_cursor === null) return { data, lines_since: answer.lines_since };
    cursor = `&cursor=${answer.next_cursor}`;
  }
}
