import type { Sql } from '../client.ts';
import type { PersonOrganization } from './members.ts';
import { type PersonRow, personColumns } from './people.ts';

/** A session that has not ended, and who its person is now. */
export interface LiveSession {
  readonly session: { readonly id: string; readonly expires_at: Date };
  readonly person: PersonRow;
  /** The organizations of the person, the oldest membership first. */
  readonly organizations: readonly PersonOrganization[];
}

interface Row extends PersonRow, Pick<LiveSession, 'organizations'> {
  readonly session_id: string;
  readonly expires_at: Date;
}

/** Returns the sessions with these ids by their ids. One that has ended or never was is missing. */
export async function findLiveSessions(
  sql: Sql,
  ids: readonly string[],
): Promise<Map<string, LiveSession>> {
  const rows = await sql<Row[]>`
    select session_id, expires_at, ${personColumns(sql)}, (
      select coalesce(json_agg(json_build_object('id', organization.id, 'name', organization.name,
        'role', membership.role, 'limit_role', organization.role, 'status', organization.status)
        order by membership.created_at, organization.id), '[]')
      from membership join organization on organization.id = organization_id
      where membership.person_id = person.id) as organizations
    from person join (
      select id as session_id, person_id, expires_at from person_session
      where id = any(${ids as string[]}) and expires_at > weir_now()
    ) as session on session.person_id = person.id`;
  return new Map(
    rows.map(({ session_id: id, expires_at, organizations, ...person }) => [
      id,
      { session: { id, expires_at }, person, organizations },
    ]),
  );
}
