import type { Orm, Sql } from '../../../db/client.ts';
import {
  findManagedKey,
  insertKey,
  type KeyChanges,
  listKeys,
  MAX_KEYS_PER_ORGANIZATION,
  type ManagedKey,
  updateKey,
} from '../../../db/keys.ts';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import type { Manager } from '../../access/manager.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { KeyCache } from '../../inference/keys/key-cache.ts';
import { usd } from '../../json/usd.ts';
import type { Authentication } from '../auth/authentication.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import type { RateLimit } from '../rate-limit.ts';
import { findUnknownModel, refuseUnknownModel } from './key-models.ts';
import { CreateKeySchema, normalizeKeyFields, UpdateKeySchema } from './schema.ts';

/** Dependencies of the management routes. */
export interface ManagementDeps {
  orm: Orm;
  /** The database of `orm`, for changes that are written to the audit log in one transaction. */
  sql: Sql;
  keys: KeyCache;
  authentication: Authentication;
  rateLimit: RateLimit;
  catalogue: () => Catalogue;
  /**
   * Notifies all replicas of a changed key. Called after the commit, and also if Weir does not know
   * whether the change was committed. Must not throw.
   */
  announceKey: (id: string) => void;
  /** Called when a key has been changed, before the response. */
  onKeyChanged?: (id: string, status: ManagedKey['status']) => void;
}

const validateCreate = validator(CreateKeySchema);
const validateUpdate = validator(UpdateKeySchema);

/**
 * Authenticates a management request and counts it against the rate limit of management requests.
 * Throws WeirError.
 */
export async function admitManager(
  deps: ManagementDeps,
  context: RequestContext,
): Promise<Manager> {
  const manager = await deps.authentication.requireManager(context);
  await deps.rateLimit.consumeManagement(manager, context);
  return manager;
}

/** Returns the record of an API key that clients see, as the spec defines it. */
function keyRecord(key: ManagedKey): object {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.key_prefix,
    status: key.status,
    limit_amount: key.limit_nano_usd === null ? null : usd(key.limit_nano_usd),
    used_amount: usd(key.used_nano_usd),
    models: key.models,
    default_timeout_ms: key.timeout_ms,
    default_image_response_format: key.image_response_format,
    expires_at: key.expires_at?.toISOString() ?? null,
    last_used_at: key.last_used_at ? new Date(key.last_used_at).toISOString() : null,
    created_at: key.created_at.toISOString(),
  };
}

/** `GET /v1/management/api-keys` */
export function listApiKeys(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const keys = await listKeys(deps.orm, organization_id);
    return json({ object: 'list', data: keys.map(keyRecord) });
  };
}

/** `POST /v1/management/api-keys`. Only this response has the full key. */
export function createApiKey(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const { value } = await readJsonObject(
      context.request,
      context.bytes.of(organization_id),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const body = validateCreate(value);
    const fields = normalizeKeyFields(body);
    refuseUnknownModel(deps.catalogue(), body.models);
    const secret = newCredential('sk');
    const id = newId('key');
    const inserted = await insertKey(deps.orm, {
      id,
      organization_id,
      key_hash: hashCredential(secret),
      key_prefix: shownPrefix(secret),
      name: 'Default Key',
      limit_nano_usd: null,
      models: [],
      expires_at: null,
      ...fields,
    });
    if (!inserted) {
      const message = `An organization can have at most ${MAX_KEYS_PER_ORGANIZATION} API keys.`;
      throw new WeirError('invalid_request', message);
    }
    const created = await findManagedKey(deps.orm, organization_id, id);
    if (!created) throw new Error(`key ${id} vanished after its creation`);
    return json({ ...keyRecord(created), key: secret });
  };
}

/** `PATCH /v1/management/api-keys/{keyId}` */
export function updateApiKey(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const { value } = await readJsonObject(
      context.request,
      context.bytes.of(organization_id),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const body = validateUpdate(value);
    if (Object.keys(body).length === 0) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    const changes = {
      ...normalizeKeyFields(body),
      ...(body.status === undefined ? {} : { status: body.status as ManagedKey['status'] }),
    };
    const id = context.params['keyId'] ?? '';
    // No id contains NUL, and PostgreSQL refuses a text with NUL.
    if (id.includes('\u0000')) throw keyNotFound();
    await refuseNewUnknownModel(deps, organization_id, id, body.models);
    const hasChanges = Object.keys(changes).length > 0;
    const changed = hasChanges ? await changeKey(deps, organization_id, id, changes) : true;
    const key = await findManagedKey(deps.orm, organization_id, id);
    if (!key) throw keyNotFound();
    if (!changed) {
      throw new WeirError('invalid_request', 'A revoked key stays revoked.', {
        param: 'status',
        hint: 'Create a new key.',
      });
    }
    if (hasChanges) deps.onKeyChanged?.(key.id, key.status);
    return json(keyRecord(key));
  };
}

/**
 * Throws WeirError if `models` has a name that is neither in the catalogue nor in the key's present
 * list. So a client can send the present list again, even if the catalogue no longer has one of its
 * models.
 */
async function refuseNewUnknownModel(
  deps: ManagementDeps,
  organization_id: string,
  id: string,
  models: readonly string[] | undefined,
): Promise<void> {
  const catalogue = deps.catalogue();
  // Almost every list has only known names, so the key is rarely read.
  if (findUnknownModel(catalogue, models) === undefined) return;
  const key = await findManagedKey(deps.orm, organization_id, id);
  if (!key) throw keyNotFound();
  refuseUnknownModel(catalogue, models, key.models);
}

/**
 * Changes the key and notifies all replicas. Returns false if there is no such key, or if a revoked
 * key would become usable again.
 */
async function changeKey(
  deps: ManagementDeps,
  organization_id: string,
  id: string,
  changes: KeyChanges,
): Promise<boolean> {
  let may_have_changed = true;
  try {
    may_have_changed = await updateKey(deps.orm, organization_id, id, changes);
    return may_have_changed;
  } finally {
    if (may_have_changed) {
      deps.keys.invalidate(id);
      deps.announceKey(id);
    }
  }
}

/** Returns the same error for another organization's key and for a missing key (P6). */
function keyNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such API key.', { param: 'keyId' });
}
