import { sql } from 'drizzle-orm';
import type { Orm } from './client.ts';
import { accessToken, apiKey, deposit, organization } from './schema.ts';
import { hashCredential, newCredential, newId, shownPrefix } from './secrets.ts';

/**
 * The credentials and the deposit that the first run stores in the database. Missing credentials
 * are random.
 */
export interface FirstRunSettings {
  api_key?: string | undefined;
  management_token?: string | undefined;
  operator_token?: string | undefined;
  balance_nano_usd: number;
}

/** The credentials of the first run. The database stores only their hashes. */
export interface FirstRun {
  api_key: string;
  management_token: string;
  operator_token: string;
}

const ADVISORY_LOCK = 7_301_902;

/**
 * Fills an empty database. Creates one organization with a deposit, one key, one management token
 * and one operator token. Returns undefined if the database is not empty. If several replicas call
 * this function at once, only one of them gets the credentials.
 */
export async function bootstrap(
  orm: Orm,
  settings: FirstRunSettings,
): Promise<FirstRun | undefined> {
  return orm.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`);
    const existing = await tx.select({ id: organization.id }).from(organization).limit(1);
    if (existing.length > 0) return undefined;
    const firstRun: FirstRun = {
      api_key: settings.api_key ?? newCredential('sk'),
      management_token: settings.management_token ?? newCredential('mt'),
      operator_token: settings.operator_token ?? newCredential('op'),
    };
    const organization_id = newId('org');
    const amount = settings.balance_nano_usd;
    await tx.insert(organization).values({
      id: organization_id,
      name: 'First organization',
      deposited_nano_usd: amount,
      balance_nano_usd: amount,
    });
    if (amount > 0) {
      await tx.insert(deposit).values({
        id: Bun.randomUUIDv7(),
        organization_id,
        amount_nano_usd: amount,
        note: 'first run',
      });
    }
    await tx.insert(apiKey).values({
      id: newId('key'),
      organization_id,
      name: 'Default Key',
      key_hash: hashCredential(firstRun.api_key),
      key_prefix: shownPrefix(firstRun.api_key),
    });
    await tx
      .insert(accessToken)
      .values([
        token('management', firstRun.management_token, organization_id),
        token('operator', firstRun.operator_token, null),
      ]);
    return firstRun;
  });
}

function token(kind: 'management' | 'operator', secret: string, organization_id: string | null) {
  return {
    id: newId('token'),
    kind,
    organization_id,
    token_hash: hashCredential(secret),
    token_prefix: shownPrefix(secret),
  };
}
