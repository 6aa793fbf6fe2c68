import type { Query } from '../../api/url.ts';
import { monthAfter } from './month.ts';

export const BALANCE_PATH = '/v1/management/balance';
export const statementPath = (month: string): string => `/v1/management/statements/${month}`;
export const MONTHS_PATH = '/v1/management/usage/query';

/** How many months the list of months has. */
const MONTHS = 12;

/** What the months until `month` are asked for by. */
export const monthsQuery = (month: string): Query => ({
  ...{ metric: 'cost', bucket: 'month', timeZone: 'UTC' },
  startDate: `${monthAfter(month, 1 - MONTHS)}-01`,
});
