import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import type { Budget } from '../api/types.ts';

export const BUDGETS_PATH = '/v1/management/budgets';
export const budgetPath = (id: string): string => `${BUDGETS_PATH}/${encodeURIComponent(id)}`;

/** A window that begins sends no event. */
const REREAD_MS = 60_000;

/** All budgets of the organization. Calls make the answer old (web/live). */
export const budgetsQuery = queryOptions({
  queryKey: ['budgets'],
  queryFn: async ({ signal }) => (await api.get<{ data: Budget[] }>(BUDGETS_PATH, {}, signal)).data,
  refetchInterval: REREAD_MS,
});

export const useBudgets = () => useQuery(budgetsQuery);

/** Reads all budgets again, e.g. after a change. */
export const rereadBudgets = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: budgetsQuery.queryKey });
