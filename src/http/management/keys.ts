import { appendAudit } from '../../../db/audit/log.ts';
import type { Orm, Sql, TransactionSql } from '../../../db/client.ts';
import {
  deleteKey,
  EXTERNAL_ID_INDEX,
  findManagedKey,
  insertKey,
  type KeyChanges,
  listKeys,
  lockManagedKey,
  MAX_KEYS_EVER,
  type ManagedKey,
  replaceKeySecret,
  updateKey,
} from '../../../db/managed-keys.ts';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import { isUniqueViolation } from '../../../db/unique-violation.ts';
import type { Manager } from '../../access/manager.ts';
import type { CatalogueFor, CatalogueModel } from '../../catalogue/catalogue.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { KeyCache } from '../../inference/keys/key-cache.ts';
import { changedMembers } from '../../json/changed-members.ts';
import type { Authentication } from '../auth/authentication.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject, readOptionalObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import type { RateLimit } from '../rate-limit.ts';
import { type ChangeDeps, changeOnce } from './change-once.ts';
import { storedLimits } from './key-limits.ts';
import { refuseUnknownModel } from './key-models.ts';
import { auditedKey, keyRecord, keySettings } from './key-record.ts';
import { readQuery } from './list-query.ts';
import {
  CreateKeySchema,
  ListKeysSchema,
  normalizeKeyFields,
  RotateSchema,
  UpdateKeySchema,
} from './schema.ts';

/** Dependencies of the management routes. */
export interface ManagementDeps extends ChangeDeps {
  orm: Orm;
  /** The database of `orm`. */
  sql: Sql;
  keys: KeyCache;
  authentication: Authentication;
  rateLimit: RateLimit;
  catalogue: CatalogueFor;
  /** True if a channel, or an own key of the organization, serves the model. Missing: all are served. */
  isServed?: (model: CatalogueModel, organization_id: string) => boolean;
  /**
   * Notifies all replicas of a changed key. Called after the commit, and also if Weir does not know
   * whether the change was committed. Must not throw.
   */
  announceKey: (id: string) => void;
  /** Called when a key has been changed, before the response. */
  onKeyChanged?: (id: string, status: ManagedKey['status']) => void;
}

/** Returns what tells whether an organization can call a model. */
export function servedTo({ isServed }: ManagementDeps, organization_id: string) {
  return (model: CatalogueModel) => isServed?.(model, organization_id) ?? true;
}

const validateList = validator(ListKeysSchema);
const validateCreate = validator(CreateKeySchema);
const validateUpdate = validator(UpdateKeySchema);
const validateRotate = validator(RotateSchema);

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

/** The settings of a key whose creator sends none. */
const DEFAULTS = {
  name: 'Default Key',
  limit_nano_usd: null,
  cap_counts: 'charged' as const,
  models: [],
  tags: [],
  call_tags: {},
  external_id: null,
  requests_per_minute: null,
  limits: [],
  timeout_ms: null,
  image_response_format: null,
  expires_at: null,
};

/** The response with a key, and with the entity tag of its settings. */
const keyAnswer = (key: ManagedKey, more: object = {}) =>
  withEtag(json({ ...keyRecord(key), ...more }), keySettings(key));

/** `GET /v1/management/api-keys`. Deleted keys are left out. */
export function listApiKeys(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const filter = readQuery(context.request, validateList);
    const keys = await listKeys(deps.sql, organization_id, filter);
    return json({ object: 'list', data: keys.map(keyRecord) });
  };
}

/** `GET /v1/management/api-keys/{keyId}`. A deleted key is found too. */
export function getApiKey(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const key = await findManagedKey(deps.sql, organization_id, keyIdOf(context));
    if (!key) throw keyNotFound();
    return keyAnswer(key);
  };
}

