import type { Query } from '../../api/url.ts';

const HOUR_MS = 3_600_000;
const QUARTER_MS = HOUR_MS / 4;

/** The filters that the list of requests and the explorer share, by the names of the API. */
const FILTERS = [
  'api_key_id',
  'logicalModel',
  'modelVendor',
  'scene',
  'accessChannel',
  'protocol',
  'user',
  'outcome',
] as const;
/** The filters that only the list of requests has. */
const LIST_FILTERS = ['errorCode', 'fault', 'running'] as const;

/** The ranges that end now, and two whole months. */
export const RANGES = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  '12m': 'Last 12 months',
  today: 'Today',
  month: 'This month',
  last_month: 'Last month',
} as const;
type RangeName = keyof typeof RANGES;

export type FilterName = (typeof FILTERS)[number] | (typeof LIST_FILTERS)[number];

/** What the pages of usage show. All of it stands in the address. */
export type UsageSearch = { readonly [Name in FilterName]?: string | undefined } & {
  readonly range?: RangeName | undefined;
  /** The first and the last instant, RFC 3339. They take the place of `range`. */
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
  /** The committed state that the page holds. */
  readonly as_of?: string | undefined;
};

/** The names of a search, without its range. */
export const SEARCH_NAMES = [...FILTERS, ...LIST_FILTERS, 'startDate', 'endDate', 'as_of'] as const;

/** Returns what an address says of usage. Values of a wrong type are left out. */
export function usageSearchOf(search: Record<string, unknown>): UsageSearch {
  const found: Record<string, string> = {};
  for (const name of SEARCH_NAMES) {
    const value = search[name];
    if (typeof value === 'string' || typeof value === 'number') found[name] = String(value);
  }
  const { range } = search;
  if (typeof range === 'string' && Object.hasOwn(RANGES, range)) found['range'] = range;
  return found;
}

/** Returns the part of a search that both pages of usage understand, for links from one to the other. */
export function sharedSearch(search: UsageSearch): UsageSearch {
  const { errorCode: _, fault: __, running: ___, ...shared } = usageSearchOf({ ...search });
  return shared;
}

/** Returns the filters of a search as parameters of the API. */
export function filtersOf(search: UsageSearch, names: 'shared' | 'all' = 'all'): Query {
  const wanted = names === 'all' ? [...FILTERS, ...LIST_FILTERS] : FILTERS;
  return Object.fromEntries(wanted.map((name) => [name, search[name]]));
}

/** Returns how many filters a search has. */
export const filterCount = (search: UsageSearch): number =>
  [...FILTERS, ...LIST_FILTERS].filter((name) => search[name] !== undefined).length;

/** The instant of a committed state, ms. */
export const instantOf = (as_of: string): number => Date.parse(as_of.split('~')[0] ?? '');

/**
 * Returns the first and the last instant of a search as parameters of the API. A range that ends now is
 * counted from the state that the page holds, or else from `now_ms`, in the reader's zone.
 */
export function instantsOf(
  { range, startDate, endDate, as_of }: UsageSearch,
  now_ms: number,
): { readonly startDate?: string | undefined; readonly endDate?: string | undefined } {
  if (startDate !== undefined || endDate !== undefined) return { startDate, endDate };
  if (range === undefined) return {};
  const held = as_of === undefined ? Number.NaN : instantOf(as_of);
  const [from, last] = boundsOf(range, Number.isNaN(held) ? now_ms : held);
  return {
    startDate: new Date(from).toISOString(),
    endDate: last === undefined ? undefined : new Date(last).toISOString(),
  };
}

/** The first instant of a range, and the last one if it is not now, ms. */
function boundsOf(range: RangeName, now_ms: number): [from: number, last?: number] {
  const now = new Date(now_ms);
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const startOfDay = (days: number) => new Date(year, month, day - days).getTime();
  const startOfMonth = (months: number) => new Date(year, month - months, 1).getTime();
  switch (range) {
    case '1h':
      return [Math.floor(now_ms / QUARTER_MS) * QUARTER_MS - 3 * QUARTER_MS];
    case '24h':
      return [Math.floor(now_ms / HOUR_MS) * HOUR_MS - 23 * HOUR_MS];
    case '7d':
      return [startOfDay(6)];
    case '30d':
      return [startOfDay(29)];
    case '90d':
      return [startOfDay(89)];
    case '12m':
      return [startOfMonth(11)];
    case 'today':
      return [startOfDay(0)];
    case 'month':
      return [startOfMonth(0)];
    case 'last_month':
      return [startOfMonth(1), startOfMonth(0) - 1];
    default:
      return range satisfies never;
  }
}

/** What is used of `Temporal`, which TypeScript does not know yet. */
interface WithTemporal {
  readonly Temporal?: { readonly Now: { timeZoneId(): string } };
}

/**
 * The reader's time zone, by which days begin. Browsers that have `Temporal` say it at once. A formatter, which older
 * ones need, takes about 25 ms, and the first reads of a page wait for the zone.
 */
export const ZONE =
  (globalThis as WithTemporal).Temporal?.Now.timeZoneId() ??
  Intl.DateTimeFormat().resolvedOptions().timeZone;
