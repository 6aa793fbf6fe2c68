import type { Sql } from 'postgres';
import type { ActorAddress, JsonValue } from './store.ts';

/** The data from which a live actor is created: its committed snapshot and its timers. */
export interface LiveActorRow extends ActorAddress {
  organization_id: string | null;
  machine_version: number;
  snapshot: JsonValue;
  seq: number;
  /** False if the machine has reached a final state. */
  live: boolean;
  owner: string | null;
  /** Milliseconds until each timer fires, by its name; negative if the timer is due. */
  timers: Record<string, number>;
}

/** The columns of the event log that a live actor needs. */
export interface LoggedEvent extends ActorAddress {
  seq: number;
  machine_version: number;
  event: JsonValue;
  taken: boolean;
}

/** Identifies a durable actor and the last event that a reader knows. */
export interface ActorPosition extends ActorAddress {
  seq: number;
}

/** Returns the rows of the actors. An actor that does not exist is left out. */
export function readActors(sql: Sql, addresses: readonly ActorAddress[]): Promise<LiveActorRow[]> {
  return sql<LiveActorRow[]>`
    select actor.kind, actor.id, organization_id, machine_version, snapshot, seq, live, owner,
      coalesce((select jsonb_object_agg(name, (extract(epoch from fire_at - weir_now()) * 1000)::int8)
        from timer where timer.kind = actor.kind and timer.actor_id = actor.id), '{}') as timers
    from actor join json_to_recordset(${JSON.stringify(addresses)}::text::json)
      as input(kind text, id text) using (kind, id)`;
}

/** An actor of a replica. */
export interface OwnedActor extends ActorAddress {
  /** True if a timer of the actor fires within `due_ms` (see `listOwnedActors`). */
  is_due: boolean;
}

/**
 * Returns at most `limit` actors of the replica `owner` that have not ended. They are sorted by
 * kind and id, and begin after `after`. An actor is due if a timer fires within `due_ms`.
 */
export function listOwnedActors(
  sql: Sql,
  owner: string,
  after: ActorAddress,
  limit: number,
  due_ms: number,
): Promise<OwnedActor[]> {
  return sql<OwnedActor[]>`
    select kind, id, exists(
      select 1 from timer where timer.kind = actor.kind and timer.actor_id = actor.id
        and fire_at < weir_now() + ${due_ms} * interval '1 millisecond') as is_due
    from actor where live and owner = ${owner} and (kind, id) > (${after.kind}, ${after.id})
    order by kind, id limit ${limit}`;
}

/** Returns the actors that have events after their `seq` in `positions`, with the latest `seq`. */
export function findMovedActors(
  sql: Sql,
  positions: readonly ActorPosition[],
): Promise<ActorPosition[]> {
  return sql<ActorPosition[]>`
    select actor.kind, actor.id, actor.seq
    from actor join json_to_recordset(${JSON.stringify(positions)}::text::json)
      as input(kind text, id text, seq int) using (kind, id)
    where actor.seq > input.seq`;
}

/**
 * Returns at most `limit` events after the given positions. The events of an actor are in order.
 */
export function readEventsAfter(
  sql: Sql,
  positions: readonly ActorPosition[],
  limit: number,
): Promise<LoggedEvent[]> {
  return sql<LoggedEvent[]>`
    select actor_event.kind, actor_id as id, actor_event.seq, machine_version, event, taken
    from actor_event join json_to_recordset(${JSON.stringify(positions)}::text::json)
      as input(kind text, id text, seq int)
      on actor_event.kind = input.kind and actor_id = input.id and actor_event.seq > input.seq
    order by actor_event.kind, actor_id, actor_event.seq limit ${limit}`;
}
