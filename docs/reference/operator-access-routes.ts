import {
  CheckAuditSchema,
  ExportAuditSchema,
  ListAuditSchema,
} from '../../src/http/management/audit-log.ts';
import { RotateSchema } from '../../src/http/management/schema.ts';
import { createTokenSchema, updateTokenSchema } from '../../src/http/management/token-record.ts';
import { ListTokensSchema, RevokeTokenSchema } from '../../src/http/management/tokens.ts';
import {
  InviteOperatorSchema,
  ListInvitationsSchema,
  RevokeInvitationSchema,
} from '../../src/http/people/invitations.ts';
import {
  ListAllPeopleSchema,
  OperatePersonSchema,
  PersonActSchema,
} from '../../src/http/people/operated.ts';
import type { HeaderName, ReferenceRoute } from './route.ts';

const ONCE: readonly HeaderName[] = ['Idempotency-Key'];
const CHANGE: readonly HeaderName[] = ['Idempotency-Key', 'If-Match'];
/** The scopes of operator tokens (src/http/management/routes.ts). */
const OPERATOR_SCOPES = ['read', 'admin'] as const;

const route = (method: ReferenceRoute['method'], path: string, says: string): ReferenceRoute => ({
  ...{ method, path: `/v1/operator${path}`, says, caller: 'operator' },
});

const PEOPLE: readonly ReferenceRoute[] = [
  {
    ...route('GET', '/people', 'Lists all people of the installation.'),
    query: ListAllPeopleSchema,
  },
  route('GET', '/people/{id}', 'Shows a person with the organizations of the person.'),
  {
    ...route('PATCH', '/people/{id}', 'Makes a person an operator, or ends that.'),
    body: OperatePersonSchema,
  },
  {
    ...route(
      'POST',
      '/people/{id}/password-link',
      'Makes a link with which a person sets a new password.',
    ),
    ...{ body: PersonActSchema, body_optional: true },
  },
  {
    ...route('POST', '/people/{id}/sign-out', 'Ends all sessions of a person.'),
    ...{ body: PersonActSchema, body_optional: true },
  },
  {
    ...route('GET', '/invitations', 'Lists the invitations of operators.'),
    query: ListInvitationsSchema,
  },
  {
    ...route('POST', '/invitations', 'Invites an operator, or a person of any organization.'),
    ...{ body: InviteOperatorSchema, headers: ONCE },
    words: { organization_id: 'The organization; without it, the person becomes an operator.' },
  },
  {
    ...route('POST', '/invitations/{id}/revoke', 'Revokes an invitation that nobody has accepted.'),
    ...{ body: RevokeInvitationSchema, body_optional: true },
  },
];

const TOKENS: readonly ReferenceRoute[] = [
  { ...route('GET', '/tokens', 'Lists the operator tokens.'), query: ListTokensSchema },
  {
    ...route('POST', '/tokens', 'Creates an operator token; only this answer has its secret.'),
    ...{ body: createTokenSchema(OPERATOR_SCOPES), headers: ONCE },
  },
  route('GET', '/tokens/{id}', 'Shows an operator token.'),
  {
    ...route(
      'PATCH',
      '/tokens/{id}',
      'Changes the name, the scopes or the expiry of an operator token.',
    ),
    ...{ body: updateTokenSchema(OPERATOR_SCOPES), headers: CHANGE },
  },
  {
    ...route(
      'POST',
      '/tokens/{id}/rotate',
      'Replaces an operator token by a new one with the same settings.',
    ),
    ...{ body: RotateSchema, body_optional: true, headers: CHANGE },
  },
  {
    ...route('POST', '/tokens/{id}/revoke', 'Ends an operator token at once.'),
    ...{ body: RevokeTokenSchema, body_optional: true, headers: CHANGE },
  },
];

/** The routes with which operators see people, tokens and the log of all changes. */
export const OPERATOR_ACCESS_ROUTES: readonly ReferenceRoute[] = [
  ...PEOPLE,
  ...TOKENS,
  {
    ...route('GET', '/audit-log', 'Lists all changes of the installation, the newest first.'),
    query: ListAuditSchema,
  },
  {
    ...route(
      'GET',
      '/audit-log/export',
      'Exports the audit log of the installation, one JSON object a line.',
    ),
    ...{ query: ExportAuditSchema, answer: 'application/x-ndjson' },
  },
  {
    ...route(
      'GET',
      '/audit-log/check',
      'Checks that no line of the audit log was changed or removed.',
    ),
    query: CheckAuditSchema,
  },
];
