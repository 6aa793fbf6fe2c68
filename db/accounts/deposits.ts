import type { Sql, TransactionSql } from '../client.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
  whereEqual,
} from '../pages.ts';
import type { deposit } from '../schema.ts';

/** Money that was added to an organization, or credit that was taken back. */
export interface BookedDeposit {
  readonly id: string;
  readonly organization_id: string;
  readonly kind: (typeof deposit.kind.enumValues)[number];
  /** Nano-USD. Negative for credit that was taken back. */
  readonly amount: number;
  readonly reference: string | null;
  readonly note: string;
  readonly created_at: Date;
  readonly at_us: number;
}

const SORT = { at: 'created_at', id: 'id' };

const deposits = (sql: Sql | TransactionSql) => sql`
  select id::text, organization_id, kind, amount_nano_usd as amount, reference, note, created_at,
    ${positionOf(sql, 'created_at')} as at_us
  from deposit`;

/** Returns a page of the deposits of an organization, the newest first. */
export async function listAllDeposits(
  sql: Sql,
  organization_id: string,
  kind: BookedDeposit['kind'] | undefined,
  page: PageRequest,
): Promise<Page<BookedDeposit>> {
  const rows = await sql<BookedDeposit[]>`
    select * from (${deposits(sql)}) as deposit
    where organization_id = ${organization_id} ${whereEqual(sql, 'kind', kind)}
      ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Returns the deposit of an organization that has this reference; undefined if there is none. */
export async function findDeposit(
  tx: TransactionSql,
  organization_id: string,
  reference: string,
): Promise<BookedDeposit | undefined> {
  const [row] = await tx<BookedDeposit[]>`
    ${deposits(tx)} where organization_id = ${organization_id} and reference = ${reference}`;
  return row;
}
