import type { Fragment, Sql, TransactionSql } from 'postgres';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
  whereEqual,
} from '../pages.ts';
import { newId } from '../secrets.ts';
import type { AlertKind, TEST_KIND } from './kinds.ts';

/** What an alert is about, and why. */
export interface AlertCause {
  readonly owner_id: string;
  readonly cause: string;
  readonly subject_kind: string;
  readonly subject_id: string;
  readonly subject_name: string;
  readonly figures: Readonly<Record<string, unknown>>;
}

/** A stored alert; see the table `alert`. */
export interface AlertRow extends AlertCause {
  readonly id: string;
  readonly kind: AlertKind | typeof TEST_KIND;
  readonly ended_at: Date | null;
  readonly created_at: Date;
}

/**
 * The most alerts of one kind that an owner gets in 24 hours. The others follow later, as long as their causes
 * last. So an owner of a thousand unused keys gets no thousand mails.
 */
const MAX_A_DAY: Readonly<Record<AlertKind, number>> = {
  cap_used: 200,
  cap_forecast: 50,
  budget_used: 200,
  budget_forecast: 50,
  soft_limit_reached: 200,
  low_balance: 20,
  unusual_spend: 20,
  key_unused: 20,
  price_changed: 50,
  channel_down: 50,
};

/**
 * The query for the endpoints that receive a kind of alerts of organizations. A rule looks only at their owners, so
 * it costs nothing for an organization that wants no alerts.
 */
export const subscribers = (sql: Sql | TransactionSql, kind: AlertKind): Fragment => sql`
  select owner_id, min(created_at) as since from alert_endpoint
  where ${kind} = any(kinds) and enabled and deleted_at is null and owner_id <> '' group by owner_id`;

/** True if an operator's endpoint receives a kind of alerts. */
export async function hasOperatorEndpoint(
  tx: Sql | TransactionSql,
  kind: AlertKind,
): Promise<Date | undefined> {
  const [row] = await tx<{ since: Date | null }[]>`
    select min(created_at) as since from alert_endpoint
    where ${kind} = any(kinds) and enabled and deleted_at is null and owner_id = ''`;
  return row?.since ?? undefined;
}

/**
 * Returns the rows of a rule that have no alert yet and fit into the day. `candidates` is a query with the columns of
 * `AlertCause`.
 */
export function freshCauses(
  tx: Sql | TransactionSql,
  kind: AlertKind,
  candidates: Fragment,
): Promise<AlertCause[]> {
  return tx<AlertCause[]>`
    with fresh as (
      select candidate.*, row_number() over (partition by owner_id order by cause) as place
      from (${candidates}) as candidate
      where not exists (select 1 from alert
        where alert.owner_id = candidate.owner_id and alert.cause = candidate.cause)
    )
    select owner_id, cause, subject_kind, subject_id, subject_name, figures from fresh
    where place <= ${MAX_A_DAY[kind]} - (select count(*) from alert
      where alert.owner_id = fresh.owner_id and alert.kind = ${kind}
        and alert.created_at > weir_now() - interval '1 day')
    order by owner_id, cause`;
}

/**
 * Stores alerts, and their deliveries to the endpoints that receive this kind. A cause that has an alert gets no other
 * one. Returns the number of new alerts.
 */
export async function insertAlerts(
  tx: TransactionSql,
  kind: AlertKind,
  causes: readonly AlertCause[],
): Promise<number> {
  if (causes.length === 0) return 0;
  const rows = causes.map((cause) => ({ id: newId('alert'), ...cause }));
  const [made] = await tx<{ alerts: number }[]>`
    with made as (
      insert into alert (id, owner_id, kind, cause, subject_kind, subject_id, subject_name, figures)
      select id, owner_id, ${kind}, cause, subject_kind, subject_id, subject_name, figures
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as input(id text, owner_id text,
        cause text, subject_kind text, subject_id text, subject_name text, figures jsonb)
      on conflict do nothing
      returning id, owner_id
    ), sent as (
      insert into alert_delivery (id, alert_id, endpoint_id, owner_id)
      select 'msg_' || replace(gen_random_uuid()::text, '-', ''), made.id, endpoint.id, made.owner_id
      from made join alert_endpoint as endpoint on endpoint.owner_id = made.owner_id
      where ${kind} = any(endpoint.kinds) and endpoint.enabled and endpoint.deleted_at is null
    )
    select count(*)::int4 as alerts from made`;
  return made?.alerts ?? 0;
}

/** What a list of alerts has. A missing member means all. */
export interface AlertFilter {
  readonly kind?: string | undefined;
  readonly subject_id?: string | undefined;
}

const SORT = { at: 'created_at', id: 'id' };

/** Returns a page of the alerts of an owner, the newest first, without those that test an endpoint. */
export async function listAlerts(
  sql: Sql,
  owner_id: string,
  { kind, subject_id }: AlertFilter,
  page: PageRequest,
): Promise<Page<AlertRow & { readonly at_us: number }>> {
  const rows = await sql<(AlertRow & { at_us: number })[]>`
    select *, ${positionOf(sql, 'created_at')} as at_us from alert
    where owner_id = ${owner_id} and kind <> 'test' ${whereEqual(sql, 'kind', kind)}
      ${whereEqual(sql, 'subject_id', subject_id)} ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}
