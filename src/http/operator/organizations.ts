import {
  type AccountRow,
  findAccount,
  insertAccount,
  listAccounts,
  type OrganizationStatus,
  updateAccount,
  updateAccountStatus,
} from '../../../db/accounts/organizations.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import { insertToken } from '../../../db/tokens.ts';
import type { Operator } from '../../access/manager.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { usd } from '../../json/usd.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { changeOnce } from '../management/change-once.ts';
import { listAnswer, pageRequestOf, readQuery } from '../management/list-query.ts';
import { trimmedName } from '../management/schema.ts';
import { auditedToken } from '../management/token-view.ts';
import {
  changeOrganization,
  type OrganizationChange,
  type OrganizationDeps,
  organizationIdOf,
  organizationNotFound,
  readOperatorBody,
} from './organization-change.ts';
import {
  CreateOrganizationSchema,
  ListOrganizationsSchema,
  organizationRecord,
  requireRole,
  StatusSchema,
  statusMembers,
  termsOf,
  UpdateOrganizationSchema,
} from './organization-record.ts';

const validateList = validator(ListOrganizationsSchema);
const validateCreate = validator(CreateOrganizationSchema);
const validateUpdate = validator(UpdateOrganizationSchema);
const validateStatus = validator(StatusSchema);

/** The terms of an organization whose creator sends none. */
const DEFAULTS = { role: 'standard', max_keys: null, requests_per_minute: null };

/** The response with an organization, and with the entity tag of its terms. */
const answerOf = (row: AccountRow, more: object = {}) =>
  withEtag(json({ ...organizationRecord(row), ...more }), termsOf(row));

/** The routes with which operators create, change, suspend and close organizations. */
export class OrganizationRoutes {
  constructor(private readonly deps: OrganizationDeps) {}

  /** `GET /v1/operator/organizations` */
  readonly list: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const query = readQuery(context.request, validateList);
    const page = await listAccounts(this.deps.sql, query, pageRequestOf(query));
    return json(listAnswer(page, ({ id }) => id, organizationRecord));
  };

  /** `GET /v1/operator/organizations/{id}` */
  readonly get: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const row = await findAccount(this.deps.sql, organizationIdOf(context));
    if (!row) throw organizationNotFound();
    return answerOf(row);
  };

  /** `POST /v1/operator/organizations`. A first management token is only in this response. */
  readonly create: Handler = async (context) => {
    const { actor } = await this.deps.authentication.requireOperator(context);
    const { value, text } = await readOperatorBody(context);
    const { name, management_token = false, ...terms } = validateCreate(value);
    requireRole(terms.role, this.deps.rateLimit.role_names);
    const route = 'organization.create';
    const request = { organization_id: null, actor_id: actor.id, route, body: text };
    return changeOnce(this.deps, context, request, async (tx) => {
      const chosen = { ...DEFAULTS, ...terms, name: trimmedName(name) };
      const row = await insertAccount(tx, newId('org'), chosen);
      const first = management_token ? await addToken(tx, row, actor) : undefined;
      await appendAudit(tx, {
        ...{ organization_id: row.id, actor, action: route, subject_id: row.id },
        ...{ before: null, after: termsOf(row) },
      });
      await first?.audit();
      return answerOf(row, first ? { management_token: first.secret } : {});
    });
  };

  /** `PATCH /v1/operator/organizations/{id}` */
  readonly update: Handler = async (context) => {
    const operator = await this.deps.authentication.requireOperator(context);
    const { value, text: body } = await readOperatorBody(context);
    const { name, ...terms } = validateUpdate(value);
    if (Object.keys(value).length === 0) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    requireRole(terms.role, this.deps.rateLimit.role_names);
    const changes = { ...terms, ...(name === undefined ? {} : { name: trimmedName(name) }) };
    return this.change(context, operator, { route: 'organization.update', body }, async (of) => {
      requireMatch(context.request, termsOf(of.before));
      const after = await updateAccount(of.tx, of.before.id, changes);
      const members = changedMembers(termsOf(of.before), termsOf(after));
      if (members) await of.audit('organization.update', after.id, members);
      return answerOf(after);
    });
  };

  /** `POST …/suspend`. Calls are refused from now on; calls and tasks that run end and are charged. */
  readonly suspend: Handler = (context) =>
    this.setStatus(context, 'suspended', async ({ before }) => {
      if (before.status !== 'closed') return;
      throw conflict('The organization is closed.', 'Reactivate it first.');
    });

  /** `POST …/reactivate`. Calls are accepted again, also those of a closed organization. */
  readonly reactivate: Handler = (context) => this.setStatus(context, 'active');

  /**
   * `POST …/close`. Ends the credit line, and leaves everything readable. Refused while money is held,
   * because calls or tasks run.
   */
  readonly close: Handler = (context) =>
    this.setStatus(context, 'closed', async ({ before, move }) => {
      if (before.held > 0) {
        throw conflict(
          `${usd(before.held)} USD are held for calls and tasks that run.`,
          'Suspend the organization, and close it when they have ended.',
        );
      }
      if (before.credit_limit === 0) return;
      await move({ type: 'CREDIT', organization_id: before.id, limit: 0 });
    });

  /** Changes the status of the organization in the path. `prepare` may refuse the change. */
  private async setStatus(
    context: RequestContext,
    status: OrganizationStatus,
    prepare: (of: OrganizationChange) => Promise<void> = async () => undefined,
  ): Promise<Response> {
    const operator = await this.deps.authentication.requireOperator(context);
    const { value, text: body } = await readOperatorBody(context);
    const { reason } = validateStatus(value);
    const verb = { active: 'reactivate', suspended: 'suspend', closed: 'close' }[status];
    const route = `organization.${verb}`;
    let isChanged = false;
    const response = await this.change(context, operator, { route, body }, async (of) => {
      const { before, tx } = of;
      requireMatch(context.request, termsOf(before));
      if (before.status === status) return answerOf(before);
      await prepare(of);
      const after = await updateAccountStatus(tx, before.id, { status, reason });
      const members = changedMembers(statusMembers(before), statusMembers(after));
      if (members) await of.audit(route, after.id, members);
      isChanged = true;
      return answerOf(after);
    });
    if (isChanged) this.deps.organizationNews?.onChanged(organizationIdOf(context), status);
    return response;
  }

  /** Changes the organization of the path, and notifies all replicas. */
  private async change(
    context: RequestContext,
    operator: Operator,
    request: { readonly route: string; readonly body: string },
    change: (of: OrganizationChange) => Promise<Response>,
  ): Promise<Response> {
    const { keys, organizationNews: news } = this.deps;
    const id = organizationIdOf(context);
    try {
      return await changeOrganization(this.deps, context, operator, request, change);
    } finally {
      keys.invalidateOrganization(id);
      news?.announce(id);
    }
  }
}

/** Adds a management token with all rights to a new organization. `audit` adds its line to the log. */
async function addToken(tx: TransactionSql, { id }: AccountRow, actor: Operator['actor']) {
  const secret = newCredential('mt');
  const row = await insertToken(tx, id, {
    ...{ id: newId('token'), name: 'First token', scopes: ['admin'], expires_at: null },
    ...{ token_hash: hashCredential(secret), token_prefix: shownPrefix(secret) },
    ...{ replaces: null, created_by: null },
  });
  const audit = () =>
    appendAudit(tx, {
      ...{ organization_id: id, actor, action: 'management_token.create', subject_id: row.id },
      ...{ before: null, after: auditedToken(row) },
    });
  return { secret, audit };
}

function conflict(message: string, hint: string): WeirError {
  return new WeirError('conflict', message, { param: 'id', hint });
}
