import type { Actor } from '../../../db/audit/entry.ts';
import type { Sql } from '../../../db/client.ts';
import type { PersonOrganization } from '../../../db/people/members.ts';
import type { PersonRow } from '../../../db/people/people.ts';
import type { LiveSession } from '../../../db/people/sessions.ts';
import type { Operator } from '../../access/manager.ts';
import type { Cidr } from '../../config/cidr-list.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Member } from '../auth/authentication.ts';
import { clientAddress } from '../auth/client-address.ts';
import { hasSessionCookie } from '../auth/cookies.ts';
import { requireSameOrigin } from '../auth/same-origin.ts';
import type { RequestContext } from '../endpoint.ts';
import type { SignInClient, SignInLibrary } from './library.ts';
import { SessionReader } from './session-reader.ts';

/** The header that names the organization of a request, if its person is in several. */
const ORGANIZATION_HEADER = 'weir-organization';

/** The same, as a parameter of the routes that a link opens: a link sends no header. */
const ORGANIZATION_PARAMETER = 'organization_id';

/** The parts of `PersonSessions`. */
export interface PersonSessionParts {
  readonly sql: Sql;
  readonly library: SignInLibrary;
  readonly public_url: string | undefined;
  readonly proxies: readonly Cidr[];
}

/** A person who is signed in. */
export type SignedIn = Pick<LiveSession, 'session' | 'person'>;

/**
 * Finds the person who sent a request, by the cookie of the session. The session, the role and the rights
 * of an operator are read from the database for each request, so a change of them counts at once on every
 * replica.
 */
export class PersonSessions {
  private readonly reader: SessionReader;

  constructor(private readonly parts: PersonSessionParts) {
    this.reader = new SessionReader(parts.sql, parts.library);
  }

  /** What the library needs to know of a request. */
  clientOf(context: RequestContext): SignInClient {
    const { headers } = context.request;
    return {
      cookie: headers.get('cookie'),
      user_agent: headers.get('user-agent'),
      address: clientAddress(context, this.parts.proxies),
    };
  }

  /** Returns the person of a request; undefined if it has no cookie, or a forged or ended session. */
  async find(context: RequestContext): Promise<LiveSession | undefined> {
    if (!hasSessionCookie(context.request)) return undefined;
    requireSameOrigin(context.request, this.parts.public_url);
    return this.reader.find(this.clientOf(context));
  }

  /** Returns the person of a request. Throws WeirError `session_ended`. */
  async require(context: RequestContext): Promise<LiveSession> {
    const found = await this.find(context);
    if (found) return found;
    throw new WeirError('session_ended', 'You are not signed in.', {
      hint: 'Sign in with POST /v1/auth/sign-in.',
    });
  }

  /**
   * Returns the person of a request as a member of an organization. Throws WeirError: `session_ended`;
   * `access_denied` for an organization that the person is not in; `invalid_request` if the person is
   * in several and the request names none.
   */
  async requireMember(context: RequestContext): Promise<Member> {
    const { person, session, organizations } = await this.require(context);
    const { id, role, limit_role, status } = chosen(context.request, organizations);
    const manager = {
      ...{ organization_id: id, role: limit_role, token_id: person.id },
      rights: { member_role: role },
      actor: this.actorOf(context, 'person', { person, session }),
    };
    return { manager, organization_status: status };
  }

  /** Returns the person of a request as an operator. Throws WeirError. */
  async requireOperator(context: RequestContext): Promise<Operator> {
    const found = await this.require(context);
    if (found.person.is_operator) return { actor: this.actorOf(context, 'operator', found) };
    throw new WeirError('access_denied', 'Only operators of this installation may do this.', {
      hint: 'Ask an operator to invite you.',
    });
  }

  /** How the audit log names a person. */
  actorOf(
    context: RequestContext,
    kind: 'person' | 'operator',
    { person, session }: { person: Pick<PersonRow, 'id' | 'email'>; session?: { id: string } },
  ): Actor {
    const address = clientAddress(context, this.parts.proxies);
    const { request_id } = context;
    const credential_id = session?.id ?? null;
    return { kind, id: person.id, label: person.email, credential_id, address, request_id };
  }
}

function chosen(
  { headers, url }: Request,
  organizations: readonly PersonOrganization[],
): PersonOrganization {
  const wanted =
    headers.get(ORGANIZATION_HEADER) ?? new URL(url).searchParams.get(ORGANIZATION_PARAMETER);
  const [first, ...others] = organizations;
  const found = wanted === null ? first : organizations.find(({ id }) => id === wanted);
  if (!found) {
    const message =
      wanted === null ? 'You are in no organization.' : 'You are not in this organization.';
    throw new WeirError('access_denied', message, {
      param: ORGANIZATION_HEADER,
      hint: 'GET /v1/auth/session lists your organizations.',
    });
  }
  if (wanted === null && others.length > 0) {
    throw new WeirError('invalid_request', 'You are in several organizations.', {
      param: ORGANIZATION_HEADER,
      hint: `Send the id of one in the header ${ORGANIZATION_HEADER}. GET /v1/auth/session lists them.`,
    });
  }
  return found;
}
