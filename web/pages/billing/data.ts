import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Balance, Statement, UsageQuery } from '../../api/types.ts';
import { BALANCE_PATH, MONTHS_PATH, monthsQuery, statementPath } from './reads.ts';

const balance = queryOptions({
  queryKey: ['balance', 'whole'],
  queryFn: ({ signal }) => api.get<Balance>(BALANCE_PATH, {}, signal),
});

const statement = (month: string) =>
  queryOptions({
    queryKey: ['billing', 'statement', month],
    queryFn: ({ signal }) => api.get<Statement>(statementPath(month), {}, signal),
  });

/** The money of the organization. It is live. */
export const useBalance = () => useQuery(balance);

/** The statement of a month. It is live while the month runs. */
export const useStatement = (month: string) => useQuery(statement(month));

const months = (month: string) =>
  queryOptions({
    queryKey: ['billing', 'months', month],
    queryFn: ({ signal }) => api.get<UsageQuery>(MONTHS_PATH, monthsQuery(month), signal),
  });

/** The spend of each of the last months. */
export const useMonths = (month: string) => useQuery(months(month));

/** Begins the reads of the page of a month that runs. */
export function beginBilling(queries: QueryClient, month: string): void {
  queries.prefetchQuery(balance);
  queries.prefetchQuery(statement(month));
  queries.prefetchQuery(months(month));
}
