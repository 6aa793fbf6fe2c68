import type { OwnKeyRow } from '../../../db/upstream-keys/rows.ts';

/** Returns what an organization chose for an own key, i.e. what `PATCH` changes. */
export function ownKeySettings({ name, models, priority }: OwnKeyRow) {
  return { name, models, priority };
}

/** Returns what the audit log says of an own key: never the key. */
export function auditedOwnKey(row: OwnKeyRow) {
  const { protocol, base_url, dialect, api_version, rotated_at, revoked_at } = row;
  return {
    ...ownKeySettings(row),
    ...{ protocol, base_url, dialect, api_version },
    rotated_at: rotated_at.toISOString(),
    ...(revoked_at ? { revoked_at: revoked_at.toISOString() } : {}),
  };
}

/** Returns an own key as its organization sees it: without the key. */
export function ownKeyRecord(row: OwnKeyRow) {
  const { id, models, name, priority, protocol, base_url, dialect, api_version } = row;
  return {
    ...{ object: 'upstream_key', id, name, status: row.revoked_at ? 'revoked' : 'active' },
    ...{ protocol, base_url, dialect, api_version, priority, key_tested: row.key_tested },
    models: Object.entries(models).map(([model, upstream_model]) => ({
      ...{ id: model, upstream_model },
    })),
    last_refusal: row.last_refusal,
    created_at: row.created_at.toISOString(),
    rotated_at: row.rotated_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}
