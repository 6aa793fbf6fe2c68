import type { TokenRow } from '../../../db/tokens.ts';

/** Returns what the owner of a token chose, i.e. what `PATCH` changes. */
export function settingsOf({ name, scopes, expires_at }: TokenRow) {
  return { name, scopes, expires_at: expires_at?.toISOString() ?? null };
}

/** Returns what the audit log says of a token. */
export function auditedToken(row: TokenRow) {
  return {
    token_prefix: row.token_prefix,
    ...settingsOf(row),
    replaces: row.replaces,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

/** Returns a token as clients see it. It has no secret. */
export function tokenRecord(object: 'management_token' | 'operator_token', row: TokenRow) {
  return {
    ...{ object, id: row.id, status: row.status },
    ...auditedToken(row),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}
