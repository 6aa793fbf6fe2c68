import { randomBytes } from 'node:crypto';
import type { Sql } from 'postgres';
import { readOrCreateSecret, replaceSecret } from '../../../db/webhooks/deliveries.ts';
import { seal, unseal } from '../../config/seal.ts';

const SECRET_BYTES = 32;

/** The secrets that sign webhooks, one for each organization, encrypted where they are kept. */
export class WebhookSecrets {
  constructor(
    private readonly sql: Sql,
    /** 32 bytes. */
    private readonly key: Uint8Array,
  ) {}

  /** `whsec_…`; made when it is first asked for. */
  async of(organization_id: string): Promise<string> {
    const candidate = seal(this.key, newSecret(), organization_id);
    const sealed = await readOrCreateSecret(this.sql, organization_id, candidate);
    return unseal(this.key, sealed, organization_id);
  }

  /** A new one; webhooks are signed with it from now on. */
  async rotate(organization_id: string): Promise<string> {
    const secret = newSecret();
    await replaceSecret(this.sql, organization_id, seal(this.key, secret, organization_id));
    return secret;
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
