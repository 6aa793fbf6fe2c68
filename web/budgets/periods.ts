import type { Budget } from '../api/types.ts';

export type Period = Budget['period'];

/** The periods of budgets, the shortest first. */
export const PERIODS = ['day', 'week', 'month'] as const satisfies readonly Period[];

/** When the windows of a period begin. */
export const PERIOD_SAYS: Readonly<Record<Period, string>> = {
  day: 'Each day',
  week: 'Each week, from Monday',
  month: 'Each month',
};

/** The budgets in the order of their periods. */
export const inOrder = (budgets: readonly Budget[]): readonly Budget[] =>
  budgets.toSorted((a, b) => PERIODS.indexOf(a.period) - PERIODS.indexOf(b.period));
