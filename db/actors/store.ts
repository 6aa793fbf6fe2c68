import type { Sql, TransactionSql } from 'postgres';

/** A JSON value in a row. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonValue[]
  | { [key: string]: JsonValue };

/** Identifies a durable actor. */
export interface ActorAddress {
  kind: string;
  id: string;
}

/** A row of a durable actor; see the table `actor`. */
export interface ActorRow extends ActorAddress {
  organization_id: string | null;
  machine_version: number;
  snapshot: JsonValue;
  /** The state of the snapshot as a path, e.g. `processing.polling`. */
  state: string;
  /** True if this transaction entered a new `top_state`. If true, `since` is written too. */
  entered: boolean;
  seq: number;
  live: boolean;
  owner: string | null;
  epoch: number;
}

/** A timer to set or to cancel. */
export interface TimerChange {
  kind: string;
  actor_id: string;
  name: string;
  /** The number of the event that changes the timer. */
  seq: number;
  /** Milliseconds from now until the timer fires; null = the timer is canceled. */
  delay_ms: number | null;
  event: JsonValue;
}

/** A new effect; see the table `outbox`. */
export interface OutboxRow {
  id: string;
  kind: string;
  actor_id: string;
  seq: number;
  effect: string;
  params: JsonValue;
}

/** Inserts the rows of new actors; an existing row stays unchanged. */
export async function createActors(tx: TransactionSql, rows: readonly ActorRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    insert into actor (kind, id, organization_id, machine_version, snapshot, state, since, seq,
      live, owner, epoch, created_at, updated_at)
    select kind, id, organization_id, machine_version, snapshot, state, weir_now(), seq,
      live, owner, epoch, weir_now(), weir_now()
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
      kind text, id text, organization_id text, machine_version int, snapshot jsonb, state text,
      seq int, live bool, owner text, epoch int8)
    on conflict (kind, id) do nothing`;
}

/**
 * Deletes the actors in `addresses` that have no events, e.g. an actor whose creation this
 * transaction refused.
 */
export async function deleteActorsWithoutEvents(
  tx: TransactionSql,
  addresses: readonly ActorAddress[],
): Promise<void> {
  if (addresses.length === 0) return;
  await tx`
    delete from actor using json_to_recordset(${JSON.stringify(addresses)}::text::json)
      as input(kind text, id text)
    where actor.kind = input.kind and actor.id = input.id and seq = 0`;
}

/** Locks and reads actors, always in the order of kind and id. */
export async function lockActors(
  tx: TransactionSql,
  addresses: readonly ActorAddress[],
): Promise<ActorRow[]> {
  return tx<ActorRow[]>`
    select actor.kind, actor.id, organization_id, machine_version, snapshot, state,
      false as entered, seq, live, owner, epoch
    from actor join json_to_recordset(${JSON.stringify(addresses)}::text::json)
      as input(kind text, id text) using (kind, id)
    order by actor.kind, actor.id for update of actor`;
}

/**
 * True if the replica is alive. Locks the replica's row until the transaction ends. A transaction
 * that declares the replica dead must wait for this lock, because it locks the row FOR UPDATE. The
 * replica's own heartbeat does not wait, because it changes no key of the row.
 */
export async function lockLiveReplica(tx: TransactionSql, replica_id: string): Promise<boolean> {
  const rows = await tx`
    select 1 from replica where id = ${replica_id} and status = 'alive' for key share`;
  return rows.length === 1;
}

/** Writes the rows of actors. The caller must have locked the rows with `lockActors`. */
export async function writeActors(tx: TransactionSql, rows: readonly ActorRow[]): Promise<void> {
  await tx`
    update actor set machine_version = input.machine_version, snapshot = input.snapshot,
      state = input.state, since = case when entered then weir_now() else since end,
      seq = input.seq, live = input.live, owner = input.owner, epoch = input.epoch,
      updated_at = weir_now()
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
      kind text, id text, machine_version int, snapshot jsonb, state text, entered bool, seq int,
      live bool, owner text, epoch int8)
    where actor.kind = input.kind and actor.id = input.id`;
}

/**
 * Sets and cancels timers. If a timer is changed twice, the last change counts. The `generation` of
 * a timer is the number of the event that set it. So no generation repeats, not even after the
 * timer was canceled or fired.
 */
export async function writeTimers(
  tx: TransactionSql,
  changes: readonly TimerChange[],
): Promise<void> {
  const last = new Map(changes.map((each) => [`${each.kind}/${each.actor_id}/${each.name}`, each]));
  if (last.size === 0) return;
  const input = JSON.stringify([...last.values()]);
  await tx`
    delete from timer using json_to_recordset(${input}::text::json) as input(
      kind text, actor_id text, name text, delay_ms int8)
    where timer.kind = input.kind and timer.actor_id = input.actor_id
      and timer.name = input.name and input.delay_ms is null`;
  await tx`
    insert into timer (kind, actor_id, name, generation, fire_at, event)
    select kind, actor_id, name, seq, weir_now() + delay_ms * interval '1 millisecond', event
    from json_to_recordset(${input}::text::json) as input(
      kind text, actor_id text, name text, seq int, delay_ms int8, event jsonb)
    where delay_ms is not null
    on conflict (kind, actor_id, name) do update set generation = excluded.generation,
      fire_at = excluded.fire_at, event = excluded.event`;
}

/** Returns the start of a timer's keys (see `timerKey`). All generations of a timer share it. */
export const timerPrefix = (timer: Pick<DueTimer, 'kind' | 'actor_id' | 'name'>) =>
  `${timer.kind}/${timer.actor_id}/${timer.name}/`;

/** Returns a key that identifies one generation of a timer. */
export const timerKey = (timer: Omit<DueTimer, 'event'>) =>
  `${timerPrefix(timer)}${timer.generation}`;

/**
 * Deletes the timers whose events are applied in this transaction, and returns the keys of the
 * deleted timers. A key is missing if its timer fired, was canceled or was set again before. The
 * caller must have locked the actors.
 */
export async function takeTimers(
  tx: TransactionSql,
  timers: readonly Omit<DueTimer, 'event'>[],
): Promise<Set<string>> {
  if (timers.length === 0) return new Set();
  const rows = await tx<Omit<DueTimer, 'event'>[]>`
    delete from timer using json_to_recordset(${JSON.stringify(timers)}::text::json) as input(
      kind text, actor_id text, name text, generation int)
    where timer.kind = input.kind and timer.actor_id = input.actor_id
      and timer.name = input.name and timer.generation = input.generation
    returning timer.kind, timer.actor_id, timer.name, timer.generation`;
  return new Set(rows.map(timerKey));
}

/** Inserts effects, which are due at once. */
export async function insertOutbox(tx: TransactionSql, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    insert into outbox (id, kind, actor_id, seq, effect, params, next_attempt_at, created_at)
    select id, kind, actor_id, seq, effect, params, weir_now(), weir_now()
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
      id uuid, kind text, actor_id text, seq int, effect text, params jsonb)`;
}

