import {
  deleteEndpoint,
  type EndpointRow,
  findEndpoint,
  hasManyEndpoints,
  insertEndpoint,
  listEndpoints,
  lockEndpoints,
  MAX_ENDPOINTS,
  updateEndpoint,
} from '../../../db/alerts/endpoints.ts';
import { kindsFor } from '../../../db/alerts/kinds.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import { newId } from '../../../db/secrets.ts';
import { newWebhookSecret } from '../../actors/webhooks/secrets.ts';
import { isPublicUrl } from '../../catalogue/contracts/media.ts';
import { seal } from '../../config/seal.ts';
import { type Validator, validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { hostAndPort } from '../../storage/internal-host.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { changeOnce } from '../management/change-once.ts';
import { listAnswer, pageRequestOf, readQuery } from '../management/list-query.ts';
import { trimmedName } from '../management/schema.ts';
import {
  type Admit,
  type AlertOwner,
  type AlertRouteDeps,
  auditedOwner,
  idOf,
  readAlertBody,
  requireAlerts,
} from './owner.ts';
import { endpointRecord, endpointSettings } from './records.ts';
import { type AlertSchemas, ListEndpointsSchema } from './schema.ts';

const validateList = validator(ListEndpointsSchema);

/**
 * The routes of the endpoints of an organization, or of the operators. Each query has the owner in its condition, so
 * a stranger's endpoint answers exactly like a missing one (P6). The secret of a webhook is in the answer of its
 * creation or rotation, and nowhere else.
 */
export class AlertEndpointRoutes {
  private readonly validateCreate: Validator<AlertSchemas['create']>;
  private readonly validateUpdate: Validator<AlertSchemas['update']>;

  constructor(
    private readonly deps: AlertRouteDeps,
    private readonly admit: Admit,
    schemas: AlertSchemas,
  ) {
    this.validateCreate = validator(schemas.create);
    this.validateUpdate = validator(schemas.update);
  }

  /** `GET …/alert-endpoints` */
  readonly list: Handler = async (context) => {
    const { owner_id } = await this.admit(context);
    const page = pageRequestOf(readQuery(context.request, validateList));
    const found = await listEndpoints(requireAlerts(this.deps).sql, owner_id, page);
    return json(listAnswer(found, ({ id }) => id, endpointRecord));
  };

  /** `GET …/alert-endpoints/{id}` */
  readonly get: Handler = async (context) => {
    const { owner_id } = await this.admit(context);
    const row = await findEndpoint(requireAlerts(this.deps).sql, owner_id, idOf(context));
    if (!row) throw endpointNotFound();
    return answer(row);
  };

  /** `POST …/alert-endpoints` */
  readonly create: Handler = async (context) => {
    const owner = await this.admit(context);
    const { value, text } = await readAlertBody(context, owner);
    const { type, url, email, ...body } = this.validateCreate(value);
    const target = this.targetOf(type, url, email);
    if (target === undefined) {
      const param = type === 'webhook' ? 'url' : 'email';
      throw new WeirError('invalid_request', `${param} is required.`, { param });
    }
    const name = trimmedName(body.name);
    const { owner_id } = owner;
    const { enabled = true, kinds = kindsFor(owner_id) } = body;
    return this.change(context, owner, 'create', text, async (tx) => {
      if (await hasManyEndpoints(tx, owner_id)) throw tooManyEndpoints();
      const id = newId('endpoint');
      const { secret, sealed_secret } = this.newSecret(type, id);
      const row = await insertEndpoint(tx, {
        ...{ id, owner_id, name, medium: type, target, kinds, enabled, sealed_secret },
      });
      await audit(tx, owner, 'create', null, row);
      return answer(row, secret);
    });
  };

  /** `PATCH …/alert-endpoints/{id}`. Deliveries that wait go to the new address. */
  readonly update: Handler = async (context) => {
    const owner = await this.admit(context);
    const { value, text } = await readAlertBody(context, owner);
    const { name, url, email, ...rest } = this.validateUpdate(value);
    if (Object.keys(value).length === 0) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    const renamed = name === undefined ? {} : { name: trimmedName(name) };
    return this.change(context, owner, 'update', text, async (tx) => {
      const before = await requireEndpoint(tx, context, owner);
      const target = this.targetOf(before.medium, url, email);
      const moved = target === undefined ? {} : { target };
      const after = await updateEndpoint(tx, before, { ...rest, ...renamed, ...moved });
      await audit(tx, owner, 'update', before, after);
      return answer(after);
    });
  };

  /** `DELETE …/alert-endpoints/{id}` */
  readonly delete: Handler = async (context) => {
    const owner = await this.admit(context);
    return this.change(context, owner, 'delete', '', async (tx) => {
      const row = await requireEndpoint(tx, context, owner);
      await deleteEndpoint(tx, row);
      await audit(tx, owner, 'delete', row, null);
      return json({ object: 'alert_endpoint.deleted', id: row.id, deleted: true });
    });
  };

  /** `POST …/alert-endpoints/{id}/rotate`. The new secret signs all later attempts. */
  readonly rotate: Handler = async (context) => {
    const owner = await this.admit(context);
    return this.change(context, owner, 'rotate', '', async (tx) => {
      const before = await requireEndpoint(tx, context, owner);
      if (before.medium === 'mail') {
        throw new WeirError('invalid_request', 'A mail has no secret.', { param: 'id' });
      }
      const { secret, sealed_secret } = this.newSecret('webhook', before.id);
      const after = await updateEndpoint(tx, before, { sealed_secret });
      await appendAudit(tx, {
        ...{ organization_id: auditedOwner(owner), actor: owner.actor, subject_id: before.id },
        ...{ action: 'alert_endpoint.rotate', before: null, after: null },
      });
      return answer(after, secret);
    });
  };

  private newSecret(medium: EndpointRow['medium'], endpoint_id: string) {
    if (medium === 'mail') return { secret: undefined, sealed_secret: null };
    const secret = newWebhookSecret();
    const { secret_key } = requireAlerts(this.deps);
    return { secret, sealed_secret: seal(secret_key, secret, endpoint_id) };
  }

  /** Returns the address of an endpoint; undefined if the request has none. Throws WeirError if it is not usable. */
  private targetOf(
    medium: EndpointRow['medium'],
    url: string | undefined,
    email: string | undefined,
  ): string | undefined {
    const { has_mail, allow_hosts } = requireAlerts(this.deps);
    if (medium === 'webhook') {
      if (email !== undefined) throw wrongTarget('email', 'A webhook has no e-mail address.');
      if (url === undefined || isReceiver(url, allow_hosts)) return url;
      throw wrongTarget('url', 'url must be a public https URL.');
    }
    if (url !== undefined) throw wrongTarget('url', 'A mail has no URL.');
    if (has_mail) return email;
    throw new WeirError('invalid_request', 'This installation sends no mail.', {
      param: 'type',
      hint: 'Use a webhook, or ask the operator to set WEIR_SMTP_URL and WEIR_MAIL_FROM.',
    });
  }

  /** Runs a change while no other request changes endpoints of the owner. */
  private change(
    context: RequestContext,
    owner: AlertOwner,
    verb: string,
    body: string,
    work: (tx: TransactionSql) => Promise<Response>,
  ): Promise<Response> {
    requireAlerts(this.deps);
    const organization_id = auditedOwner(owner);
    const route = `alert_endpoint.${verb}`;
    const request = { organization_id, actor_id: owner.actor.id, route, body };
    return changeOnce(this.deps, context, request, async (tx) => {
      await lockEndpoints(tx, owner.owner_id);
      return work(tx);
    });
  }
}

/** Returns the endpoint of the path, which `If-Match` allows to change. Throws WeirError. */
export async function requireEndpoint(
  tx: TransactionSql,
  context: RequestContext,
  { owner_id }: AlertOwner,
): Promise<EndpointRow> {
  const row = await findEndpoint(tx, owner_id, idOf(context));
  if (!row) throw endpointNotFound();
  requireMatch(context.request, endpointSettings(row));
  return row;
}

async function audit(
  tx: TransactionSql,
  owner: AlertOwner,
  verb: string,
  before: EndpointRow | null,
  after: EndpointRow | null,
): Promise<void> {
  const [old, now] = [before && endpointSettings(before), after && endpointSettings(after)];
  const members = old && now ? changedMembers(old, now) : { before: old, after: now };
  if (!members) return;
  await appendAudit(tx, {
    ...{ organization_id: auditedOwner(owner), actor: owner.actor, ...members },
    ...{ action: `alert_endpoint.${verb}`, subject_id: (after ?? before)?.id ?? '' },
  });
}

function answer(row: EndpointRow, secret?: string): Response {
  const shown = secret === undefined ? {} : { secret };
  return withEtag(json({ ...endpointRecord(row), ...shown }), endpointSettings(row));
}

/** True for a public https URL, and for any URL of a host that the operator allowed. */
function isReceiver(url: string, allow_hosts: ReadonlySet<string>): boolean {
  if (!isPublicUrl(url, allow_hosts)) return false;
  const parsed = new URL(url);
  return parsed.protocol === 'https:' || allow_hosts.has(hostAndPort(parsed));
}

function wrongTarget(param: 'url' | 'email', message: string): WeirError {
  return new WeirError('invalid_request', message, { param });
}

function tooManyEndpoints(): WeirError {
  return new WeirError('invalid_request', `There can be at most ${MAX_ENDPOINTS} endpoints.`, {
    hint: 'Delete an endpoint that nobody needs.',
  });
}

/** Returns the same error for another owner's endpoint and for a missing one (P6). */
function endpointNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such alert endpoint.', { param: 'id' });
}
