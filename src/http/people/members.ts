import { Type } from '@sinclair/typebox';
import { appendAudit } from '../../../db/audit/log.ts';
import type { Sql, TransactionSql } from '../../../db/client.ts';
import { revokeInvitationsOf } from '../../../db/people/links.ts';
import {
  findMember,
  hasOtherOwner,
  listMembers,
  lockMembers,
  type MemberRow,
  removeMember,
  setMemberRole,
} from '../../../db/people/members.ts';
import { endSessions } from '../../../db/people/people.ts';
import { mayAssign } from '../../access/actions.ts';
import type { Manager } from '../../access/manager.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { listAnswer, PAGE_PARAMETERS, pageRequestOf, readQuery } from '../management/list-query.ts';
import { noSuch, ROLE, requestedId } from './record.ts';
import { memberRecord } from './view.ts';

const closed = { additionalProperties: false };
/** `GET /v1/management/people` */
export const ListPeopleSchema = Type.Object(PAGE_PARAMETERS, closed);
/** `PATCH /v1/management/people/{id}` */
export const UpdatePersonSchema = Type.Object({ role: ROLE }, closed);
const validateList = validator(ListPeopleSchema);
const validateUpdate = validator(UpdatePersonSchema);

interface MemberDeps {
  readonly sql: Sql;
  readonly admit: (context: RequestContext) => Promise<Manager>;
}

/** The routes of the people of an organization. */
export class MemberRoutes {
  constructor(private readonly deps: MemberDeps) {}

  /** `GET /v1/management/people` */
  readonly list: Handler = async (context) => {
    const { organization_id } = await this.deps.admit(context);
    const query = readQuery(context.request, validateList);
    const page = await listMembers(this.deps.sql, organization_id, pageRequestOf(query));
    return json(listAnswer(page, ({ person_id }) => person_id, memberRecord));
  };

  /** `GET /v1/management/people/{id}` */
  readonly get: Handler = async (context) => {
    const { organization_id } = await this.deps.admit(context);
    const member = await findMember(this.deps.sql, organization_id, requestedId(context));
    if (!member) throw noSuch('person');
    return answer(member);
  };

  /** `PATCH /v1/management/people/{id}`. The new role counts for the next request of the person. */
  readonly update: Handler = async (context) => {
    const manager = await this.deps.admit(context);
    const { organization_id, actor, rights } = manager;
    const { value } = await readJsonObject(
      context.request,
      context.bytes.of(organization_id),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const { role } = validateUpdate(value);
    return this.change(context, manager, async (tx, before) => {
      if (!mayAssign(rights, role)) throw tooHigh(role);
      if (role !== 'owner') await requireOtherOwner(tx, organization_id, before);
      if (role === before.role) return answer(before);
      await setMemberRole(tx, organization_id, before.person_id, role);
      await appendAudit(tx, {
        ...{ organization_id, actor, action: 'member.update', subject_id: before.person_id },
        ...{ before: { role: before.role }, after: { role } },
      });
      return answer({ ...before, role });
    });
  };

  /**
   * `DELETE /v1/management/people/{id}`. Removes a person from the organization, ends all sessions of the
   * person, and revokes the invitations for the person's address.
   */
  readonly remove: Handler = async (context) => {
    const manager = await this.deps.admit(context);
    const { organization_id, actor } = manager;
    return this.change(context, manager, async (tx, before) => {
      const { person_id, email, role } = before;
      await requireOtherOwner(tx, organization_id, before);
      await removeMember(tx, organization_id, person_id);
      await revokeInvitationsOf(tx, organization_id, email);
      const ended_sessions = await endSessions(tx, person_id);
      await appendAudit(tx, {
        ...{ organization_id, actor, action: 'member.remove', subject_id: person_id },
        ...{ before: { email, role }, after: { ended_sessions } },
      });
      return json({ object: 'person', id: person_id, removed: true });
    });
  };

  /** Runs a change of a person while no other request changes the people of the organization. */
  private change(
    context: RequestContext,
    { organization_id, rights }: Manager,
    work: (tx: TransactionSql, before: MemberRow) => Promise<Response>,
  ): Promise<Response> {
    const id = requestedId(context);
    return this.deps.sql.begin(async (tx) => {
      await lockMembers(tx, organization_id);
      const before = await findMember(tx, organization_id, id);
      if (!before) throw noSuch('person');
      requireMatch(context.request, settingsOf(before));
      if (!mayAssign(rights, before.role)) throw tooHigh(before.role);
      return work(tx, before);
    }) as Promise<Response>;
  }
}

const settingsOf = ({ role }: MemberRow) => ({ role });
const answer = (member: MemberRow) => withEtag(json(memberRecord(member)), settingsOf(member));

/** Throws WeirError if a person is the last owner: then nobody could manage the organization. */
async function requireOtherOwner(
  tx: TransactionSql,
  organization_id: string,
  { person_id, role }: MemberRow,
): Promise<void> {
  if (role !== 'owner' || (await hasOtherOwner(tx, organization_id, person_id))) return;
  throw new WeirError('invalid_request', 'This is the last owner of the organization.', {
    param: 'id',
    hint: 'Make somebody else an owner first.',
  });
}

function tooHigh(role: string): WeirError {
  return new WeirError('access_denied', `You may not give or take the role ${role}.`, {
    param: 'role',
    hint: 'Ask an owner of the organization.',
  });
}
