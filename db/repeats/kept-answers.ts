import type { Sql } from 'postgres';

/** The identity of a call that can be repeated. */
export interface RepeatId {
  readonly key_id: string;
  readonly route: string;
  /** SHA-256 of the idempotency key, hex. */
  readonly repeat_hash: string;
}

/** A call that is about to run, and claims its idempotency key. */
export interface NewClaim extends RepeatId {
  readonly organization_id: string;
  readonly request_hash: string;
  readonly request_id: string;
  readonly replica_id: string;
}

export type DropReason = 'too_large' | 'no_room' | 'switched_off';

/** The answer of a call that has ended. `body` is encrypted. */
export type EndedAnswer =
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      readonly is_broken: boolean;
      /** True if the answer came from the cache, so that it may have no charge. */
      readonly is_cached: boolean;
    }
  | { readonly dropped_because: DropReason };

/** What the database knows of an earlier call with the same idempotency key. */
export interface EarlierCall {
  readonly request_hash: string;
  readonly request_id: string;
  readonly state: 'running' | 'kept' | 'dropped';
  readonly dropped_because: DropReason | null;
  readonly status: number | null;
  readonly headers: Record<string, string> | null;
  /** The encrypted body; null if there is none, or if the organization keeps no answers. */
  readonly body: Uint8Array | null;
  readonly is_broken: boolean;
  /** False if the replica that runs the call is dead. */
  readonly is_owner_alive: boolean;
}

/**
 * Claims the idempotency key for a call. Returns false if an earlier call has claimed the key and
 * has not expired. If the earlier call has expired, its row is overwritten.
 */
export async function claimCall(sql: Sql, claim: NewClaim, keep_ms: number): Promise<boolean> {
  const { count } = await sql`
    insert into kept_answer as earlier (key_id, route, repeat_hash, organization_id, request_hash,
      request_id, replica_id, created_at, expires_at)
    values (${claim.key_id}, ${claim.route}, ${claim.repeat_hash}, ${claim.organization_id},
      ${claim.request_hash}, ${claim.request_id}, ${claim.replica_id}, weir_now(),
      weir_now() + ${keep_ms} * interval '1 millisecond')
    on conflict (key_id, route, repeat_hash) do update set
      request_hash = excluded.request_hash, request_id = excluded.request_id,
      replica_id = excluded.replica_id, state = 'running', dropped_because = null, status = null,
      headers = null, body = null, body_bytes = 0, is_broken = false,
      created_at = excluded.created_at, expires_at = excluded.expires_at
    where earlier.expires_at <= weir_now()`;
  return count > 0;
}

/** Finds the call that has claimed an idempotency key. */
export async function findEarlierCall(sql: Sql, id: RepeatId): Promise<EarlierCall | undefined> {
  const [row] = await sql<EarlierCall[]>`
    select kept.request_hash, kept.request_id, kept.state, kept.dropped_because, kept.status,
      kept.headers, case when organization.keep_answers then kept.body end as body, kept.is_broken,
      coalesce(replica.status = 'alive', false) as is_owner_alive
    from kept_answer as kept
    join organization on organization.id = kept.organization_id
    left join replica on replica.id = kept.replica_id
    where kept.key_id = ${id.key_id} and kept.route = ${id.route}
      and kept.repeat_hash = ${id.repeat_hash}`;
  return row;
}

/**
 * Ends a claim. If the call was charged, or was answered from the cache, its answer is kept, or dropped if the organization keeps
 * no answers. If the call was not charged, the claim is deleted, so that a repeat runs anew. A
 * repeated call of this function changes nothing. Returns the size of the kept body in bytes; 0 if
 * none is kept.
 */
export async function endClaim(
  sql: Sql,
  { key_id, route, repeat_hash, request_id }: RepeatId & { readonly request_id: string },
  answer: EndedAnswer,
): Promise<number> {
  const kept = 'body' in answer ? answer : undefined;
  const reason = 'body' in answer ? null : answer.dropped_because;
  const body = kept ? Buffer.from(kept.body) : null;
  const rows = await sql<{ body_bytes: number }[]>`
    with charged as (
      select 1 from usage_line where id = ${request_id}
      union all select 1 where ${kept?.is_cached === true}
    ), released as (
      delete from kept_answer
      where key_id = ${key_id} and route = ${route} and repeat_hash = ${repeat_hash}
        and request_id = ${request_id} and state = 'running' and not exists (select from charged)
    )
    update kept_answer set
      state = case when body_to_keep is null then 'dropped' else 'kept' end,
      dropped_because = case when body_to_keep is null
        then coalesce(${reason}::text, 'switched_off') end,
      status = ${kept?.status ?? null}::int4,
      headers = ${kept ? JSON.stringify(kept.headers) : null}::text::jsonb,
      body = body_to_keep,
      body_bytes = coalesce(octet_length(body_to_keep), 0),
      is_broken = ${kept?.is_broken ?? false}
    from (
      select id, case when keep_answers then ${body}::bytea end as body_to_keep from organization
    ) as payer
    where payer.id = organization_id and key_id = ${key_id} and route = ${route}
      and repeat_hash = ${repeat_hash} and request_id = ${request_id} and state = 'running'
      and exists (select from charged)
    returning body_bytes`;
  return rows[0]?.body_bytes ?? 0;
}

/**
 * Drops the oldest bodies of an organization, until the rest has at most `max_bytes`. The rows stay,
 * so that none of these calls runs twice.
 */
export async function dropOldestBodies(
  sql: Sql,
  organization_id: string,
  max_bytes: number,
): Promise<void> {
  await sql`
    with summed as (
      select key_id, route, repeat_hash,
        sum(body_bytes) over (order by created_at desc, key_id, route, repeat_hash) as bytes
      from kept_answer where organization_id = ${organization_id} and state = 'kept'
    )
    update kept_answer set state = 'dropped', dropped_because = 'no_room', body = null, body_bytes = 0
    from summed
    where summed.bytes > ${max_bytes} and kept_answer.state = 'kept'
      and kept_answer.key_id = summed.key_id and kept_answer.route = summed.route
      and kept_answer.repeat_hash = summed.repeat_hash`;
}

/** The most rows that one statement changes, so that locks are short and the WAL stays small. */
const MAX_CHANGED = 5_000;

/**
 * Drops at most 5,000 bodies of organizations that keep no answers. Returns the number of dropped
 * bodies.
 */
export async function dropUnwantedBodies(sql: Sql): Promise<number> {
  const { count } = await sql`
    update kept_answer set state = 'dropped', dropped_because = 'switched_off', body = null,
      body_bytes = 0
    where state = 'kept' and ctid in (
      select kept.ctid from kept_answer as kept
      join organization on organization.id = kept.organization_id
      where kept.state = 'kept' and not organization.keep_answers limit ${MAX_CHANGED})`;
  return count;
}

/** Deletes at most 5,000 expired calls, with their answers. */
export async function deleteExpiredCalls(sql: Sql): Promise<void> {
  await sql`
    delete from kept_answer where expires_at <= weir_now() and ctid in (
      select ctid from kept_answer where expires_at <= weir_now()
      order by expires_at limit ${MAX_CHANGED})`;
}
