import type { Actor } from '../../../db/audit/entry.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import type { Sql, TransactionSql } from '../../../db/client.ts';
import { listOrganizationsOf } from '../../../db/people/members.ts';
import { endSession, findPerson } from '../../../db/people/people.ts';
import type { RequestContext } from '../endpoint.ts';
import { json } from '../endpoint.ts';
import type { PeopleParts } from './parts.ts';
import type { SignedIn } from './person-sessions.ts';

/** Adds cookies to a response, which no cache may keep. */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  response.headers.set('cache-control', 'no-store');
  return response;
}

/** The answer that says who is signed in. */
export async function sessionAnswer(sql: Sql, { session, person }: SignedIn): Promise<Response> {
  const organizations = await listOrganizationsOf(sql, person.id);
  return json({
    object: 'session',
    id: session.id,
    expires_at: session.expires_at.toISOString(),
    person: { id: person.id, name: person.name, email: person.email },
    is_operator: person.is_operator,
    organizations: organizations.map(({ id, name, role }) => ({ id, name, role })),
  });
}

/**
 * Notes something that concerns all organizations of a person, e.g. a sign-in: in the log of the
 * installation, and in that of each organization.
 */
export async function auditEverywhere(
  tx: TransactionSql,
  actor: Actor,
  action: string,
  person_id: string,
  after: object | null = null,
): Promise<void> {
  const organizations = (await listOrganizationsOf(tx, person_id)).map(({ id }) => id).sort();
  for (const organization_id of [...organizations, null]) {
    await appendAudit(tx, {
      ...{ organization_id, actor, action, subject_id: person_id, before: null, after },
    });
  }
}

/**
 * Notes the sign-in whose cookies were just made, and returns who is signed in. If it cannot be noted, the
 * session ends, and nobody gets the cookies.
 */
export async function noteSignIn(
  { sql, library, sessions }: PeopleParts,
  context: RequestContext,
  cookies: readonly string[],
  by: 'password' | 'link' | 'oidc',
): Promise<SignedIn> {
  const cookie = cookies.map((each) => each.split(';')[0]).join('; ');
  const session = await library.find({ ...sessions.clientOf(context), cookie });
  const person = session && (await findPerson(sql, session.person_id));
  if (!session || !person) throw new Error('the new session was not found');
  const signedIn = { session, person };
  const actor = sessions.actorOf(context, 'person', signedIn);
  try {
    await sql.begin((tx) => auditEverywhere(tx, actor, 'session.create', person.id, { by }));
  } catch (error) {
    await sql.begin((tx) => endSession(tx, session.id));
    throw error;
  }
  return signedIn;
}
