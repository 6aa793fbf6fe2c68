import type { TransactionSql } from 'postgres';
import type { Tags } from '../budgets/tags.ts';
import { type BudgetRow, readBudgets, writeWindows } from '../budgets/windows.ts';

/** A locked row of an organization; amounts in nano-USD. `writeMoney` writes its amounts back. */
export interface OrganizationRow {
  id: string;
  status: 'active' | 'suspended' | 'closed';
  deposited_nano_usd: number;
  balance_nano_usd: number;
  held_nano_usd: number;
  settled_nano_usd: number;
  credit_limit_nano_usd: number;
  credit_nano_usd: number;
  has_budgets: boolean;
}

/** A locked row of a key; amounts in nano-USD. */
export interface KeyRow {
  id: string;
  organization_id: string;
  status: 'active' | 'inactive' | 'suspended' | 'revoked';
  /** True if `expires_at` has passed on the database's clock. */
  expired: boolean;
  limit_nano_usd: number | null;
  /** What the cap counts. */
  used_nano_usd: number;
  /** The part of the used money that was not charged. */
  uncharged_nano_usd: number;
  held_nano_usd: number;
  /** The present day in the time zone of the organization, `YYYY-MM-DD`. */
  day: string;
  /** The time until that day ends, ms. */
  day_ends_in_ms: number;
}

/** A locked row of a grant; amounts in nano-USD. */
export interface GrantRow {
  id: string;
  key_id: string;
  organization_id: string;
  replica_id: string;
  status: 'open' | 'closed';
  granted_nano_usd: number;
  settled_nano_usd: number;
  posted_nano_usd: number;
  /** The parts of the settled and the posted amount that the cap counts, and that are not charged. */
  uncharged_nano_usd: number;
  uncharged_posted_nano_usd: number;
  recall_acked: number;
  /** The day of its organization when it was opened; null for a grant of an earlier version. */
  day: string | null;
  /** The tags of its calls that have budgets; null = none. */
  tags: Tags | null;
}

/** A locked row of a hold; amounts in nano-USD. */
export interface HoldRow {
  id: string;
  key_id: string;
  organization_id: string;
  status: 'held' | 'settled' | 'released' | 'expired';
  amount_nano_usd: number;
  charged_nano_usd: number;
  /** What the key's cap counts beyond the charge. */
  uncharged_nano_usd: number;
  reference: string;
  /** The time when the hold expires, ISO 8601. */
  expires_at: string;
  /** The day of its organization when it was made; null for a hold of an earlier version. */
  day: string | null;
  /** As those of a grant. */
  tags: Tags | null;
}

/**
 * The locked rows of one transaction, by id. The rows are changed in memory and then written back.
 */
export interface LockedRows {
  organizations: Map<string, OrganizationRow>;
  keys: Map<string, KeyRow>;
  grants: Map<string, GrantRow>;
  holds: Map<string, HoldRow>;
  /** The budgets of these keys. */
  budgets: readonly BudgetRow[];
}

/**
 * The rows that a batch of ledger commands needs. `lockMoney` adds the organizations of these keys,
 * and the keys and organizations of these grants and holds.
 */
export interface MoneyScope {
  organization_ids: string[];
  key_ids: string[];
  grant_ids: string[];
  hold_ids: string[];
  /**
   * Grants that this transaction charges after its other commands. They are locked, but they are not
   * among the returned rows: a charge changes them with a statement of its own.
   */
  charged_grant_ids: readonly string[];
  /** Dead replicas, whose open grants are locked. */
  reaped_replica_ids: string[];
  /** The tags of new grants and holds. Those of the locked ones are added. */
  tags: readonly Tags[];
}

const mapById = <Row extends { id: string }>(rows: readonly Row[]) =>
  new Map(rows.map((row) => [row.id, { ...row }]));

/** Most grants that one REAP command closes; the next command closes the rest. */
export const MAX_REAPED_GRANTS = 256;

