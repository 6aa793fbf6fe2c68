import type { Statement } from '../../api/types.ts';
import type { Query } from '../../api/url.ts';
import { daysOf } from './month.ts';
import type { BillGroup } from './search.ts';

/** A line of a bill: what a model, a key or a day costs. */
export interface BillRow {
  readonly id: string;
  readonly name: string;
  /** Lines with a charge. */
  readonly charges: number;
  /** USD. */
  readonly amount: number;
  /** Undefined if the bill does not count tokens by this group. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** The filter of the requests that the line sums; undefined if none has it. */
  readonly filter: Query | undefined;
}

/** What each table is called, and what its lines are. */
export const GROUPS: Readonly<Record<BillGroup, { title: string; what: string }>> = {
  model: { title: 'Models', what: 'Model' },
  vendor: { title: 'Vendors', what: 'Vendor' },
  scene: { title: 'Scenes', what: 'Scene' },
  channel: { title: 'Access channels', what: 'Access channel' },
  key: { title: 'API keys', what: 'API key' },
  day: { title: 'Days', what: 'Day (UTC)' },
};

/** The lines of a statement by a group, the largest first; days in their order. */
export function rowsOf(statement: Statement, group: BillGroup): readonly BillRow[] {
  const whole = rangeOf(statement);
  if (group === 'key') {
    return statement.by_api_key.map(({ api_key_id, name, requests, amount }) => ({
      ...{ id: api_key_id, name: name || api_key_id, charges: requests, amount },
      filter: { api_key_id, ...whole },
    }));
  }
  const { member, filterOf } = SOURCES[group];
  const rows = statement[member].map((row) => ({
    ...{ id: row.name, name: row.name || 'unknown', charges: row.requests, amount: row.amount },
    ...{ input_tokens: row.input_tokens, output_tokens: row.output_tokens },
    filter: row.name === '' ? undefined : { ...whole, ...filterOf(row.name) },
  }));
  return group === 'day' ? rows : rows.toSorted((a, b) => b.amount - a.amount);
}

/** The requests of the whole month, as of the instant of the statement. */
export function rangeOf({ month, as_of }: Pick<Statement, 'month' | 'as_of'>): Query {
  const { startDate, endDate } = daysOf(month);
  return { ...instantsOf(startDate, endDate), as_of };
}

const SOURCES = {
  model: { member: 'by_model', filterOf: (name: string): Query => ({ logicalModel: name }) },
  vendor: { member: 'by_vendor', filterOf: (name: string): Query => ({ modelVendor: name }) },
  scene: { member: 'by_scene', filterOf: (name: string): Query => ({ scene: name }) },
  channel: {
    member: 'by_access_channel',
    filterOf: (name: string): Query => ({ accessChannel: name }),
  },
  day: { member: 'by_day', filterOf: (name: string): Query => instantsOf(name, name) },
} as const;

/** The first and the last instant of days of UTC. */
const instantsOf = (first: string, last: string): Query => ({
  startDate: `${first}T00:00:00.000Z`,
  endDate: `${last}T23:59:59.999Z`,
});
