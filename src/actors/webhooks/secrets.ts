import { randomBytes } from 'node:crypto';
import type { Sql, TransactionSql } from 'postgres';
import type { Actor } from '../../../db/audit/entry.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import { readOrCreateSecret, replaceSecret } from '../../../db/webhooks/deliveries.ts';
import { seal, unseal } from '../../config/seal.ts';

const SECRET_BYTES = 32;

/**
 * The secrets that sign webhooks, one for each organization. They are encrypted in the database.
 */
export class WebhookSecrets {
  constructor(
    private readonly sql: Sql,
    /** Encrypts the secrets; 32 bytes. */
    private readonly key: Uint8Array,
  ) {}

  /** Returns the secret of an organization, `whsec_…`; creates it on first use. */
  async getOrCreate(organization_id: string): Promise<string> {
    const candidate = seal(this.key, newWebhookSecret(), organization_id);
    const sealed = await readOrCreateSecret(this.sql, organization_id, candidate);
    return unseal(this.key, sealed, organization_id);
  }

  /** Replaces the secret and returns the new one. It signs all later webhooks. */
  async rotate(tx: TransactionSql, organization_id: string, actor: Actor): Promise<string> {
    const secret = newWebhookSecret();
    await replaceSecret(tx, organization_id, seal(this.key, secret, organization_id));
    await appendAudit(tx, {
      ...{ organization_id, actor, action: 'webhook_secret.rotate', subject_id: organization_id },
      ...{ before: null, after: null },
    });
    return secret;
  }
}

/** Returns a new secret of webhooks, `whsec_…`. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
