import { type AsOf, writeAsOf } from '../../../../db/usage/as-of.ts';
import {
  BREAKDOWN_GROUPS,
  type Breakdown,
  type BreakdownGroup,
} from '../../../../db/usage/breakdown.ts';
import type { Counts } from '../../../../db/usage/roll-ups/counters.ts';
import { usd } from '../../../json/usd.ts';

/** The member of the answer that has the sums of a group. */
const MEMBER = {
  day: 'by_day',
  model: 'by_model',
  model_vendor: 'by_vendor',
  scene: 'by_scene',
  access_channel: 'by_access_channel',
} as const satisfies Record<BreakdownGroup, string>;

/** Returns the sums of usage lines as clients see them. */
export function billingView({ total, groups, lines_since }: Breakdown, as_of: AsOf) {
  return {
    object: 'billing' as const,
    currency: 'USD' as const,
    total: sumsOf(total),
    ...groupsOf(groups),
    ...(lines_since ? { lines_since: lines_since.toISOString() } : {}),
    as_of: writeAsOf(as_of),
  };
}

type Member = (typeof MEMBER)[BreakdownGroup];

/** Returns the sums by each group, as members of an answer. */
export function groupsOf(groups: Breakdown['groups']) {
  const members = BREAKDOWN_GROUPS.map((group) => [
    MEMBER[group],
    Array.from(groups[group], ([name, counts]) => ({ name, ...sumsOf(counts) })),
  ]);
  return Object.fromEntries(members) as Record<Member, NamedSums[]>;
}

type NamedSums = { readonly name: string } & ReturnType<typeof sumsOf>;

/** Returns the sums of charges, with money in USD. */
export function sumsOf(counts: Counts) {
  return {
    amount: usd(counts.charged_nano_usd),
    list_price: usd(counts.list_nano_usd),
    requests: counts.charges,
    input_tokens: counts.input_tokens,
    cached_input_tokens: counts.cached_input_tokens,
    cache_write_tokens: counts.cache_write_tokens,
    output_tokens: counts.output_tokens,
  };
}