/** `POST /v1/management/api-keys`. Only this response has the full key. */
export function createApiKey(deps: ManagementDeps): Handler {
  return async (context) => {
    const { organization_id, actor } = await admitManager(deps, context);
    const { value, text } = await readJsonObject(
      context.request,
      context.bytes.of(organization_id),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const body = validateCreate(value);
    const catalogue = deps.catalogue(organization_id);
    const rules = { catalogue, isServed: servedTo(deps, organization_id), models: body.models };
    const limits = storedLimits(body.limits ?? [], rules);
    const fields = { ...normalizeKeyFields(body), limits };
    refuseUnknownModel(catalogue, body.models);
    const request = { organization_id, actor_id: actor.id, route: 'POST api-keys', body: text };
    const created = changeOnce(deps, context, request, async (tx) => {
      const secret = newCredential('sk');
      const key = await insertKey(tx, {
        ...{ id: newId('key'), organization_id },
        ...{ key_hash: hashCredential(secret), key_prefix: shownPrefix(secret) },
        ...{ ...DEFAULTS, ...fields },
      });
      if (typeof key === 'number') throw tooManyKeys(key);
      await appendAudit(tx, {
        ...{ organization_id, actor, action: 'api_key.create', subject_id: key.id },
        ...{ before: null, after: auditedKey(key) },
      });
      return keyAnswer(key, { key: secret });
    });
    return created.catch(rethrowTaken);
  };
}

/** `PATCH /v1/management/api-keys/{keyId}` */
export function updateApiKey(deps: ManagementDeps): Handler {
  return async (context) => {
    const manager = await admitManager(deps, context);
    const { value, text } = await readJsonObject(
      context.request,
      context.bytes.of(manager.organization_id),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const body = validateUpdate(value);
    if (Object.keys(body).length === 0) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    const changes: KeyChanges = {
      ...normalizeKeyFields(body),
      ...(body.status === undefined ? {} : { status: body.status }),
    };
    return changeKey(deps, context, manager, 'api_key.update', text, async (tx, before) => {
      // A model that the catalogue lacks may stay in the list of a key that has it.
      const catalogue = deps.catalogue(manager.organization_id);
      refuseUnknownModel(catalogue, body.models, before.models);
      const rules = {
        ...{ catalogue, before: before.limits, models: body.models ?? before.models },
        isServed: servedTo(deps, manager.organization_id),
      };
      const limits = body.limits && storedLimits(body.limits, rules);
      refuseRevival(before, changes.status ?? before.status);
      const all = limits ? { ...changes, limits } : changes;
      if (Object.keys(all).length === 0) return undefined;
      await updateKey(tx, manager.organization_id, before.id, all);
      return keyAnswer;
    });
  };
}

/**
 * `POST /v1/management/api-keys/{keyId}/rotate`. Replaces the secret of a key, which keeps its limit and
 * its usage. Only this response has the new secret.
 */
export function rotateApiKey(deps: ManagementDeps): Handler {
  return async (context) => {
    const manager = await admitManager(deps, context);
    const { organization_id } = manager;
    const { value, text } = await readOptionalObject(
      context.request,
      context.bytes.of(organization_id),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const { grace_s = 0 } = validateRotate(value);
    return changeKey(deps, context, manager, 'api_key.rotate', text, async (tx, before) => {
      refuseRevival(before, 'active');
      const secret = newCredential('sk');
      const hashes = { key_hash: hashCredential(secret), key_prefix: shownPrefix(secret) };
      await replaceKeySecret(tx, organization_id, before.id, { ...hashes, grace_s });
      return (after) => keyAnswer(after, { key: secret });
    });
  };
}

/**
 * `DELETE /v1/management/api-keys/{keyId}`. The key is revoked and leaves the list. Its usage and its
 * bills stay readable. A repeat gets the same answer.
 */
export function deleteApiKey(deps: ManagementDeps): Handler {
  return async (context) => {
    const manager = await admitManager(deps, context);
    const { organization_id } = manager;
    const answer = (id: string) => json({ object: 'api_key.deleted', id, deleted: true });
    const earlier = await findManagedKey(deps.sql, organization_id, keyIdOf(context));
    if (earlier?.deleted_at) return answer(earlier.id);
    return changeKey(deps, context, manager, 'api_key.delete', '', async (tx, before) => {
      await deleteKey(tx, organization_id, before.id);
      return ({ id }) => answer(id);
    });
  };
}

/**
 * Changes a key while no other request changes it, and adds a line to the audit log. `change` returns a function that makes the answer
 * from the changed key, or undefined if it changed nothing. Notifies all replicas of a change. Throws
 * WeirError if there is no such key, or if its settings are not those of `If-Match`, and the errors of
 * `change`.
 */
async function changeKey(
  deps: ManagementDeps,
  context: RequestContext,
  { organization_id, actor }: Manager,
  action: string,
  body: string,
  change: (
    tx: TransactionSql,
    before: ManagedKey,
  ) => Promise<((after: ManagedKey) => Response) | undefined>,
): Promise<Response> {
  const id = keyIdOf(context);
  const request = { organization_id, actor_id: actor.id, route: action, body };
  let changed: ManagedKey | undefined;
  try {
    const answer = await changeOnce(deps, context, request, async (tx) => {
      const before = await lockManagedKey(tx, organization_id, id);
      if (!before || before.deleted_at) throw keyNotFound();
      requireMatch(context.request, keySettings(before));
      const answerWith = await change(tx, before);
      if (!answerWith) return keyAnswer(before);
      changed = await findManagedKey(tx, organization_id, id);
      if (!changed) throw new Error(`key ${id} vanished while it was locked`);
      const members = changedMembers(auditedKey(before), auditedKey(changed));
      const line = { organization_id, actor, action, subject_id: id };
      if (members) await appendAudit(tx, { ...line, ...members });
      return answerWith(changed);
    });
    if (changed) deps.onKeyChanged?.(id, changed.status);
    return answer;
  } catch (error) {
    return rethrowTaken(error);
  } finally {
    if (changed) {
      deps.keys.invalidate(id);
      deps.announceKey(id);
    }
  }
}

/** Throws WeirError if a revoked key would become usable again. */
function refuseRevival({ status }: ManagedKey, next: ManagedKey['status']): void {
  if (status !== 'revoked' || next === status) return;
  throw new WeirError('invalid_request', 'A revoked key stays revoked.', {
    param: 'status',
    hint: 'Create a new key.',
  });
}

/** Throws the error of a transaction. If another key has the external id, throws WeirError. */
function rethrowTaken(error: unknown): never {
  if (!isUniqueViolation(error, EXTERNAL_ID_INDEX)) throw error;
  const message = 'Another API key of the organization has this external_id.';
  throw new WeirError('already_exists', message, {
    param: 'external_id',
    hint: 'GET /v1/management/api-keys?external_id=… returns that key.',
  });
}

/** Returns the id in the path. Throws WeirError if no key can have it. */
function keyIdOf({ params }: RequestContext): string {
  const id = params['keyId'] ?? '';
  // No id contains NUL, and PostgreSQL refuses a text with NUL.
  if (id.includes('\u0000')) throw keyNotFound();
  return id;
}

function tooManyKeys(max_keys: number): WeirError {
  const message = `This organization can have at most ${max_keys} API keys, and ${MAX_KEYS_EVER} with the deleted ones.`;
  return new WeirError('invalid_request', message, { hint: 'Delete a key that is not used.' });
}

/** Returns the same error for another organization's key and for a missing key (P6). */
function keyNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such API key.', { param: 'keyId' });
}
