import { appendAudit } from '../../../db/audit/log.ts';
import type { Sql, TransactionSql } from '../../../db/client.ts';
import { newId } from '../../../db/secrets.ts';
import {
  findOwnKey,
  insertOwnKey,
  listOwnKeys,
  lockOwnKey,
  type OwnKeyRow,
  revokeOwnKey,
  rotateOwnKey,
  storeRefusal,
  updateOwnKey,
} from '../../../db/upstream-keys/rows.ts';
import type { Manager } from '../../access/manager.ts';
import type { OwnKeys } from '../../actors/channels/own-keys.ts';
import type { CurrentInstallation } from '../../config/current-installation.ts';
import { channelOfOwnKey, openOwnKey, sealOwnKey } from '../../config/own-key-rows.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject, readOptionalObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { changeOnce, isRepeatedChange } from '../management/change-once.ts';
import { admitManager, type ManagementDeps } from '../management/keys.ts';
import { trimmedName } from '../management/schema.ts';
import { requireServable, tidied } from '../operator/channel-settings.ts';
import type { PathMethods } from '../route.ts';
import { modelsListed, modelsNamed, requireAccepted, verdictOf } from './accepted.ts';
import { auditedOwnKey, ownKeyRecord, ownKeySettings } from './record.ts';
import {
  keyNotFound,
  lateRepeat,
  refuseFixed,
  revokedError,
  tooManyKeys,
  unreadableError,
} from './refusals.ts';
import {
  CreateOwnKeySchema,
  NoMembersSchema,
  ownAddressOf,
  RotateOwnKeySchema,
  UpdateOwnKeySchema,
} from './schema.ts';

/** What the routes of own keys need of this replica. */
interface OwnKeyParts {
  /** Encrypts the keys; 32 bytes. */
  readonly secret: Uint8Array;
  readonly keys: Pick<OwnKeys, 'forget' | 'serving'>;
  readonly installation: Pick<CurrentInstallation, 'now'>;
  /** Resolves when this replica has applied the committed keys of the organization. */
  readonly apply: (organization_id: string) => Promise<void>;
  /** Notifies all replicas of a changed key. Must not throw. */
  readonly announce: (organization_id: string) => void;
}

/** Dependencies of the routes of own keys. */
export interface OwnKeyRouteDeps extends ManagementDeps {
  /** Missing if this process has no own keys. */
  readonly ownKeys?: OwnKeyParts;
}

const validateCreate = validator(CreateOwnKeySchema);
const validateUpdate = validator(UpdateOwnKeySchema);
const validateRotate = validator(RotateOwnKeySchema);
const validateNothing = validator(NoMembersSchema);

const answerOf = (row: OwnKeyRow) => withEtag(json(ownKeyRecord(row)), ownKeySettings(row));

/**
 * The routes with which an organization manages its keys for its own accounts at providers. A key is
 * tested before it is stored, and no answer has it.
 */
class OwnKeyRoutes {
  constructor(private readonly deps: OwnKeyRouteDeps) {}

