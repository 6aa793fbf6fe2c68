/** What the platform absorbed, because a call cost more than could be reserved (P12). */
import type { Fragment, Sql } from 'postgres';

/** The overruns of some usage lines. */
export interface OverrunSums {
  readonly count: number;
  /** Nano-USD, as text. */
  readonly amount: string;
  readonly latest: readonly Overrun[];
}

/** One usage line with an overrun. */
export interface Overrun {
  readonly id: string;
  readonly request_id: string;
  readonly organization_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly nano_usd: number;
  readonly at: Date;
}

const SHOWN = 20;

/** Returns the latest overruns among the usage lines that meet a condition. */
export function readLatestOverruns(sql: Sql, condition: Fragment): Promise<Overrun[]> {
  return sql<Overrun[]>`
    select id, request_id, organization_id, key_id, model, overrun_nano_usd as nano_usd,
      created_at as at
    from usage_line where overrun_nano_usd > 0 and ${condition}
    order by created_at desc, id desc limit ${SHOWN}`;
}

/** Returns the latest overruns of two lists, the newest first. */
export function withLatest(a: readonly Overrun[], b: readonly Overrun[]): readonly Overrun[] {
  if (b.length === 0) return a;
  return [...a, ...b]
    .sort((x, y) => y.at.getTime() - x.at.getTime() || (x.id < y.id ? 1 : -1))
    .slice(0, SHOWN);
}
