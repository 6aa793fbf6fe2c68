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

/** Declares this replica dead when its process stops in an orderly way. */
export async function retireReplica(sql: Sql, id: string): Promise<void> {
  await sql`update replica set status = 'dead' where id = ${id}`;
}

/**
 * Returns at most 100 replicas: live replicas whose lease ended, and dead replicas that still have
 * open grants.
 */
export async function findReplicasToReap(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from replica where status = 'alive' and lease_until < weir_now()
    union
    select replica_id from quota_grant join replica on replica.id = replica_id
    where quota_grant.status = 'open' and replica.status = 'dead'
    limit 100`;
  return rows.map((row) => row.id);
}
