import { eq, sql } from 'drizzle-orm';
import type { OrganizationStatus } from './accounts/organizations.ts';
import type { Orm } from './client.ts';
import { accessToken, organization } from './schema.ts';

/** A management or operator token, with the role of its organization. */
export interface TokenRecord {
  id: string;
  kind: 'management' | 'operator';
  organization_id: string | null;
  role: string | null;
  organization_status: OrganizationStatus | null;
  /** The visible start of the token. */
  prefix: string;
  scopes: string[];
  /** Why the token is not valid any more; null if it is valid. It will never be valid again. */
  ended: 'revoked' | 'expired' | null;
}

/** Finds a token by the SHA-256 of the full token, as hex. A token that has ended is found too. */
export async function findTokenByHash(orm: Orm, hash: string): Promise<TokenRecord | undefined> {
  const [row] = await orm
    .select({
      id: accessToken.id,
      kind: accessToken.kind,
      organization_id: accessToken.organization_id,
      role: organization.role,
      organization_status: organization.status,
      prefix: accessToken.token_prefix,
      scopes: accessToken.scopes,
      ended: sql<
        TokenRecord['ended']
      >`case when ${accessToken.revoked_at} <= weir_now() then 'revoked'
        when ${accessToken.expires_at} <= weir_now() then 'expired' end`,
    })
    .from(accessToken)
    .leftJoin(organization, eq(organization.id, accessToken.organization_id))
    .where(eq(accessToken.token_hash, hash))
    .limit(1);
  return row;
}

/**
 * An organization's money in nano-USD. `deposited = available + held + settled` always holds (P1).
 */
export interface Balance {
  deposited: number;
  available: number;
  held: number;
  settled: number;
  /** The part of `deposited` that is credit. */
  credit: number;
}

/** Returns the money of an organization; undefined if there is no such organization. */
export async function readBalance(orm: Orm, organization_id: string): Promise<Balance | undefined> {
  // Charges of open grants count as settled, even if they are posted later.
  const ofGrants = (amount: string) => sql`coalesce((
    select sum(${sql.raw(amount)}) from quota_grant
    where quota_grant.organization_id = organization.id and quota_grant.status = 'open'), 0)`;
  const counted = ofGrants('settled_nano_usd - posted_nano_usd');
  // What caps count and nobody pays returns to the organization.
  const uncharged = ofGrants('uncharged_nano_usd - uncharged_posted_nano_usd');
  const [row] = await orm
    .select({
      deposited: organization.deposited_nano_usd,
      available: sql<number>`(${organization.balance_nano_usd} + ${uncharged})::int8`,
      held: sql<number>`(${organization.held_nano_usd} - ${counted})::int8`,
      settled: sql<number>`(${organization.settled_nano_usd} + ${counted} - ${uncharged})::int8`,
      credit: organization.credit_nano_usd,
    })
    .from(organization)
    .where(eq(organization.id, organization_id));
  return row;
}
