import { countAttempt } from '../../../db/people/attempts.ts';
import { lockInvitationsFor } from '../../../db/people/links.ts';
import { listOrganizationsOf } from '../../../db/people/members.ts';
import { findPerson } from '../../../db/people/people.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Handler, RequestContext } from '../endpoint.ts';
import { acceptInvitation } from './accept.ts';
import type { PeopleParts } from './parts.ts';
import type { SignedIn } from './person-sessions.ts';
import { noteSignIn, withCookies } from './session-answer.ts';

/** Sign-ins that one address may begin. Each is a row until it ends, after ten minutes. */
const STARTS = { most: 100, window_s: 10 * 60 };
/** Where a person goes who named no page. */
const DEFAULT_PAGE = '/v1/auth/session';
/**
 * A path of this origin. Browsers read `//host` and `/\host` as addresses of another host, and leave tabs
 * and line ends out.
 */
const OWN_PATH = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/;

/** What the errors of the library mean for people. */
const REASONS: Readonly<Record<string, string>> = {
  account_not_linked:
    'An account with this e-mail address exists, and nothing has proved yet that it is yours.',
  unable_to_link_account: 'The account with this e-mail address belongs to another identity.',
  unable_to_create_user: 'Nobody invited this e-mail address.',
  signup_disabled: 'Nobody invited this e-mail address.',
  email_not_found: 'The identity provider did not say your e-mail address.',
  access_denied: 'You did not sign in at the identity provider.',
};

/** The routes with which people sign in at an identity provider (OpenID Connect). */
export class OidcRoutes {
  constructor(private readonly people: () => PeopleParts) {}

  /** `GET /v1/auth/oidc/start?return_to=/page` */
  readonly start: Handler = async (context) => {
    const { sql, library, sessions, public_url = '' } = this.requireParts();
    const page = new URL(context.request.url).searchParams.get('return_to') ?? DEFAULT_PAGE;
    if (!OWN_PATH.test(page) || page.length > 2_000) {
      throw new WeirError('invalid_request', 'return_to must be a path of this address.', {
        param: 'return_to',
        hint: 'Send e.g. return_to=/usage.',
      });
    }
    const client = sessions.clientOf(context);
    const retry_after = await countAttempt(sql, `oidc ${client.address}`, STARTS);
    if (retry_after > 0) {
      throw new WeirError('rate_limit_exceeded', 'Too many sign-ins were begun.', { retry_after });
    }
    const return_to = new URL(public_url).origin + page;
    const { url, cookies } = await library.startOidc(return_to, client);
    return withCookies(redirect(url), cookies);
  };

  /** `GET /v1/auth/oidc/callback`, to which the identity provider sends people back. */
  readonly callback: Handler = async (context) => {
    const parts = this.requireParts();
    const query = Object.fromEntries(new URL(context.request.url).searchParams);
    const ended = await parts.library.finishOidc(query, parts.sessions.clientOf(context));
    if ('error' in ended) {
      const message = REASONS[ended.error] ?? 'The sign-in at the identity provider failed.';
      throw new WeirError('sign_in_failed', message, {
        hint:
          ended.error === 'account_not_linked'
            ? 'POST /v1/auth/password-reset, use the link in the mail, and sign in again.'
            : 'Begin again with GET /v1/auth/oidc/start.',
      });
    }
    const signedIn = await noteSignIn(parts, context, ended.cookies, 'oidc');
    await this.acceptFirstInvitations(parts, context, signedIn);
    return withCookies(redirect(ended.return_to), ended.cookies);
  };

  /**
   * Accepts the invitations of a person who is new. The identity provider proved that the address, for
   * which the invitations are, is theirs.
   */
  private async acceptFirstInvitations(
    { sql, sessions }: PeopleParts,
    context: RequestContext,
    signedIn: SignedIn,
  ): Promise<void> {
    const actor = sessions.actorOf(context, 'person', signedIn);
    await sql.begin(async (tx) => {
      const person = await findPerson(tx, signedIn.person.id);
      if (!person?.email_verified || person.is_operator) return;
      if ((await listOrganizationsOf(tx, person.id)).length > 0) return;
      for (const { id } of await lockInvitationsFor(tx, person.email)) {
        await acceptInvitation(tx, id, person, actor);
      }
    });
  }

  private requireParts(): PeopleParts {
    const parts = this.people();
    if (parts.has_oidc) return parts;
    throw new WeirError('not_found', 'This installation has no identity provider.', {
      hint: 'Sign in with POST /v1/auth/sign-in. Operators configure WEIR_OIDC_ISSUER.',
    });
  }
}

function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}
