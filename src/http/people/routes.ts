import type { Authentication } from '../auth/authentication.ts';
import { admitManager, type ManagementDeps } from '../management/keys.ts';
import { notServedHere } from '../not-served.ts';
import type { PathMethods } from '../route.ts';
import type { PeopleParts } from '../sign-in/parts.ts';
import { InvitationRoutes } from './invitations.ts';
import { MemberRoutes } from './members.ts';
import { OperatedPeople } from './operated.ts';

interface PeopleRouteDeps extends ManagementDeps {
  readonly authentication: Authentication;
  /** People and their sessions. Missing if this process lets nobody sign in. */
  readonly people?: PeopleParts;
}

/** The routes about people and invitations: for organizations, and for operators. */
export function peopleRoutes(app: PeopleRouteDeps): PathMethods[] {
  const { sql, authentication } = app;
  const people = () => app.people ?? notServedHere();
  const members = new MemberRoutes({ sql, admit: (context) => admitManager(app, context) });
  const operated = new OperatedPeople({ sql, authentication, people });
  const invited = new InvitationRoutes(
    {
      ...{ sql, answers_key: app.answers_key, people },
      async admit(context) {
        const { organization_id: owner, actor, rights } = await admitManager(app, context);
        return { owner, actor, rights };
      },
    },
    'organization',
  );
  const invitedByOperators = new InvitationRoutes(
    {
      ...{ sql, answers_key: app.answers_key, people },
      async admit(context) {
        const { actor } = await authentication.requireOperator(context);
        return { owner: null, actor, rights: { member_role: 'owner' } };
      },
    },
    'installation',
  );
  return [
    ['/v1/management/people', { GET: members.list }],
    [
      '/v1/management/people/:id',
      { GET: members.get, PATCH: members.update, DELETE: members.remove },
    ],
    ['/v1/management/invitations', { GET: invited.list, POST: invited.create }],
    ['/v1/management/invitations/:id/revoke', { POST: invited.revoke }],
    ['/v1/operator/people', { GET: operated.list }],
    ['/v1/operator/people/:id', { GET: operated.get, PATCH: operated.update }],
    ['/v1/operator/people/:id/password-link', { POST: operated.passwordLink }],
    ['/v1/operator/people/:id/sign-out', { POST: operated.signOut }],
    ['/v1/operator/invitations', { GET: invitedByOperators.list, POST: invitedByOperators.create }],
    ['/v1/operator/invitations/:id/revoke', { POST: invitedByOperators.revoke }],
  ];
}
