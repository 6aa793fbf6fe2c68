import type { Query } from '../../../api/url.ts';
import { filtersOf, instantsOf, type UsageSearch, usageSearchOf, ZONE } from '../search.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The sums of keys by another group are kept by days of UTC; of a shorter time, all rows are read. */
const MOST_ROW_DAYS = 2;

/** The read of what is explored. */
export const EXPLORE_PATH = '/v1/management/usage/query';

/** What can be explored, with the unit and how it is said. */
export const METRICS = {
  cost: 'Spend',
  list_price: 'List price',
  requests: 'Requests',
  error_rate: 'Success',
  input_tokens: 'Input tokens',
  cached_input_tokens: 'Tokens read from the provider’s cache',
  cache_write_tokens: 'Tokens written to the provider’s cache',
  output_tokens: 'Output tokens',
  reasoning_tokens: 'Reasoning tokens',
  audio_tokens: 'Audio tokens',
  latency_p50: 'Time to end, median',
  latency_p95: 'Time to end, 95 of 100',
  first_token_mean: 'Time to first token, mean',
  cache_lookups: 'Look-ups in the cache',
  cache_hits: 'Answers from the cache',
  cache_hit_rate: 'Hit rate of the cache',
  saved: 'Saved by the cache',
} as const;
export type MetricName = keyof typeof METRICS;

/** By what usage is grouped, with the filter that a group's name is a value of. */
export const GROUPS = {
  logical_model: { label: 'Model', filter: 'logicalModel' },
  api_key_id: { label: 'API key', filter: 'api_key_id' },
  model_vendor: { label: 'Vendor', filter: 'modelVendor' },
  scene: { label: 'Scene', filter: 'scene' },
  access_channel: { label: 'Access channel', filter: 'accessChannel' },
  protocol: { label: 'Protocol', filter: 'protocol' },
  outcome: { label: 'Outcome', filter: 'outcome' },
} as const;
export type GroupName = keyof typeof GROUPS;

export const BUCKETS = {
  '15min': '15 minutes',
  hour: 'Hour',
  day: 'Day',
  month: 'Month',
} as const;
export type BucketName = keyof typeof BUCKETS;

export const TOPS = ['5', '10', '20', '50'] as const;

/** What the explorer shows. All of it stands in the address. */
export type ExploreSearch = UsageSearch & {
  readonly metric?: MetricName | undefined;
  /** `none` is no group; without it the model is the group. */
  readonly group?: GroupName | 'none' | undefined;
  readonly subgroup?: GroupName | undefined;
  readonly bucket?: BucketName | undefined;
  readonly top?: string | undefined;
  readonly compare?: boolean | undefined;
  readonly cumulative?: boolean | undefined;
};

const oneOf = <Name extends string>(names: object, value: unknown): Name | undefined =>
  typeof value === 'string' && Object.hasOwn(names, value) ? (value as Name) : undefined;

/** Returns what an address says of the explorer. What it does not know is left out. */
export function exploreSearchOf(search: Record<string, unknown>): ExploreSearch {
  const { errorCode: _, fault: __, running: ___, ...shared } = usageSearchOf(search);
  const group = search['group'] === 'none' ? 'none' : oneOf<GroupName>(GROUPS, search['group']);
  const subgroup = oneOf<GroupName>(GROUPS, search['subgroup']);
  const top = String(search['top']);
  const found = {
    ...shared,
    metric: oneOf<MetricName>(METRICS, search['metric']),
    group,
    subgroup: group === 'none' || subgroup === (group ?? 'logical_model') ? undefined : subgroup,
    bucket: oneOf<BucketName>(BUCKETS, search['bucket']),
    top: (TOPS as readonly string[]).includes(top) ? top : undefined,
    compare: search['compare'] === true ? true : undefined,
    cumulative: search['cumulative'] === true ? true : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** The group of a search; undefined for none. */
export const groupOf = ({ group = 'logical_model' }: ExploreSearch): GroupName | undefined =>
  group === 'none' ? undefined : group;

/** The length of the range of a search, ms. */
function lengthOf(search: ExploreSearch, now_ms: number): number {
  const { startDate, endDate } = instantsOf(search, now_ms);
  const until = endDate === undefined ? now_ms : Date.parse(endDate);
  return until - (startDate === undefined ? until - 30 * DAY_MS : Date.parse(startDate));
}

/** Returns the bucket of a search, or else the one that suits its range. */
export function bucketOf(search: ExploreSearch, now_ms: number): BucketName {
  if (search.bucket) return search.bucket;
  const length = lengthOf(search, now_ms);
  if (length <= 6 * HOUR_MS) return '15min';
  if (length <= 3 * DAY_MS) return 'hour';
  return length <= 120 * DAY_MS ? 'day' : 'month';
}

/**
 * True if only days of UTC are kept of what a search asks for: usage of keys by another group, over more
 * time than can be read row by row.
 */
export function needsUtc(search: ExploreSearch, now_ms: number): boolean {
  const { api_key_id, subgroup } = search;
  const groups = [groupOf(search), subgroup].filter((name) => name !== undefined);
  const isOfKeys = api_key_id !== undefined || groups.includes('api_key_id');
  const { api_key_id: _, user: __, ...others } = filtersOf(search, 'shared');
  const hasOther =
    groups.some((name) => name !== 'api_key_id') ||
    Object.values(others).some((value) => value !== undefined);
  return isOfKeys && hasOther && lengthOf(search, now_ms) > MOST_ROW_DAYS * DAY_MS;
}

/** Returns the request of a search for `GET /v1/management/usage/query`. */
export function exploreQuery(search: ExploreSearch, now_ms: number): Query {
  const isUtc = needsUtc(search, now_ms);
  const bucket = bucketOf(search, now_ms);
  return {
    metric: search.metric ?? 'cost',
    group: groupOf(search),
    subgroup: search.subgroup,
    bucket: isUtc && bucket !== 'month' ? 'day' : bucket,
    timeZone: isUtc ? 'UTC' : ZONE,
    top: search.top ?? '10',
    compare: search.compare ? 'previous' : undefined,
    ...filtersOf(search, 'shared'),
    ...instantsOf(search, now_ms),
    as_of: search.as_of,
  };
}

/** Returns the search of the requests that a row of an answer counts, as of the same instant. */
export function requestsBehind(
  search: ExploreSearch,
  answer: { readonly from: string; readonly until: string; readonly as_of: string },
  row: { readonly group: string | null; readonly subgroup: string | null } | undefined,
): UsageSearch {
  const group = groupOf(search);
  const { subgroup } = search;
  const named = {
    ...(row && group ? { [GROUPS[group].filter]: row.group ?? 'none' } : {}),
    ...(row && subgroup ? { [GROUPS[subgroup].filter]: row.subgroup ?? 'none' } : {}),
  };
  return {
    ...usageSearchOf({ ...filtersOf(search, 'shared') }),
    ...named,
    // A running task counts when it ends.
    running: 'false',
    startDate: answer.from,
    // The last instant of the API counts to the range.
    endDate: new Date(Date.parse(answer.until) - 1).toISOString(),
    as_of: answer.as_of,
  };
}