/**
 * Ends effects and returns the ids of those that it ended. If an id is missing, its effect had
 * ended before. The row of an effect that is done is deleted, because the event log has its result.
 * The row of a dead effect stays for a day, so that the operator can look at it.
 */
export async function endOutbox(
  tx: TransactionSql,
  effects: readonly { id: string; status: 'done' | 'dead' }[],
): Promise<Set<string>> {
  if (effects.length === 0) return new Set();
  const rows = await tx<{ id: string }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(effects)}::text::json)
        as effect(id uuid, status text)
    ), done as (
      delete from outbox using input
      where outbox.id = input.id and outbox.status = 'pending' and input.status = 'done'
      returning outbox.id
    ), dead as (
      update outbox set status = 'dead' from input
      where outbox.id = input.id and outbox.status = 'pending' and input.status = 'dead'
      returning outbox.id
    )
    select id from done union all select id from dead`;
  return new Set(rows.map(({ id }) => id));
}

/** A due timer and the event that it sends. */
export interface DueTimer {
  kind: string;
  actor_id: string;
  name: string;
  generation: number;
  event: JsonValue;
}

/**
 * Returns at most `limit` due timers of the actors that the replica `owner` owns. Timers that
 * another transaction has locked are left out.
 */
export function findDueTimers(sql: Sql, owner: string, limit: number): Promise<DueTimer[]> {
  return sql<DueTimer[]>`
    select timer.kind, actor_id, name, generation, event
    from timer join actor on actor.kind = timer.kind and actor.id = timer.actor_id
    where fire_at <= weir_now() and owner = ${owner}
    order by fire_at limit ${limit} for update of timer skip locked`;
}

/** An effect to run. `attempts` counts its failed attempts. */
export interface PendingEffect extends OutboxRow {
  attempts: number;
}

/**
 * Returns at most `limit` due effects of the actors that the replica `owner` owns. Effects whose id
 * or name is in `skip` are left out.
 */
export function findPendingEffects(
  sql: Sql,
  owner: string,
  limit: number,
  skip: { ids: readonly string[]; effects: readonly string[] } = { ids: [], effects: [] },
): Promise<PendingEffect[]> {
  return sql<PendingEffect[]>`
    select outbox.id, outbox.kind, actor_id, outbox.seq, effect, params, attempts
    from outbox join actor on actor.kind = outbox.kind and actor.id = outbox.actor_id
    where outbox.status = 'pending' and next_attempt_at <= weir_now() and owner = ${owner}
      and outbox.id <> all(${skip.ids}::uuid[]) and effect <> all(${skip.effects}::text[])
    order by next_attempt_at limit ${limit}`;
}

/** Records a failed attempt. The next attempt is due after `delay_ms`. */
export async function postponeEffect(
  sql: Sql,
  id: string,
  delay_ms: number,
  error: string,
): Promise<void> {
  await sql`
    update outbox set attempts = attempts + 1, last_error = ${error},
      next_attempt_at = weir_now() + ${delay_ms} * interval '1 millisecond'
    where id = ${id} and status = 'pending'`;
}

/**
 * Adopts actors of dead replicas: this replica becomes their owner, and their `epoch` grows. Adopts
 * live actors, and ended actors with pending effects. Returns the adopted actors, at most `limit`.
 * If this replica itself is dead, it adopts none.
 */
export function adoptActors(sql: Sql, replica_id: string, limit: number): Promise<ActorAddress[]> {
  return sql<ActorAddress[]>`
    with orphan as (
      select actor.kind, actor.id from actor left join replica on replica.id = owner
      where live and (replica.id is null or replica.status = 'dead')
      union
      select actor.kind, actor.id from outbox
        join actor on actor.kind = outbox.kind and actor.id = actor_id
        left join replica on replica.id = owner
      where outbox.status = 'pending' and not live
        and (replica.id is null or replica.status = 'dead')
    ), locked as (
      select actor.kind, actor.id from actor join orphan using (kind, id)
      order by actor.kind, actor.id limit ${limit} for update of actor skip locked
    )
    update actor set owner = ${replica_id}, epoch = epoch + 1
    from locked where actor.kind = locked.kind and actor.id = locked.id
      and exists (select 1 from replica where id = ${replica_id} and status = 'alive')
    returning actor.kind, actor.id`;
}
