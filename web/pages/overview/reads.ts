import { type Query, urlOf } from '../../api/url.ts';
import { instantsOf, ZONE } from '../usage/search.ts';

const TOP = 5;

/** The figures of the overview that are sums of usage, in the order of their queries. */
export const FIGURE_NAMES = [
  ...(['months', 'hours', 'errors', 'first_token', 'saved', 'keys', 'models'] as const),
];
export type FigureName = (typeof FIGURE_NAMES)[number];

/** The read that answers all of them, of the same instant. */
export const OVERVIEW_PATH = '/v1/management/usage/queries';

/** The first instant of the month before that of `now_ms`, in the reader's zone. */
export function startOfLastMonth(now_ms: number): Date {
  const now = new Date(now_ms);
  return new Date(now.getFullYear(), now.getMonth() - 1, 1);
}

/** What each figure asks for. */
function queriesOf(now_ms: number): Record<FigureName, Query> {
  const day = instantsOf({ range: '24h' }, now_ms);
  const month = instantsOf({ range: 'month' }, now_ms);
  const compared = { bucket: 'none', compare: 'previous', ...day };
  const largest = { metric: 'cost', bucket: 'none', top: TOP, ...month };
  return {
    months: {
      ...{ metric: 'cost', bucket: 'day' },
      startDate: startOfLastMonth(now_ms).toISOString(),
    },
    hours: { metric: 'cost', bucket: 'hour', ...day },
    errors: { metric: 'error_rate', ...compared },
    first_token: { metric: 'first_token_mean', ...compared },
    saved: { metric: 'saved', ...compared },
    keys: { ...largest, group: 'api_key_id' },
    models: { ...largest, group: 'logical_model' },
  };
}

/** The query of the figures at a committed state; without one, at the present state. */
export function overviewQuery(now_ms: number, as_of?: string): Query {
  const queries = queriesOf(now_ms);
  const query = FIGURE_NAMES.map((name) => urlOf('', queries[name]).slice(1));
  return { timeZone: ZONE, as_of, query };
}
