import type { Sql } from 'postgres';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
  whereEqual,
} from '../pages.ts';

/** A change of state of a circuit on one replica; see the table `channel_transition`. */
export interface NewTransition {
  readonly id: string;
  readonly channel_id: string;
  readonly model: string;
  readonly replica_id: string;
  readonly from_state: string;
  readonly to_state: string;
  readonly cause: string | null;
  readonly is_from_peer: boolean;
  /** Milliseconds since the Unix epoch; null = calls may be sent. */
  readonly open_until_ms: number | null;
  readonly at_ms: number;
}

/** A stored change of state. */
export interface TransitionRow extends Omit<NewTransition, 'open_until_ms' | 'at_ms'> {
  readonly open_until: Date | null;
  readonly at: Date;
  /** When the same circuit of the same replica left the state; null = it is in this state. */
  readonly left_at: Date | null;
  /** The place in the list. */
  readonly at_us: number;
}

/** The present state of one circuit on one living replica. */
export interface CircuitRow {
  readonly model: string;
  readonly replica_id: string;
  readonly state: string;
  readonly cause: string | null;
  readonly since: Date;
}

/** The changes that a list has. A missing member means all. */
export interface TransitionFilter {
  readonly model?: string | undefined;
  readonly replica?: string | undefined;
}

const SORT = { at: 'at', id: 'id' };

/** Stores changes. A change that is stored already is left out. */
export async function insertTransitions(
  sql: Sql,
  transitions: readonly NewTransition[],
): Promise<void> {
  if (transitions.length === 0) return;
  await sql`
    insert into channel_transition (id, channel_id, model, replica_id, from_state, to_state, cause,
      is_from_peer, open_until, at)
    select id, channel_id, model, replica_id, from_state, to_state, cause, is_from_peer,
      to_timestamp(open_until_ms / 1000), to_timestamp(at_ms / 1000)
    from json_to_recordset(${JSON.stringify(transitions)}::text::json) as input(
      id uuid, channel_id text, model text, replica_id text, from_state text, to_state text,
      cause text, is_from_peer bool, open_until_ms float8, at_ms float8)
    on conflict (id) do nothing`;
}

/** Returns a page of the changes of a channel's circuits, the newest first. */
export async function listTransitions(
  sql: Sql,
  channel_id: string,
  { model, replica }: TransitionFilter,
  page: PageRequest,
): Promise<Page<TransitionRow>> {
  const rows = await sql<TransitionRow[]>`
    with listed as (
      select * from channel_transition
      where channel_id = ${channel_id} ${whereEqual(sql, 'model', model)}
        ${whereEqual(sql, 'replica_id', replica)} ${pageBounds(sql, page, SORT)}
      ${pageOrder(sql, page, SORT)}
    )
    select listed.*, ${positionOf(sql, 'listed.at')} as at_us, (
      select later.at from channel_transition as later
      where later.channel_id = listed.channel_id and later.model = listed.model
        and later.replica_id = listed.replica_id and (later.at, later.id) > (listed.at, listed.id)
      order by later.at, later.id limit 1) as left_at
    from listed order by at desc, id desc`;
  return pageOf(rows, page);
}

/**
 * Returns the state of each circuit of a channel on each living replica. A circuit without a stored
 * change is healthy since its replica started.
 */
export function readCircuits(
  sql: Sql,
  channel_id: string,
  models: readonly string[],
): Promise<CircuitRow[]> {
  return sql<CircuitRow[]>`
    select served.model, replica.id as replica_id, coalesce(last.to_state, 'healthy') as state, last.cause,
      coalesce(last.at, replica.created_at) as since
    from unnest(${models}::text[]) as served(model)
      cross join replica
      left join lateral (
        select to_state, cause, at from channel_transition as change
        where change.channel_id = ${channel_id} and change.model = served.model
          and change.replica_id = replica.id
        order by at desc, id desc limit 1
      ) as last on true
    where replica.status = 'alive'
    order by served.model, replica_id`;
}

/**
 * Deletes at most `limit` changes that are older than `age_days`. The latest change of each circuit
 * of a living replica is kept, because it says since when the circuit has its state.
 */
export async function deleteOldTransitions(
  sql: Sql,
  age_days: number,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    delete from channel_transition where id in (
      select old.id from channel_transition as old
      where old.at < weir_now() - ${age_days} * interval '1 day'
        and (exists (
          select 1 from channel_transition as later
          where later.channel_id = old.channel_id and later.model = old.model
            and later.replica_id = old.replica_id and (later.at, later.id) > (old.at, old.id))
        or not exists (select 1 from replica where id = old.replica_id and status = 'alive'))
      order by old.at limit ${limit})`;
  return count;
}

/** A model of a channel. */
export interface ChannelModel {
  readonly channel_id: string;
  readonly model: string;
}

/** A model of a channel with the state of its circuit on one replica. */
export interface PastCircuit extends ChannelModel {
  readonly state: string;
}

/**
 * Returns the states of circuits at an instant, one for each replica that had changed it before. A circuit without
 * a row was healthy.
 */
export async function circuitsAt(
  sql: Sql,
  channels: readonly ChannelModel[],
  at: Date,
): Promise<PastCircuit[]> {
  if (channels.length === 0) return [];
  return sql<PastCircuit[]>`
    select distinct on (change.channel_id, change.model, change.replica_id)
      change.channel_id, change.model, change.to_state as state
    from json_to_recordset(${JSON.stringify(channels)}::text::json)
        as wanted(channel_id text, model text)
      join channel_transition as change using (channel_id, model)
      join replica on replica.id = change.replica_id
    where change.at <= ${at} and replica.created_at <= ${at}
      and (replica.status = 'alive' or replica.lease_until >= ${at})
    order by change.channel_id, change.model, change.replica_id, change.at desc, change.id desc`;
}
