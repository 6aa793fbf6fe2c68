import type { Query } from '../../api/url.ts';
import { filtersOf, instantsOf, type UsageSearch, ZONE } from './search.ts';

/** The rows of a page of a list of calls. */
export const PAGE_ROWS = 100;

/** Where views are listed and made. */
export const VIEWS_PATH = '/v1/management/views';

/** The query of the models that were used lately. */
export const USED_MODELS: Query = {
  ...{ metric: 'requests', group: 'logical_model', bucket: 'none', top: 50, timeZone: ZONE },
};

/** The request for the first page of a list of calls. */
export function requestOf(search: UsageSearch, now_ms: number): Query {
  const { as_of } = search;
  return { ...filtersOf(search), ...instantsOf(search, now_ms), as_of, limit: PAGE_ROWS };
}
