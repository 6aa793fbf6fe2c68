import type { Sql } from 'postgres';
import type { ActorAddress, JsonValue } from './store.ts';

/** One event of an actor's log, with the state after it. */
export interface LogEntry {
  seq: number;
  event: JsonValue;
  to_state: string;
  /** False if no transition took the event. */
  taken: boolean;
}

/** Returns at most `limit` events of an actor's log that follow the event `after_seq`, in order. */
export function readLog(
  sql: Sql,
  { kind, id }: ActorAddress,
  after_seq: number,
  limit: number,
): Promise<LogEntry[]> {
  return sql<LogEntry[]>`
    select seq, event, to_state, taken from actor_event
    where kind = ${kind} and actor_id = ${id} and seq > ${after_seq}
    order by seq limit ${limit}`;
}
