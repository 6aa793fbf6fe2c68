import { Type } from '@sinclair/typebox';
import type { LinkRow } from '../../../db/people/links.ts';
import type { MemberRow } from '../../../db/people/members.ts';
import { ROLES, type Role } from '../../access/actions.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { RequestContext } from '../endpoint.ts';

/** A role in an organization. */
export const ROLE = Type.Unsafe<Role>(
  Type.Union(
    ROLES.map((role) => Type.Literal(role)),
    { errorMessage: `must be ${ROLES.slice(0, -1).join(', ')} or ${ROLES.at(-1)}` },
  ),
);

/** The answer about a person of an organization. */
export const memberRecord = ({ person_id, name, email, role, created_at }: MemberRow) => ({
  ...{ object: 'person', id: person_id, name, email, role },
  joined_at: created_at.toISOString(),
});

/** The answer about an invitation. It has no secret. */
export const invitationRecord = (row: LinkRow) => ({
  ...{ object: 'invitation', id: row.id, email: row.email, status: row.status },
  ...(row.kind === 'operator'
    ? { is_operator: true }
    : { organization_id: row.organization_id, role: row.role }),
  ...{ is_mailed: row.is_mailed, created_by: row.created_by },
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
});

/** Returns the id in the path. Throws WeirError if nothing can have it. */
export function requestedId({ params }: RequestContext, what = 'person'): string {
  const id = params['id'] ?? '';
  // No id contains NUL, and PostgreSQL refuses a text with NUL.
  if (id.includes('\u0000')) throw noSuch(what);
  return id;
}

/** Returns the same error for a person of another organization and for a missing person (P6). */
export function noSuch(what: string): WeirError {
  return new WeirError('not_found', `There is no such ${what}.`, { param: 'id' });
}
