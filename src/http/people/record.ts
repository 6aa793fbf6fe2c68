import { Type } from '@sinclair/typebox';
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
