import type { AlertEndpoint } from '../../api/types.ts';

/** When an alert of a kind comes. A kind that is not here is shown by its name in the API. */
const KIND_SAYS: Readonly<Record<string, string>> = {
  cap_used: 'a key has used 50, 80 or 100 % of its cap',
  cap_forecast: 'a key will reach its cap before the month ends',
  budget_used: 'a budget has used 50, 80 or 100 % of its window',
  budget_forecast: 'a budget will be reached before its window ends',
  soft_limit_reached: 'a soft budget or limit warned of calls, or moved them',
  low_balance: 'the balance is low or used up',
  unusual_spend: 'a day’s spend is far from the usual one',
  key_unused: 'nobody uses an active key',
  price_changed: 'the price of a model changed that you called',
};

/** The name of a kind as people read it: `cap_used` → `cap used`. */
export const kindName = (kind: string): string => kind.replaceAll('_', ' ');

/** When an alert of a kind comes; undefined for a kind that this page does not know. */
export const kindSays = (kind: string): string | undefined => KIND_SAYS[kind];

/**
 * The kinds to choose from: those that this page knows, and those that an endpoint has. A new endpoint has all
 * kinds of the API.
 */
export const kindsOf = (endpoints: readonly AlertEndpoint[]): string[] => [
  ...new Set([...Object.keys(KIND_SAYS), ...endpoints.flatMap(({ kinds }) => kinds)]),
];
