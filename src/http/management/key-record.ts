import type { ManagedKey } from '../../../db/managed-keys.ts';
import { usd } from '../../json/usd.ts';

/** Returns what the organization chose for a key, i.e. what `PATCH` changes. */
export function keySettings(key: ManagedKey) {
  return {
    name: key.name,
    status: key.status,
    limit_amount: key.limit_nano_usd === null ? null : usd(key.limit_nano_usd),
    cap_counts: key.cap_counts,
    models: key.models,
    tags: key.tags,
    call_tags: key.call_tags,
    external_id: key.external_id,
    requests_per_minute: key.requests_per_minute,
    limits: key.limits.map((limit) => ({ ...limit, when_reached: limit.when_reached ?? 'refuse' })),
    default_timeout_ms: key.timeout_ms,
    default_image_response_format: key.image_response_format,
    expires_at: key.expires_at?.toISOString() ?? null,
  };
}

/** Returns the members that only some keys have. */
function rareMembers({ previous_until, deleted_at }: ManagedKey) {
  return {
    ...(previous_until ? { previous_key_expires_at: previous_until.toISOString() } : {}),
    ...(deleted_at ? { deleted_at: deleted_at.toISOString() } : {}),
  };
}

/** Returns what the audit log says of a key. */
export function auditedKey(key: ManagedKey) {
  return { key_prefix: key.key_prefix, ...keySettings(key), ...rareMembers(key) };
}

/** Returns the record of an API key that clients see, as the spec defines it. */
export function keyRecord(key: ManagedKey) {
  return {
    id: key.id,
    key_prefix: key.key_prefix,
    ...keySettings(key),
    used_amount: usd(key.used_nano_usd),
    held_amount: usd(key.held_nano_usd),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    created_at: key.created_at.toISOString(),
    ...rareMembers(key),
  };
}
