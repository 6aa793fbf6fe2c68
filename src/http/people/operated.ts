import { Type } from '@sinclair/typebox';
import type { Actor } from '../../../db/audit/entry.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import type { Sql, TransactionSql } from '../../../db/client.ts';
import { listOrganizationsOf, lockMembers } from '../../../db/people/members.ts';
import {
  addOperator,
  countOperators,
  endSessions,
  findPerson,
  listPeople,
  type PersonRow,
  removeOperator,
} from '../../../db/people/people.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Authentication } from '../auth/authentication.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject, readOptionalObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import {
  choiceParameter,
  listAnswer,
  PAGE_PARAMETERS,
  pageRequestOf,
  readQuery,
} from '../management/list-query.ts';
import { OPERATORS } from '../operators.ts';
import { mailLink, makeLink, shownUrl } from '../sign-in/new-link.ts';
import type { PeopleParts } from '../sign-in/parts.ts';
import { auditEverywhere } from '../sign-in/session-answer.ts';
import { noSuch, requestedId } from './record.ts';

const closed = { additionalProperties: false };
/** `GET /v1/operator/people` */
export const ListAllPeopleSchema = Type.Object(
  { ...PAGE_PARAMETERS, is_operator: choiceParameter(['true', 'false']) },
  closed,
);
/** `PATCH /v1/operator/people/{id}` */
export const OperatePersonSchema = Type.Object(
  { is_operator: Type.Boolean({ errorMessage: 'must be true or false' }) },
  closed,
);
/** The routes of a person's link and sessions: a body without members. */
export const PersonActSchema = Type.Object({}, closed);
const validateList = validator(ListAllPeopleSchema);
const validateUpdate = validator(OperatePersonSchema);
const validateNothing = validator(PersonActSchema);

interface OperatedPeopleDeps {
  readonly sql: Sql;
  readonly authentication: Authentication;
  readonly people: () => PeopleParts;
}

/** The routes with which operators see and help the people of all organizations. */
export class OperatedPeople {
  constructor(private readonly deps: OperatedPeopleDeps) {}

  /** `GET /v1/operator/people` */
  readonly list: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const query = readQuery(context.request, validateList);
    const { sql } = this.deps;
    const page = await listPeople(sql, query.is_operator === 'true', pageRequestOf(query));
    return json(listAnswer(page, ({ id }) => id, record));
  };

  /** `GET /v1/operator/people/{id}` */
  readonly get: Handler = async (context) => {
    await this.deps.authentication.requireOperator(context);
    const person = await this.find(this.deps.sql, context);
    const organizations = await listOrganizationsOf(this.deps.sql, person.id);
    return json({
      ...record(person),
      organizations: organizations.map(({ id, name, role }) => ({ id, name, role })),
    });
  };

  /** `PATCH /v1/operator/people/{id}`. The last operator stays one. */
  readonly update: Handler = async (context) => {
    const { actor } = await this.deps.authentication.requireOperator(context);
    const { is_operator } = validateUpdate(await this.read(context, readJsonObject));
    const person = await this.deps.sql.begin(async (tx) => {
      await lockMembers(tx, null);
      const before = await this.find(tx, context);
      if (before.is_operator === is_operator) return before;
      if (is_operator) await addOperator(tx, before.id);
      else await this.remove(tx, before);
      await appendAudit(tx, {
        ...{ organization_id: null, actor, subject_id: before.id },
        action: is_operator ? 'operator.add' : 'operator.remove',
        ...{ before: { is_operator: before.is_operator }, after: { is_operator } },
      });
      return { ...before, is_operator };
    });
    return json(record(person));
  };

  /**
   * `POST /v1/operator/people/{id}/password-link`. Makes a link that sets a new password, which is mailed,
   * or shown in this answer. Only operators may do so: the person may be in several organizations.
   */
  readonly passwordLink: Handler = async (context) => {
    const { actor } = await this.deps.authentication.requireOperator(context);
    validateNothing(await this.read(context, readOptionalObject));
    const parts = this.deps.people();
    const made = await this.deps.sql.begin(async (tx) => {
      const { id, email } = await this.find(tx, context);
      const link = await makeLink(tx, {
        ...{ kind: 'password', email, person_id: id, created_by: actor.id },
        is_mailed: parts.mailer !== undefined,
      });
      await this.audit(tx, actor, 'person.password_link', id);
      return link;
    });
    await mailLink(parts, made);
    const url = shownUrl(parts, context.request, made);
    const { email, is_mailed, expires_at } = made.row;
    const answer = json({
      ...{ object: 'password_link', email, is_mailed, expires_at: expires_at.toISOString() },
      ...(url === undefined ? {} : { url }),
    });
    answer.headers.set('cache-control', 'no-store');
    return answer;
  };

  /** `POST /v1/operator/people/{id}/sign-out`. Ends all sessions of a person. */
  readonly signOut: Handler = async (context) => {
    const { actor } = await this.deps.authentication.requireOperator(context);
    validateNothing(await this.read(context, readOptionalObject));
    return this.deps.sql.begin(async (tx) => {
      const { id } = await this.find(tx, context);
      const ended_sessions = await endSessions(tx, id);
      await this.audit(tx, actor, 'session.end', id, { ended_sessions });
      return json({ object: 'person', id, ended_sessions });
    }) as Promise<Response>;
  };

  private audit(
    tx: TransactionSql,
    actor: Actor,
    action: string,
    person_id: string,
    after: object | null = null,
  ): Promise<void> {
    return auditEverywhere(tx, actor, action, person_id, after);
  }

  private async remove(tx: TransactionSql, person: PersonRow): Promise<void> {
    if ((await countOperators(tx)) > 1) return removeOperator(tx, person.id);
    throw new WeirError('invalid_request', 'This is the last operator.', {
      param: 'is_operator',
      hint: 'Invite another operator first.',
    });
  }

  private async find(sql: Sql | TransactionSql, context: RequestContext): Promise<PersonRow> {
    const person = await findPerson(sql, requestedId(context));
    if (!person) throw noSuch('person');
    return person;
  }

  private async read(
    { request, bytes }: RequestContext,
    read: typeof readOptionalObject,
  ): Promise<Record<string, unknown>> {
    return (await read(request, bytes.of(OPERATORS), MAX_MANAGEMENT_BODY_BYTES)).value;
  }
}

const record = ({ id, name, email, is_operator, created_at }: PersonRow) => ({
  ...{ object: 'person', id, name, email, is_operator },
  created_at: created_at.toISOString(),
});
