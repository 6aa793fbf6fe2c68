import type { Fragment, Sql } from 'postgres';
import { whereEqual } from '../pages.ts';
import type { ActorAddress, JsonValue } from './store.ts';

type LongerThan = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Which durable actors a list has. A missing member means all. */
export interface ActorFilter {
  readonly kinds: readonly string[];
  /** The state as a path, or the first parts of it, e.g. `processing`. */
  readonly state?: string | undefined;
  readonly id?: string | undefined;
  readonly organization_id?: string | undefined;
  /** The replica that owns the actor. */
  readonly replica?: string | undefined;
  /** False for actors that have ended. */
  readonly live: boolean;
  /**
   * Only actors that are longer in the first part of their state than this, ms, by kind and first part.
   * States that are not named have none.
   */
  readonly longer_than_ms?: LongerThan | undefined;
  /** The final states of each kind, for a list of ended actors. */
  readonly final_states?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A place in the list: the time since when an actor is in its state, and the actor. */
export interface ActorPlace extends ActorAddress {
  /** Microseconds since the Unix epoch. */
  readonly since_us: number;
  readonly replica: string;
}

/** A durable actor in a list. */
export interface ListedActor extends ActorPlace {
  readonly organization_id: string | null;
  readonly state: string;
  readonly seq: number;
  readonly machine_version: number;
  readonly live: boolean;
}

/** How many actors are in each first part of a state. */
export interface StateCount {
  readonly kind: string;
  readonly state: string;
  readonly actors: number;
}

/** What a durable actor waits for. */
export interface ActorWaits extends ActorAddress {
  readonly context: Readonly<Record<string, JsonValue>>;
  /** When each timer fires, by its name. ISO 8601 text. */
  readonly timers: Readonly<Record<string, string>>;
  /** Effects that have not ended. */
  readonly effects: readonly {
    readonly effect: string;
    readonly attempts: number;
    readonly next_attempt_at: string;
  }[];
}

/** A durable actor with its snapshot. */
export interface InspectedActor extends ListedActor {
  readonly snapshot: JsonValue;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const since_us = (sql: Sql) => sql`(extract(epoch from since) * 1000000)::int8`;

const columns = (sql: Sql) => sql`kind, id, organization_id, state, seq, machine_version, live,
  coalesce(owner, '') as replica, ${since_us(sql)} as since_us`;

function conditions(sql: Sql, filter: Omit<ActorFilter, 'kinds' | 'state'>): Fragment {
  const { id, organization_id, replica, live, longer_than_ms } = filter;
  return sql`${live ? sql`live` : sql`not live`} ${whereEqual(sql, 'id', id)}
    ${whereEqual(sql, 'organization_id', organization_id)} ${whereEqual(sql, 'owner', replica)}
    ${longer_than_ms ? isLonger(sql, longer_than_ms) : sql``}`;
}

/** `since < …` for the shortest time lets the index leave out the actors that have just come. */
function isLonger(sql: Sql, longer_than_ms: LongerThan): Fragment {
  const shortest = Math.min(...Object.values(longer_than_ms).flatMap(Object.values<number>));
  return sql`and since < weir_now() - ${shortest}::float8 * interval '1 millisecond'
    and since < weir_now() - interval '1 millisecond'
      * (${JSON.stringify(longer_than_ms)}::text::jsonb -> kind ->> top_state)::float8`;
}

function inState(sql: Sql, state: string | undefined): Fragment {
  if (state === undefined) return sql``;
  const [top = ''] = state.split('.');
  return sql`and top_state = ${top} and (state = ${state} or starts_with(state, ${`${state}.`}))`;
}

/**
 * Lists at most `limit` durable actors after a place. Living actors come in the order in which they
 * entered their state, because the oldest may be stuck. Of ended ones the latest come first. Each
 * kind is one query, and for ended actors each final state, so that an index gives the order.
 */
export async function listActors(
  sql: Sql,
  filter: ActorFilter,
  limit: number,
  after?: ActorPlace,
): Promise<ListedActor[]> {
  const ascending = filter.live;
  const order = ascending ? sql`since, id` : sql`since desc, id desc`;
  const parts = filter.kinds.flatMap((kind) => {
    const { live, state, final_states } = filter;
    const states = live || state !== undefined ? [undefined] : (final_states?.[kind] ?? []);
    return states.map((top) => ({ kind, top }));
  });
  const pages = parts.map(({ kind, top }) => {
    // All actors of an earlier kind that entered their state in the same microsecond were listed.
    const wasListed = after && kind < after.kind === ascending;
    const id = !after || kind === after.kind ? after?.id : wasListed ? null : '';
    const place = after
      ? sql`('epoch'::timestamptz + ${after.since_us}::float8 * interval '1 microsecond')`
      : sql``;
    return sql<ListedActor[]>`
      select ${columns(sql)} from actor
      where kind = ${kind} and ${conditions(sql, filter)} ${inState(sql, filter.state ?? top)}
      ${after ? afterPlace(sql, ascending, place, id ?? null) : sql``}
      order by ${order} limit ${limit}`;
  });
  const rows = (await Promise.all(pages)).flat();
  return rows.toSorted((a, b) => comparePlaces(a, b, ascending)).slice(0, limit);
}

/** `id` null: the whole moment was listed. '': nothing of it. */
function afterPlace(sql: Sql, ascending: boolean, place: Fragment, id: string | null): Fragment {
  const later = ascending ? sql`since > ${place}` : sql`since < ${place}`;
  if (id === null) return sql`and ${later}`;
  if (id === '') return ascending ? sql`and since >= ${place}` : sql`and since <= ${place}`;
  return ascending
    ? sql`and (since, id) > (${place}, ${id})`
    : sql`and (since, id) < (${place}, ${id})`;
}

/** Compares the places of two actors in a list, also of actors that are no rows. */
export function comparePlaces(a: ActorPlace, b: ActorPlace, ascending: boolean): number {
  const order =
    a.since_us - b.since_us ||
    compare(a.kind, b.kind) ||
    compare(a.id, b.id) ||
    compare(a.replica, b.replica);
  return ascending ? order : -order;
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Counts the living durable actors by the first part of their state. */
export function countActors(
  sql: Sql,
  filter: Omit<ActorFilter, 'state' | 'live'>,
): Promise<StateCount[]> {
  return sql<StateCount[]>`
    select kind, top_state as state, count(*)::int8 as actors from actor
    where kind = any(${[...filter.kinds]}) and ${conditions(sql, { ...filter, live: true })}
    group by kind, top_state order by kind, top_state`;
}

/** Returns what actors wait for. */
export function readWaits(sql: Sql, actors: readonly ActorAddress[]): Promise<ActorWaits[]> {
  if (actors.length === 0) return Promise.resolve([]);
  const addresses = actors.map(({ kind, id }) => ({ kind, id }));
  return sql<ActorWaits[]>`
    select actor.kind, actor.id, snapshot -> 'context' as context,
      coalesce((select jsonb_object_agg(name, to_char(fire_at at time zone 'utc',
          'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        from timer where timer.kind = actor.kind and timer.actor_id = actor.id), '{}') as timers,
      coalesce((select jsonb_agg(jsonb_build_object('effect', effect, 'attempts', attempts,
          'next_attempt_at', to_char(next_attempt_at at time zone 'utc',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by created_at)
        from outbox where outbox.kind = actor.kind and outbox.actor_id = actor.id
          and status = 'pending'), '[]') as effects
    from actor join json_to_recordset(${JSON.stringify(addresses)}::text::json)
      as input(kind text, id text) using (kind, id)`;
}

/**
 * Returns a durable actor; undefined if it does not exist, or if `organization_id` is set and it
 * belongs to another organization.
 */
export async function findActor(
  sql: Sql,
  { kind, id }: ActorAddress,
  organization_id: string | null,
): Promise<InspectedActor | undefined> {
  const [row] = await sql<InspectedActor[]>`
    select ${columns(sql)}, snapshot, created_at, updated_at from actor
    where kind = ${kind} and id = ${id}
      ${organization_id === null ? sql`` : sql`and organization_id = ${organization_id}`}`;
  return row;
}

/** What the ledger did to an actor's hold over all its events, nano-USD. */
export interface MoneySums {
  readonly held_nano_usd: number;
  readonly settled_nano_usd: number;
  readonly released_nano_usd: number;
}

/** Returns what the ledger held, charged and released with the events of a durable actor. */
export async function readMoneySums(sql: Sql, { kind, id }: ActorAddress): Promise<MoneySums> {
  const [row] = await sql<MoneySums[]>`
    select coalesce(sum((money ->> 'held')::int8), 0)::int8 as held_nano_usd,
      coalesce(sum((money ->> 'settled')::int8), 0)::int8 as settled_nano_usd,
      coalesce(sum((money ->> 'released')::int8), 0)::int8 as released_nano_usd
    from actor_event where kind = ${kind} and actor_id = ${id} and money is not null`;
  return row ?? { held_nano_usd: 0, settled_nano_usd: 0, released_nano_usd: 0 };
}
