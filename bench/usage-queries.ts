/** The queries that pages of the dashboard make about usage. */

export interface UsageQuery {
  readonly name: string;
  readonly path: string;
  readonly role: 'management' | 'operator';
}

/** What a query names: things of the filled database. */
export interface UsageNames {
  readonly key_id: string;
  readonly model: string;
  readonly vendor: string;
  readonly request_id: string;
  /** The number of lines of the organization. */
  readonly lines: number;
  /** The calendar month that is over, `YYYY-MM`. */
  readonly month: string;
}

const DAY_MS = 86_400_000;

/** Returns the queries, each with the largest usual range of its page. */
export function usageQueries(names: UsageNames, now: Date): UsageQuery[] {
  const { key_id, model, vendor, request_id, lines, month } = names;
  const day = (back: number) => new Date(now.getTime() - back * DAY_MS).toISOString().slice(0, 10);
  const span = (days: number) => `startDate=${day(days - 1)}&endDate=${day(0)}`;
  const manage = (name: string, path: string): UsageQuery => ({
    ...{ name, path: `/v1/management${path}`, role: 'management' },
  });
  const query = (name: string, parameters: string) =>
    manage(`query: ${name}`, `/usage/query?${parameters}`);
  const far = Math.max(1, Math.floor((lines * 0.6) / 100));
  return [
    manage('usage, first page', '/usage?limit=100'),
    manage('usage, a page in the middle', `/usage?limit=100&page=${far}`),
    manage(
      'usage, a page in the middle of 30 days',
      `/usage?limit=100&page=${Math.ceil(far / 6)}&${span(30)}`,
    ),
    manage('usage of a model', `/usage?limit=100&logicalModel=${model}`),
    manage(
      'usage of a vendor and a scene, 30 days',
      `/usage?limit=100&modelVendor=${vendor}&scene=chat&${span(30)}`,
    ),
    manage('usage of a key', `/api-keys/${key_id}/usage?limit=100`),
    manage(
      'usage of a key and a model, page 10',
      `/api-keys/${key_id}/usage?limit=100&page=10&logicalModel=${model}`,
    ),
    manage('billing of all time, by each dimension', '/billing'),
    manage('billing of 30 days', `/billing?${span(30)}`),
    manage('billing of a key', `/api-keys/${key_id}/billing`),
    manage('billing of a model', `/billing?logicalModel=${model}`),
    query(
      'cost by model and day, 30 days, with the month before',
      `metric=cost&group=logical_model&compare=previous&${span(30)}`,
    ),
    query('cost by key and day, 90 days', `metric=cost&group=api_key_id&${span(90)}`),
    query(
      'cost by key and model, 30 days',
      `metric=cost&group=api_key_id&subgroup=logical_model&${span(30)}`,
    ),
    query(
      'requests by outcome and hour, 30 days',
      `metric=requests&group=outcome&bucket=hour&${span(30)}`,
    ),
    query(
      'p95 by model and hour, 7 days',
      `metric=latency_p95&group=logical_model&bucket=hour&${span(7)}`,
    ),
    query(
      'tokens by vendor and 15 minutes, 1 day',
      `metric=output_tokens&group=model_vendor&bucket=15min&${span(1)}`,
    ),
    query(
      'saved by the cache by model and day, 12 months',
      `metric=saved&group=logical_model&top=50&${span(365)}`,
    ),
    query(
      'cost by model and day in Kathmandu, 90 days',
      `metric=cost&group=logical_model&timeZone=Asia/Kathmandu&${span(90)}`,
    ),
    query(
      'cost by month in New York, 90 days',
      `metric=cost&bucket=month&timeZone=America/New_York&${span(90)}`,
    ),
    query(
      'a key by model and hour, 7 days',
      `metric=cost&group=logical_model&api_key_id=${key_id}&bucket=hour&${span(7)}`,
    ),
    query(
      'error rate by key, 30 days',
      `metric=error_rate&group=api_key_id&bucket=none&${span(30)}`,
    ),
    manage('requests, first page', '/requests?limit=100'),
    manage('requests that were refused', '/requests?limit=100&outcome=refused'),
    manage('one request', `/requests/${request_id}`),
    manage('export, first bytes', '/usage/export?format=csv'),
    manage('statement of a month', `/statements/${month}`),
    manage('calls in flight', '/calls'),
    { name: 'books of the operator', path: '/v1/operator/books', role: 'operator' },
  ];
}
