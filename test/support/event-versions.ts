import type { Sql } from '../../db/client.ts';

/** Adds the version of the machine to the rows of the event log, unless they have it. */
export async function addEventVersions(sql: Sql): Promise<void> {
  await sql.unsafe(
    'alter table actor_event add column if not exists machine_version integer not null default 1',
  );
}