/**
 * Locks and returns all rows that a batch of ledger commands needs.
 *
 * Every transaction that moves money locks in one order, so two of them never deadlock: replicas
 * (`declareDead`), organizations, keys, grants, holds. The rows of one table are locked in the order
 * of their ids, by one statement. A transaction that only charges locks only grants.
 *
 * The lock mode is `no key update`. If a grant or hold is inserted, PostgreSQL locks the rows that it
 * refers to, in another order. That lock (`key share`) does not wait for `no key update`.
 */
export async function lockMoney(tx: TransactionSql, scope: MoneyScope): Promise<LockedRows> {
  const owners = await tx<{ organization_id: string; key_id: string; grant_id: string | null }[]>`
    select organization_id, key_id, id as grant_id from quota_grant
      where id = any(${scope.grant_ids}::uuid[])
    union all
    (select organization_id, key_id, id from quota_grant
      where status = 'open' and replica_id = any(${scope.reaped_replica_ids}::text[])
      order by id limit ${MAX_REAPED_GRANTS})
    union all
    select organization_id, key_id, null from hold where id = any(${scope.hold_ids}::uuid[])
    union all
    select organization_id, id, null from api_key where id = any(${scope.key_ids}::text[])`;
  const organization_ids = [...scope.organization_ids, ...owners.map((row) => row.organization_id)];
  const organizations = await tx<OrganizationRow[]>`
    select id, status, deposited_nano_usd, balance_nano_usd, held_nano_usd, settled_nano_usd,
      credit_limit_nano_usd, credit_nano_usd, has_budgets
    from organization where id = any(${organization_ids}::text[]) order by id
    for no key update`;
  const keys = await tx<KeyRow[]>`
    with clock as materialized (select weir_now() as at)
    select api_key.id, organization_id, api_key.status, coalesce(expires_at <= at, false) as expired,
      limit_nano_usd, used_nano_usd, uncharged_nano_usd, api_key.held_nano_usd,
      (at at time zone time_zone)::date::text as day,
      floor(extract(epoch from weir_day_end(at, time_zone) - at) * 1000)::int4 as day_ends_in_ms
    from clock, api_key join organization on organization.id = organization_id
    where api_key.id = any(${owners.map((row) => row.key_id)}::text[]) order by api_key.id
    for no key update of api_key`;
  // If the connection broke in an earlier run of this batch, that run may have committed a grant
  // after `owners` was read. So grants are locked by the ids in the commands too.
  const grant_ids = new Set([...scope.grant_ids, ...owners.flatMap((row) => row.grant_id ?? [])]);
  const locked_ids = [...new Set([...grant_ids, ...scope.charged_grant_ids])];
  const grants = locked_ids.length
    ? await tx<GrantRow[]>`
        select id, key_id, organization_id, replica_id, status, granted_nano_usd, settled_nano_usd,
          posted_nano_usd, uncharged_nano_usd, uncharged_posted_nano_usd, recall_acked, day::text, tags
        from quota_grant where id = any(${locked_ids}::uuid[]) order by id
    for no key update`
    : [];
  const holds = scope.hold_ids.length
    ? await tx<HoldRow[]>`
        select id, key_id, organization_id, status, amount_nano_usd, charged_nano_usd,
          uncharged_nano_usd, reference, expires_at::text, day::text, tags
        from hold where id = any(${scope.hold_ids}::uuid[]) order by id
    for no key update`
    : [];
  const rows = {
    organizations: mapById(organizations),
    keys: mapById(keys),
    grants: mapById(grants.filter(({ id }) => grant_ids.has(id))),
    holds: mapById(holds),
  };
  return { ...rows, budgets: await budgetsOf(tx, rows, scope.tags) };
}

