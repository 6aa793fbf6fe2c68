import type { Query } from '../api/url.ts';
import { monthOf } from '../pages/billing/month.ts';
import { BALANCE_PATH, MONTHS_PATH, monthsQuery, statementPath } from '../pages/billing/reads.ts';
import { OVERVIEW_PATH, overviewQuery } from '../pages/overview/reads.ts';
import { EXPLORE_PATH, exploreQuery } from '../pages/usage/explore/search.ts';
import { requestOf, USED_MODELS, VIEWS_PATH } from '../pages/usage/reads.ts';

/** A path of the API with its query. */
type Read = readonly [path: string, query?: Query];

const KEYS: Read = ['/v1/management/api-keys'];
const MODELS: Read = ['/v1/management/models'];
const BALANCE: Read = [BALANCE_PATH];
const USED: Read = [EXPLORE_PATH, USED_MODELS];

/**
 * What pages read first, as they ask for it. Every role may read it (test/web/first-reads.test.ts). A page that asks
 * otherwise sends its own request, and nothing is wrong but one request too many.
 */
const READS: Readonly<Record<string, (now_ms: number) => readonly Read[]>> = {
  '/': (now_ms) => [
    [OVERVIEW_PATH, overviewQuery(now_ms)],
    ['/v1/management/notices'],
    BALANCE,
    ['/v1/management/calls'],
    KEYS,
  ],
  '/usage': (now_ms) => [
    [EXPLORE_PATH, exploreQuery({}, now_ms)],
    USED,
    KEYS,
    [VIEWS_PATH, { page: 'usage' }],
  ],
  '/usage/requests': (now_ms) => [
    ['/v1/management/requests', requestOf({}, now_ms)],
    USED,
    KEYS,
    [VIEWS_PATH, { page: 'usage-requests' }],
  ],
  '/billing': (now_ms) => {
    const month = monthOf(new Date(now_ms));
    return [
      BALANCE,
      [statementPath(month)],
      [MONTHS_PATH, monthsQuery(month)],
      ['/v1/management/budgets'],
    ];
  },
  '/playground': () => [KEYS, MODELS],
  '/models': () => [MODELS],
  '/keys': () => [KEYS],
};

/** The paths of `READS`. */
export const FIRST_PAGES = Object.keys(READS);

/** Returns what the page of an address reads first. An address with filters asks for something else. */
export function firstReads(pathname: string, search: string, now_ms: number): readonly Read[] {
  const isPlain = [...new URLSearchParams(search).keys()].every((name) => name === 'org');
  return (isPlain && Object.hasOwn(READS, pathname) && READS[pathname]?.(now_ms)) || [];
}
