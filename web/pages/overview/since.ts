import { Amount } from '../../parts/amount.ts';

/** What `usage` events of the live stream say (`GET /v1/management/events`). */
export interface UsageEvent {
  readonly amount: number;
  readonly calls: number;
  readonly by_api_key: readonly {
    readonly api_key_id: string;
    readonly outcome: string;
    readonly calls: number;
    readonly amount: number;
  }[];
}

/** An event with its id, which names the committed state that it leads to. */
export interface Seen {
  readonly as_of: string;
  readonly event: UsageEvent;
}

/** What was recorded after a state. */
export interface Since {
  readonly amount: Amount;
  readonly calls: number;
  readonly succeeded: number;
  readonly by_key: ReadonlyMap<string, Amount>;
  /** The latest state that is counted. */
  readonly as_of: string;
}

/** How calls end that the API counts as a success. */
const SUCCESS: ReadonlySet<string> = new Set([
  'completed',
  'repeated',
  'cached',
  'accepted',
  'free',
]);

/**
 * Sums the events after a state. Each event has what was recorded since the event before, so a figure of
 * that state and this sum are exactly the figure of the latest state. Zero if no event led to the state.
 */
export function sinceOf(as_of: string, seen: readonly Seen[]): Since {
  const at = seen.findIndex((each) => each.as_of === as_of);
  const after = at < 0 ? [] : seen.slice(at + 1);
  const by_key = new Map<string, Amount>();
  const rows = after.flatMap(({ event }) => event.by_api_key);
  for (const { api_key_id, amount } of rows) {
    by_key.set(api_key_id, (by_key.get(api_key_id) ?? Amount.zero).plus(Amount.ofUsd(amount)));
  }
  return {
    amount: Amount.sum(after.map(({ event }) => event.amount)),
    calls: after.reduce((sum, { event }) => sum + event.calls, 0),
    succeeded: rows.reduce(
      (sum, { outcome, calls }) => sum + (SUCCESS.has(outcome) ? calls : 0),
      0,
    ),
    by_key,
    as_of: after.at(-1)?.as_of ?? as_of,
  };
}
