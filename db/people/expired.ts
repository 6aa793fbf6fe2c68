import type { Sql } from '../client.ts';

/** The most rows that one statement deletes, so that locks are short. */
const ROWS_A_SWEEP = 5_000;

/** Deletes sessions, attempts and begun sign-ins that have ended, and links that ended long ago. */
export async function deleteEndedSignIns(sql: Sql, keep_links_days: number): Promise<void> {
  await sql`
    delete from person_session where id in (
      select id from person_session where expires_at <= weir_now() limit ${ROWS_A_SWEEP})`;
  await sql`
    delete from sign_in_state where id in (
      select id from sign_in_state where expires_at <= weir_now() limit ${ROWS_A_SWEEP})`;
  await sql`
    delete from sign_in_attempt where subject in (
      select subject from sign_in_attempt where ends_at <= weir_now() limit ${ROWS_A_SWEEP})`;
  await sql`
    delete from one_time_link where id in (
      select id from one_time_link
      where expires_at <= weir_now() - ${keep_links_days} * interval '1 day' limit ${ROWS_A_SWEEP})`;
}
