import type { Sql } from 'postgres';

/**
 * Sums over all organizations. Amounts are nano-USD as text, because a sum over many organizations
 * may exceed what a JS number holds exactly.
 */
export interface BookSums {
  readonly as_of: Date;
  readonly organizations: number;
  readonly deposited: string;
  /** The part of `deposited` that is credit. */
  readonly credit: string;
  readonly available: string;
  readonly held: string;
  readonly used: string;
  readonly open_holds: number;
  readonly open_holds_amount: string;
  readonly open_grants: number;
  /** Money of open grants that is not charged. */
  readonly open_grants_amount: string;
  /** Charges of open grants that the rows of keys and organizations do not have yet. */
  readonly open_grants_unposted: string;
}

/** Tasks for which nobody knows whether an upstream has their job (P10). */
export interface UnknownOutcomes {
  readonly count: number;
  /** The tasks that wait longest. */
  readonly oldest: readonly {
    readonly task_id: string;
    readonly organization_id: string | null;
    readonly state: string;
    readonly since: Date;
  }[];
}

const SHOWN = 20;

/** Reads the sums of all organizations, in one snapshot of the database. */
export async function readBookSums(sql: Sql): Promise<BookSums> {
  const [sums] = await sql<BookSums[]>`
    select weir_now() as as_of, organizations.*, holds.*, grants.*
    from (
      select count(*)::int4 as organizations,
        coalesce(sum(deposited_nano_usd), 0)::text as deposited,
        coalesce(sum(credit_nano_usd), 0)::text as credit,
        coalesce(sum(balance_nano_usd), 0)::text as available,
        coalesce(sum(held_nano_usd), 0)::text as held,
        coalesce(sum(settled_nano_usd), 0)::text as used
      from organization
    ) as organizations, (
      select count(*)::int4 as open_holds,
        coalesce(sum(amount_nano_usd), 0)::text as open_holds_amount
      from hold where status = 'held'
    ) as holds, (
      select count(*)::int4 as open_grants,
        coalesce(sum(granted_nano_usd - settled_nano_usd), 0)::text as open_grants_amount,
        coalesce(sum(settled_nano_usd - posted_nano_usd
          - (uncharged_nano_usd - uncharged_posted_nano_usd)), 0)::text as open_grants_unposted
      from quota_grant where status = 'open'
    ) as grants`;
  return sums as BookSums;
}

/** Finds the tasks whose outcome at the upstream is unknown. */
export async function findUnknownOutcomes(sql: Sql): Promise<UnknownOutcomes> {
  const rows = await sql<(UnknownOutcomes['oldest'][number] & { count: number })[]>`
    select id as task_id, organization_id, state, since, count(*) over ()::int4 as count
    from actor
    where kind = 'task' and top_state = 'processing' and live
      and state like 'processing.unknown.%'
    order by since, id limit ${SHOWN}`;
  return {
    count: rows[0]?.count ?? 0,
    oldest: rows.map(({ count: _, ...oldest }) => oldest),
  };
}
