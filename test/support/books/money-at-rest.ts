import type { Sql } from '../../../db/client.ts';
import { findMoneyFaults } from '../money-faults.ts';

/**
 * Returns what is wrong with the money when no call and no task is open; empty if nothing is held
 * and every sum matches (P1, P16). `are_grants_returned` is true if every replica has stopped, so
 * that no grant may be open.
 */
export async function findMoneyNotAtRest(
  sql: Sql,
  { are_grants_returned }: { are_grants_returned: boolean },
): Promise<string[]> {
  const [row] = await sql<{ organizations: number; keys: number; grants: number; holds: number }[]>`
    with granted as (
      select coalesce(sum(granted_nano_usd - posted_nano_usd), 0) as nano_usd, count(*) as open
      from quota_grant where status = 'open'
    )
    select (select coalesce(sum(held_nano_usd), 0) from organization)::int8 - nano_usd::int8
        as organizations,
      (select coalesce(sum(held_nano_usd), 0) from api_key)::int8 - nano_usd::int8 as keys,
      open::int4 as grants,
      (select count(*)::int4 from hold where status = 'held') as holds
    from granted`;
  const wrong = (await findMoneyFaults(sql)).map(
    ({ what, id, nano_usd }) => `${what} of ${id} is off by ${nano_usd} nano-USD`,
  );
  if (!row) return [...wrong, 'the money could not be read'];
  if (row.organizations !== 0) wrong.push(`${row.organizations} nano-USD are still held`);
  if (row.keys !== 0) wrong.push(`${row.keys} nano-USD of keys are still held`);
  if (row.holds > 0) wrong.push(`${row.holds} holds are still open`);
  if (are_grants_returned && row.grants > 0) wrong.push(`${row.grants} grants are still open`);
  return wrong;
}