  /** `GET /v1/management/upstream-keys` */
  readonly list: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const rows = await listOwnKeys(this.deps.sql, organization_id);
    return json({ object: 'list', data: rows.map(ownKeyRecord) });
  };

  /** `GET /v1/management/upstream-keys/{id}` */
  readonly get: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    return answerOf(await this.find(this.deps.sql, context, organization_id));
  };

  /** `POST /v1/management/upstream-keys` */
  readonly create: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { organization_id } = manager;
    const { value, text } = await this.read(context, manager);
    const body = validateCreate(tidied(value));
    const { protocol, api_key, dialect = null, api_version = null, priority = 0 } = body;
    const { installation } = this.parts;
    requireServable(body.models, protocol, installation.now.offered());
    const account = {
      ...{ id: newId('upkey'), organization_id, protocol, dialect, api_version },
      base_url: ownAddressOf(body.base_url, protocol),
    };
    const name = trimmedName(body.name ?? dialect ?? protocol);
    const isRepeat = await this.isRepeat(context, manager, 'upstream_key.create');
    const models = modelsNamed(body.models, protocol);
    const tested = isRepeat ? undefined : await this.tested({ ...account, models }, api_key);
    return this.change(context, manager, 'create', text, async (tx) => {
      if (!tested) throw lateRepeat();
      const { key_tested } = tested;
      const sealed_key = sealOwnKey(this.parts.secret, account, api_key);
      const row = await insertOwnKey(tx, {
        ...{ ...account, name, priority, sealed_key, key_tested },
        models: body.models ?? modelsListed(protocol, tested),
      });
      if (!row) throw tooManyKeys();
      await this.audit(tx, manager, 'create', null, row);
      return answerOf(row);
    });
  };

  /** `PATCH /v1/management/upstream-keys/{id}` */
  readonly update: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { value, text } = await this.read(context, manager);
    refuseFixed(value);
    const { name, ...body } = validateUpdate(value);
    const changes = { ...body, ...(name === undefined ? {} : { name: trimmedName(name) }) };
    return this.change(context, manager, 'update', text, async (tx) => {
      const before = await this.requireActive(tx, context, manager);
      const { protocol } = before;
      const { installation } = this.parts;
      requireServable(changes.models, protocol as never, installation.now.offered());
      const after = await updateOwnKey(tx, before.id, { ...before, ...changes });
      await this.audit(tx, manager, 'update', before, after);
      return answerOf(after);
    });
  };

  /**
   * `POST /v1/management/upstream-keys/{id}/rotate`. Another key of the same account takes the place of
   * this one, after a test.
   */
  readonly rotate: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { value, text } = await this.read(context, manager);
    const { api_key } = validateRotate(tidied(value));
    const isRepeat = await this.isRepeat(context, manager, 'upstream_key.rotate');
    const known = await this.find(this.deps.sql, context, manager.organization_id);
    const tested = isRepeat || known.revoked_at ? undefined : await this.tested(known, api_key);
    return this.change(context, manager, 'rotate', text, async (tx) => {
      const before = await this.requireActive(tx, context, manager);
      if (!tested) throw lateRepeat();
      const sealed_key = sealOwnKey(this.parts.secret, before, api_key);
      const { key_tested } = tested;
      const after = await rotateOwnKey(tx, before.id, { sealed_key, key_tested });
      await this.audit(tx, manager, 'rotate', before, after);
      return answerOf(after);
    });
  };

  /**
   * `POST /v1/management/upstream-keys/{id}/revoke`. The key is deleted at once, and no call uses it any
   * more. A repeat changes nothing.
   */
  readonly revoke: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { value, text } = await this.read(context, manager, readOptionalObject);
    validateNothing(value);
    return this.change(context, manager, 'revoke', text, async (tx) => {
      const before = await this.lock(tx, context, manager);
      if (before.revoked_at) return answerOf(before);
      const after = await revokeOwnKey(tx, before.id);
      await this.audit(tx, manager, 'revoke', before, after);
      return answerOf(after);
    });
  };

  /**
   * `POST /v1/management/upstream-keys/{id}/test`. Tells the organization why its provider refuses the
   * key. A key that is accepted serves again at once on this replica.
   */
  readonly test: Handler = async (context) => {
    const manager = await admitManager(this.deps, context);
    const { value } = await this.read(context, manager, readOptionalObject);
    validateNothing(value);
    const row = await this.find(this.deps.sql, context, manager.organization_id);
    if (row.revoked_at) throw revokedError();
    const { secret, keys, installation } = this.parts;
    const api_key = openOwnKey(secret, row);
    if (api_key === undefined) throw unreadableError();
    const verdict = await verdictOf(row, api_key, installation.now.offered());
    if (verdict.ok) keys.forget(channelOfOwnKey(row.id));
    const refused = 'fault' in verdict && verdict.fault === 'account' ? verdict.message : undefined;
    if (verdict.ok || refused !== undefined) {
      const [model = ''] = Object.keys(row.models);
      const refusal = refused === undefined ? null : { model, message: refused };
      await storeRefusal(this.deps.sql, row.id, refusal);
    }
    const { organization_id, actor } = manager;
    const line = { organization_id, actor, action: 'upstream_key.test', subject_id: row.id };
    const after = { ok: verdict.ok };
    await this.deps.sql.begin((tx) => appendAudit(tx, { ...line, before: null, after }));
    return json({ object: 'upstream_key.test', id: row.id, ...verdict });
  };

  private get parts(): OwnKeyParts {
    const { ownKeys } = this.deps;
    if (ownKeys) return ownKeys;
    throw new WeirError('service_unavailable', 'This process does not serve this route.');
  }

  private tested(account: Parameters<typeof requireAccepted>[0], api_key: string) {
    return requireAccepted(account, api_key, this.parts.installation.now.offered());
  }

  private read(
    { request, bytes }: RequestContext,
    { organization_id }: Manager,
    read: typeof readOptionalObject = readJsonObject,
  ) {
    return read(request, bytes.of(organization_id), MAX_MANAGEMENT_BODY_BYTES);
  }

  private isRepeat(
    context: RequestContext,
    { organization_id, actor }: Manager,
    route: string,
  ): Promise<boolean> {
    return isRepeatedChange(this.deps, context, { organization_id, actor_id: actor.id, route });
  }

  /** Makes a change in a transaction. This replica has applied it before the answer. */
  private async change(
    context: RequestContext,
    { organization_id, actor }: Manager,
    verb: string,
    body: string,
    work: (tx: TransactionSql) => Promise<Response>,
  ): Promise<Response> {
    const { announce, apply } = this.parts;
    const route = `upstream_key.${verb}`;
    const request = { organization_id, actor_id: actor.id, route, body };
    try {
      return await changeOnce(this.deps, context, request, work);
    } finally {
      announce(organization_id);
      // If this read fails, the announcement causes another one; the change stands.
      await apply(organization_id).catch(() => undefined);
    }
  }

  /** Finds the key of the path. Another organization's key is as missing as one that never was (P6). */
  private async find(
    sql: Sql,
    context: RequestContext,
    organization_id: string,
  ): Promise<OwnKeyRow> {
    const row = await findOwnKey(sql, organization_id, idOf(context));
    if (!row) throw keyNotFound();
    return row;
  }

  private async lock(
    tx: TransactionSql,
    context: RequestContext,
    { organization_id }: Manager,
  ): Promise<OwnKeyRow> {
    const row = await lockOwnKey(tx, organization_id, idOf(context));
    if (!row) throw keyNotFound();
    requireMatch(context.request, ownKeySettings(row));
    return row;
  }

  private async requireActive(
    tx: TransactionSql,
    context: RequestContext,
    manager: Manager,
  ): Promise<OwnKeyRow> {
    const row = await this.lock(tx, context, manager);
    if (row.revoked_at) throw revokedError();
    return row;
  }

  private async audit(
    tx: TransactionSql,
    { organization_id, actor }: Manager,
    verb: string,
    before: OwnKeyRow | null,
    after: OwnKeyRow,
  ): Promise<void> {
    const action = `upstream_key.${verb}`;
    const line = { organization_id, actor, action, subject_id: after.id };
    if (before === null) await appendAudit(tx, { ...line, before, after: auditedOwnKey(after) });
    else {
      const members = changedMembers(auditedOwnKey(before), auditedOwnKey(after));
      if (members) await appendAudit(tx, { ...line, ...members });
    }
  }
}

/** Returns the id in the path. Throws WeirError if no key can have it. */
function idOf({ params }: RequestContext): string {
  const id = params['id'] ?? '';
  // No id contains NUL, and PostgreSQL refuses a text with NUL.
  if (id.includes('\u0000')) throw keyNotFound();
  return id;
}

/** The routes of an organization's keys for its own accounts at providers. */
export function ownKeyRoutes(app: OwnKeyRouteDeps): PathMethods[] {
  const keys = new OwnKeyRoutes(app);
  const path = '/v1/management/upstream-keys';
  return [
    [path, { GET: keys.list, POST: keys.create }],
    [`${path}/:id`, { GET: keys.get, PATCH: keys.update }],
    [`${path}/:id/test`, { POST: keys.test }],
    [`${path}/:id/rotate`, { POST: keys.rotate }],
    [`${path}/:id/revoke`, { POST: keys.revoke }],
  ];
}
