import { Type } from '@sinclair/typebox';
import type { Actor } from '../../../db/audit/entry.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import {
  countPending,
  LINK_STATUSES,
  type LinkRow,
  listInvitations,
  revokeInvitation,
} from '../../../db/people/links.ts';
import { findOrganizationName, lockMembers } from '../../../db/people/members.ts';
import { mayAssign, type Rights, type Role } from '../../access/actions.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject, readOptionalObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { type ChangeDeps, changeOnce } from '../management/change-once.ts';
import {
  choiceParameter,
  listAnswer,
  PAGE_PARAMETERS,
  pageRequestOf,
  readQuery,
} from '../management/list-query.ts';
import { OPERATORS } from '../operators.ts';
import { type MadeLink, mailLink, makeLink, shownUrl } from '../sign-in/new-link.ts';
import type { PeopleParts } from '../sign-in/parts.ts';
import { EMAIL, emailOf } from '../sign-in/schema.ts';
import { noSuch, ROLE, requestedId } from './record.ts';
import { invitationRecord } from './view.ts';

const closed = { additionalProperties: false };
/** Invitations of an organization that wait for an answer, so that nobody sends mails without end. */
const MAX_PENDING = 100;

/** `GET …/invitations` */
export const ListInvitationsSchema = Type.Object(
  { ...PAGE_PARAMETERS, status: choiceParameter(LINK_STATUSES) },
  closed,
);
/** `POST …/invitations/{id}/revoke`: a body without members. */
export const RevokeInvitationSchema = Type.Object({}, closed);
/** `POST /v1/management/invitations` */
export const InviteMemberSchema = Type.Object({ email: EMAIL, role: ROLE }, closed);
/** `POST /v1/operator/invitations` */
export const InviteOperatorSchema = Type.Object(
  { email: EMAIL, organization_id: Type.Optional(Type.String()), role: Type.Optional(ROLE) },
  closed,
);
const validateList = validator(ListInvitationsSchema);
const validateNothing = validator(RevokeInvitationSchema);
const validateMember = validator(InviteMemberSchema);
const validateOperator = validator(InviteOperatorSchema);

/** Who invites. */
export interface Inviter {
  /** The organization whose invitations the routes show; null = those of operators. */
  readonly owner: string | null;
  readonly actor: Actor;
  readonly rights: Rights;
}

interface InvitationDeps extends ChangeDeps {
  readonly people: () => PeopleParts;
  readonly admit: (context: RequestContext) => Promise<Inviter>;
}

interface Wanted {
  readonly email: string;
  readonly organization_id?: string | undefined;
  readonly role?: Role | undefined;
}

/** The routes of the invitations of an organization, or of those to operate the installation. */
export class InvitationRoutes {
  private readonly validateCreate: (body: Record<string, unknown>) => Wanted;

  constructor(
    private readonly deps: InvitationDeps,
    whose: 'organization' | 'installation',
  ) {
    this.validateCreate = whose === 'organization' ? validateMember : validateOperator;
  }

  /** `GET …/invitations` */
  readonly list: Handler = async (context) => {
    const { owner } = await this.deps.admit(context);
    const query = readQuery(context.request, validateList);
    const page = await listInvitations(this.deps.sql, owner, query.status, pageRequestOf(query));
    return json(listAnswer(page, ({ id }) => id, invitationRecord));
  };

  /** `POST …/invitations`. Mails the link, or shows it in this answer if there is no SMTP server. */
  readonly create: Handler = async (context) => {
    const inviter = await this.deps.admit(context);
    const { request, bytes } = context;
    const { value, text } = await readJsonObject(
      request,
      bytes.of(inviter.owner ?? OPERATORS),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    const body = this.validateCreate(value);
    const organization_id = inviter.owner ?? body.organization_id;
    requireRole(organization_id, body.role);
    if (body.role !== undefined && !mayAssign(inviter.rights, body.role)) {
      throw new WeirError('access_denied', `You may not invite anybody as ${body.role}.`, {
        param: 'role',
        hint: 'Choose a role that is not above yours.',
      });
    }
    const parts = this.deps.people();
    const made: MadeLink[] = [];
    let organization: string | undefined;
    const once = { organization_id: inviter.owner, actor_id: inviter.actor.id, body: text };
    const answer = await changeOnce(
      this.deps,
      context,
      { ...once, route: 'invitation.create' },
      async (tx) => {
        if (organization_id !== undefined) {
          organization = await findOrganizationName(tx, organization_id);
          if (organization === undefined) throw noOrganization();
        }
        const link = await this.add(tx, inviter, { ...body, organization_id });
        made.push(link);
        const url = shownUrl(parts, request, link);
        return json({ ...invitationRecord(link.row), ...(url === undefined ? {} : { url }) });
      },
    );
    // A repeat of the request made nothing, and sends nothing.
    for (const link of made) await mailLink(parts, link, { organization });
    answer.headers.set('cache-control', 'no-store');
    return answer;
  };

  /** `POST …/invitations/{id}/revoke`. A repeat changes nothing. */
  readonly revoke: Handler = async (context) => {
    const { owner, actor } = await this.deps.admit(context);
    const { request, bytes } = context;
    const body = await readOptionalObject(
      request,
      bytes.of(owner ?? OPERATORS),
      MAX_MANAGEMENT_BODY_BYTES,
    );
    validateNothing(body.value);
    const id = requestedId(context, 'invitation');
    const row = await this.deps.sql.begin(async (tx) => {
      const found = await revokeInvitation(tx, owner, id);
      if (!found) throw noSuch('invitation');
      if (found.before.status !== found.after.status) {
        await appendAudit(tx, {
          ...{ organization_id: owner, actor, action: 'invitation.revoke', subject_id: id },
          before: { status: found.before.status },
          after: { status: found.after.status },
        });
      }
      return found.after;
    });
    return json(invitationRecord(row));
  };

  private async add(
    tx: TransactionSql,
    { owner, actor }: Inviter,
    { email, organization_id = null, role = null }: Nullable<Wanted>,
  ): Promise<MadeLink> {
    await lockMembers(tx, owner);
    if ((await countPending(tx, organization_id)) >= MAX_PENDING) {
      const message = `There can be at most ${MAX_PENDING} open invitations.`;
      throw new WeirError('invalid_request', message, { hint: 'Revoke some of them.' });
    }
    const link = await makeLink(tx, {
      kind: organization_id === null ? 'operator' : 'invitation',
      ...{ email: emailOf(email), is_mailed: this.deps.people().mailer !== undefined },
      ...{ organization_id, role, created_by: actor.id },
    });
    await appendAudit(tx, {
      ...{ organization_id, actor, action: 'invitation.create', subject_id: link.row.id },
      ...{ before: null, after: auditedInvitation(link.row) },
    });
    return link;
  }
}

type Nullable<T> = { readonly [Name in keyof T]: T[Name] | null } & Pick<Wanted, 'email'>;

const auditedInvitation = ({ email, role, kind, is_mailed, expires_at }: LinkRow) => ({
  ...{ email, kind, role, is_mailed, expires_at: expires_at.toISOString() },
});

/** Throws WeirError unless an organization and a role are both given, or neither is. */
function requireRole(organization_id: string | undefined, role: Role | undefined): void {
  if ((organization_id === undefined) === (role === undefined)) return;
  const param = role === undefined ? 'role' : 'organization_id';
  throw new WeirError('invalid_request', `${param} is required.`, {
    param,
    hint: 'Leave organization_id and role out to invite an operator.',
  });
}

function noOrganization(): WeirError {
  const message = 'There is no such organization.';
  return new WeirError('invalid_request', message, { param: 'organization_id' });
}