/** Reads the budgets of the locked keys. Most organizations have none, and then this is no query. */
async function budgetsOf(
  tx: TransactionSql,
  { organizations, keys, grants, holds }: Omit<LockedRows, 'budgets'>,
  tags: readonly Tags[],
): Promise<BudgetRow[]> {
  const limited = [...keys.values()].filter(
    ({ organization_id }) => organizations.get(organization_id)?.has_budgets,
  );
  if (limited.length === 0) return [];
  const locked = [...grants.values(), ...holds.values()];
  const earlier = locked.flatMap(({ organization_id, day }) =>
    day === null ? [] : [{ organization_id, day }],
  );
  const scopes = {
    key_ids: limited.map(({ id }) => id),
    tags: [...tags, ...locked.flatMap(({ tags: each }) => (each ? [each] : []))],
  };
  return readBudgets(tx, scopes, limited, earlier);
}

/**
 * Writes the rows back with one statement for each table, and inserts new grants and holds. The
 * caller must have locked the rows with `lockMoney`.
 */
export async function writeMoney(tx: TransactionSql, rows: LockedRows): Promise<void> {
  const json = (values: Iterable<object>) => JSON.stringify([...values]);
  await tx`
    update organization set
      deposited_nano_usd = input.deposited_nano_usd, balance_nano_usd = input.balance_nano_usd,
      held_nano_usd = input.held_nano_usd, settled_nano_usd = input.settled_nano_usd,
      credit_limit_nano_usd = input.credit_limit_nano_usd, credit_nano_usd = input.credit_nano_usd
    from json_to_recordset(${json(rows.organizations.values())}::text::json) as input(
      id text, deposited_nano_usd int8, balance_nano_usd int8, held_nano_usd int8,
      settled_nano_usd int8, credit_limit_nano_usd int8, credit_nano_usd int8)
    where organization.id = input.id`;
  await tx`
    update api_key set used_nano_usd = input.used_nano_usd, held_nano_usd = input.held_nano_usd,
      uncharged_nano_usd = input.uncharged_nano_usd,
      ceiling_nano_usd = case when api_key.limit_nano_usd is not null
        then greatest(api_key.limit_nano_usd, input.used_nano_usd + input.held_nano_usd) end
    from json_to_recordset(${json(rows.keys.values())}::text::json) as input(
      id text, used_nano_usd int8, uncharged_nano_usd int8, held_nano_usd int8)
    where api_key.id = input.id`;
  if (rows.grants.size > 0) {
    await tx`
      insert into quota_grant (id, key_id, organization_id, replica_id, status, granted_nano_usd,
        settled_nano_usd, posted_nano_usd, uncharged_nano_usd, uncharged_posted_nano_usd,
        recall_acked, day, tags, created_at)
      select *, weir_now() from json_to_recordset(${json(rows.grants.values())}::text::json) as input(
        id uuid, key_id text, organization_id text, replica_id text, status text,
        granted_nano_usd int8, settled_nano_usd int8, posted_nano_usd int8,
        uncharged_nano_usd int8, uncharged_posted_nano_usd int8, recall_acked int8,
        day date, tags jsonb)
      on conflict (id) do update set status = excluded.status,
        granted_nano_usd = excluded.granted_nano_usd,
        posted_nano_usd = excluded.posted_nano_usd,
        uncharged_posted_nano_usd = excluded.uncharged_posted_nano_usd, recall_acked = excluded.recall_acked,
        closed_at = case when excluded.status = 'closed' then weir_now() end`;
  }
  if (rows.holds.size > 0) {
    await tx`
      insert into hold (id, key_id, organization_id, status, amount_nano_usd, charged_nano_usd,
        uncharged_nano_usd, reference, expires_at, day, tags, created_at)
      select *, weir_now() from json_to_recordset(${json(rows.holds.values())}::text::json) as input(
        id uuid, key_id text, organization_id text, status text, amount_nano_usd int8,
        charged_nano_usd int8, uncharged_nano_usd int8,
        reference text, expires_at timestamptz, day date, tags jsonb)
      on conflict (id) do update set status = excluded.status,
        amount_nano_usd = excluded.amount_nano_usd, charged_nano_usd = excluded.charged_nano_usd,
        uncharged_nano_usd = excluded.uncharged_nano_usd,
        resolved_at = case when excluded.status <> 'held' then weir_now() end`;
  }
  await writeWindows(tx, rows.budgets);
}
