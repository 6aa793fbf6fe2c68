import { useQuery } from '@tanstack/react-query';
import { type Action, may, type Role } from '../../src/access/actions.ts';
import { api, chooseOrganization } from './client.ts';
import { ApiError } from './error.ts';

/** Who is signed in (`GET /v1/auth/session`). */
export interface Session {
  readonly id: string;
  readonly expires_at: string;
  readonly person: { readonly id: string; readonly name: string; readonly email: string };
  readonly is_operator: boolean;
  readonly organizations: readonly { id: string; name: string; role: Role }[];
}

/** The session and the organization whose data the pages show. */
export interface Here {
  readonly session: Session;
  /** Undefined for an operator who is in no organization. */
  readonly organization: Session['organizations'][number] | undefined;
  /** True if the person may do an action in the organization. */
  readonly may: (action: Action) => boolean;
}

export const SESSION_KEY = ['session'] as const;

/** Returns the session; null if nobody is signed in. */
export async function readSession(): Promise<Session | null> {
  try {
    return await api.get<Session>('/v1/auth/session');
  } catch (error) {
    if (error instanceof ApiError && error.isSessionEnded) return null;
    throw error;
  }
}

/** The session, as the cache has it. The frame reads it before any page is shown. */
export function useSession(): Session | null | undefined {
  return useQuery({ queryKey: SESSION_KEY, queryFn: readSession, staleTime: 60_000 }).data;
}

/** Returns the session with the organization `wanted`, or else with its first. */
export function hereOf(session: Session, wanted: string | undefined): Here {
  const { organizations } = session;
  const organization = organizations.find(({ id }) => id === wanted) ?? organizations[0];
  chooseOrganization(organization?.id);
  return {
    session,
    organization,
    may: (action) => organization !== undefined && may({ member_role: organization.role }, action),
  };
}
