import type { Sql } from 'postgres';

/**
 * Registers a replica with a lease of `leaseMs`. If `exclusive` is true, all other replicas are
 * declared dead.
 */
export async function registerReplica(
  sql: Sql,
  id: string,
  leaseMs: number,
  exclusive: boolean,
): Promise<void> {
  await sql.begin(async (tx) => {
    if (exclusive) await tx`update replica set status = 'dead' where status = 'alive'`;
    await tx`insert into replica (id, lease_until)
      values (${id}, weir_now() + ${leaseMs} * interval '1 millisecond')`;
  });
}

/** Renews a lease. Returns false if the replica was declared dead. */
export async function heartbeat(sql: Sql, id: string, leaseMs: number): Promise<boolean> {
  const rows = await sql`
    update replica set lease_until = weir_now() + ${leaseMs} * interval '1 millisecond'
    where id = ${id} and status = 'alive' returning id`;
  return rows.length === 1;
}

/**
 * Returns a text that all replicas on this database share, and replicas on other databases do not:
 * the number of the server's data and the name of the database.
 */
export async function readDatabaseIdentity(sql: Sql): Promise<string> {
  const [row] = await sql<{ identity: string }[]>`
    select system_identifier || ':' || current_database() as identity from pg_control_system()`;
  return row?.identity ?? '';
}

/**
 * Declares a replica dead, when its process stops in an orderly way. Waits for running transactions
 * of its durable actors.
 */
export async function retireReplica(sql: Sql, id: string): Promise<void> {
  await sql`
    update replica set status = 'dead'
    where id in (select id from replica where id = ${id} for update)`;
}

/**
 * Declares other replicas dead whose lease ended, and returns their ids. The replica `judge` judges
 * only if it renewed its own lease less than `freshMs` ago, by the database's clock. Otherwise the
 * database may just have been away, and the others could not renew either. A replica whose row is
 * locked is skipped.
 */
export async function declareExpiredDead(
  sql: Sql,
  judge: string,
  leaseMs: number,
  freshMs: number,
): Promise<string[]> {
  // FOR UPDATE waits for nobody and excludes `lockLiveReplica`: no transaction of a durable actor
  // can commit after its replica was declared dead.
  const rows = await sql<{ id: string }[]>`
    with expired as (
      select id from replica
      where status = 'alive' and lease_until < weir_now() and id <> ${judge}
        and exists (select 1 from replica as own where own.id = ${judge} and own.status = 'alive'
          and own.lease_until > weir_now() + ${leaseMs - freshMs} * interval '1 millisecond')
      order by id for update skip locked
    )
    update replica set status = 'dead' from expired where replica.id = expired.id
    returning replica.id`;
  return rows.map((row) => row.id);
}

/**
 * Returns the replicas whose lease ended at most `ago_ms` ago, or did not end yet, in the order of their ids, and how
 * long ago they registered.
 */
export async function readSeenReplicas(
  sql: Sql,
  ago_ms: number,
): Promise<{ id: string; age_ms: number }[]> {
  return sql<{ id: string; age_ms: number }[]>`
    select id, (extract(epoch from weir_now() - created_at) * 1000)::float8 as age_ms from replica
    where lease_until > weir_now() - ${ago_ms} * interval '1 millisecond' order by id collate "C"`;
}

/** Returns at most 100 dead replicas that still have open grants. */
export async function findDeadWithGrants(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct replica_id as id from quota_grant join replica on replica.id = replica_id
    where quota_grant.status = 'open' and replica.status = 'dead'
    limit 100`;
  return rows.map((row) => row.id);
}

/**
 * Ends sessions of Weir that fell silent between the parts of one statement, and returns their
 * number. A client that is paused there keeps its locks, and neither `statement_timeout` nor
 * `idle_in_transaction_session_timeout` counts that time.
 */
export async function endSilentSessions(sql: Sql): Promise<number> {
  const rows = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user
      and application_name in ('weir:lane', 'weir:requests')
      and state = 'active' and wait_event = 'ClientRead'
      and state_change < clock_timestamp() - interval '1 second'`;
  return rows.length;
}
