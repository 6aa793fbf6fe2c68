import type { Sql, TransactionSql } from 'postgres';
import type { JsonValue } from './store.ts';

/**
 * What the ledger did to the actor's hold in the transaction of an event, nano-USD. With only
 * `held`, the ledger made a hold of this amount. Otherwise it ended the hold: `settled` was
 * charged, and `released` was freed. If the charge exceeded the hold, `held` is the amount that the
 * ledger first added to the hold. Over all events of an actor whose hold has ended, the sum of
 * `held` equals the sum of `settled` and `released`.
 */
export type EventMoney = { held: number } | { held?: number; settled: number; released: number };

/** A new row of the event log; see the table `actor_event`. */
export interface EventRow {
  kind: string;
  actor_id: string;
  seq: number;
  command_id: string;
  event: JsonValue;
  from_state: string;
  to_state: string;
  taken: boolean;
  machine_version: number;
  context_hash: string;
  money: EventMoney | null;
}

/** A stored row of the event log. */
export interface HistoryRow extends Omit<EventRow, 'context_hash'> {
  /** Null for an event of an earlier version of Weir, which stored no hashes. */
  context_hash: string | null;
  /** When the event was committed, on the database's clock. */
  at: Date;
}

/** The most events that `readHistory` returns at once. */
const MAX_HISTORY_PAGE_EVENTS = 1_000;

/** Returns the ids of the commands that an earlier transaction committed. */
export async function findCommitted(
  tx: TransactionSql,
  command_ids: readonly string[],
): Promise<Set<string>> {
  const rows = await tx<{ command_id: string }[]>`
    select command_id from actor_event where command_id = any(${command_ids}::uuid[])`;
  return new Set(rows.map((row) => row.command_id));
}

/** Appends events to the log. */
export async function insertEvents(tx: TransactionSql, rows: readonly EventRow[]): Promise<void> {
  await tx`
    insert into actor_event (kind, actor_id, seq, command_id, event, from_state, to_state, taken,
      machine_version, context_hash, money, at)
    select kind, actor_id, seq, command_id, event, from_state, to_state, taken,
      machine_version, context_hash, money, weir_now()
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
      kind text, actor_id text, seq int, command_id uuid, event jsonb, from_state text,
      to_state text, taken bool, machine_version int, context_hash text, money jsonb)`;
}

/**
 * Returns the events of an actor whose number is above `after_seq`, in order. Returns at most
 * `limit` events, and never more than `MAX_HISTORY_PAGE_EVENTS`. Returns an empty list if the actor
 * does not exist.
 */
export function readHistory(
  sql: Sql | TransactionSql,
  kind: string,
  id: string,
  after_seq: number,
  limit: number = MAX_HISTORY_PAGE_EVENTS,
): Promise<HistoryRow[]> {
  return sql<HistoryRow[]>`
    select kind, actor_id, seq, command_id, event, from_state, to_state, taken,
      machine_version, context_hash, money, at
    from actor_event where kind = ${kind} and actor_id = ${id} and seq > ${after_seq}
    order by seq limit ${Math.min(limit, MAX_HISTORY_PAGE_EVENTS)}`;
}
