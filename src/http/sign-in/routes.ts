import {
  endSession,
  endSessions,
  readPasswordHash,
  storePassword,
} from '../../../db/people/people.ts';
import { newId } from '../../../db/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { requireSameOrigin } from '../auth/same-origin.ts';
import { readOptionalObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import { notServedHere } from '../not-served.ts';
import type { PathMethods } from '../route.ts';
import type { Dashboard } from '../web/build.ts';
import { askedPage } from '../web/routes.ts';
import { checkAttempt, readSignInBody, signInByPassword } from './by-password.ts';
import { LinkRoutes } from './links.ts';
import { OidcRoutes } from './oidc.ts';
import type { PeopleParts } from './parts.ts';
import { emailOf, validateNothing, validatePassword, validateSignIn } from './schema.ts';
import { auditEverywhere, noteSignIn, sessionAnswer, withCookies } from './session-answer.ts';

/** The routes with which people sign in and out. */
class SignInRoutes {
  constructor(private readonly people: () => PeopleParts) {}

  /** `POST /v1/auth/sign-in` */
  readonly signIn: Handler = async (context) => {
    const parts = this.people();
    requireSameOrigin(context.request, parts.public_url);
    const { email, password } = validateSignIn(await readSignInBody(context));
    const cookies = await signInByPassword(parts, context, emailOf(email), password);
    const signedIn = await noteSignIn(parts, context, cookies, 'password');
    return withCookies(await sessionAnswer(parts.sql, signedIn), cookies);
  };

  /** `GET /v1/auth/session`. It prolongs the session. */
  readonly session: Handler = async (context) => {
    const { sessions, sql, library } = this.people();
    const found = await sessions.require(context);
    const cookies = await library.refresh(sessions.clientOf(context));
    return withCookies(await sessionAnswer(sql, found), cookies);
  };

  /** `GET /v1/auth/methods`: what the sign-in page offers. */
  readonly methods: Handler = () => {
    const { has_oidc, mailer } = this.people();
    const methods = { password: true, oidc: has_oidc, mail: mailer !== undefined };
    return json({ object: 'sign_in_methods', ...methods });
  };

  /** `POST /v1/auth/sign-out` */
  readonly signOut: Handler = async (context) => {
    const { sessions, sql, library } = this.people();
    const found = await sessions.require(context);
    validateNothing(await readSignInBody(context, readOptionalObject));
    const actor = sessions.actorOf(context, 'person', found);
    await sql.begin(async (tx) => {
      if (!(await endSession(tx, found.session.id))) return;
      await auditEverywhere(tx, actor, 'session.end', found.person.id);
    });
    const cookies = await library.forget(sessions.clientOf(context));
    return withCookies(json({ object: 'session', id: found.session.id, ended: true }), cookies);
  };

  /** `POST /v1/auth/password`. It ends the other sessions of the person. */
  readonly changePassword: Handler = async (context) => {
    const parts = this.people();
    const { sessions, sql, library } = parts;
    const found = await sessions.require(context);
    const { person, session } = found;
    const { current_password, new_password } = validatePassword(await readSignInBody(context));
    await checkAttempt(parts, context, person.email, async () => {
      const hash = await readPasswordHash(sql, person.id);
      return hash !== undefined && (await library.verify(hash, current_password));
    }).catch((error: unknown) => {
      if (!(error instanceof WeirError) || error.id !== 'sign_in_failed') throw error;
      throw new WeirError('invalid_request', 'The current password is wrong.', {
        param: 'current_password',
        hint: 'If you have no password yet, POST /v1/auth/password-reset.',
      });
    });
    const password_hash = await library.hash(new_password);
    const actor = sessions.actorOf(context, 'person', found);
    await sql.begin(async (tx) => {
      await storePassword(tx, person.id, { id: newId('account'), password_hash });
      const ended_sessions = await endSessions(tx, person.id, session.id);
      await auditEverywhere(tx, actor, 'person.password', person.id, { ended_sessions });
    });
    return withCookies(await sessionAnswer(sql, found), []);
  };
}

/** The routes below `/v1/auth`. */
export function signInRoutes(app: {
  readonly people?: PeopleParts;
  readonly dashboard?: Dashboard | undefined;
}): PathMethods[] {
  const people = () => app.people ?? notServedHere();
  const routes = new SignInRoutes(people);
  const links = new LinkRoutes(people);
  const oidc = new OidcRoutes(people);
  // A browser that opens a link gets a page, which then asks for the link as a program would.
  const showLink: Handler = (context) =>
    askedPage(app.dashboard, app.people?.sessions, context) ?? links.show(context);
  return [
    ['/v1/auth/methods', { GET: routes.methods }],
    ['/v1/auth/sign-in', { POST: routes.signIn }],
    ['/v1/auth/sign-out', { POST: routes.signOut }],
    ['/v1/auth/session', { GET: routes.session }],
    ['/v1/auth/password', { POST: routes.changePassword }],
    ['/v1/auth/password-reset', { POST: links.requestReset }],
    ['/v1/auth/links/:link', { GET: showLink, POST: links.use }],
    ['/v1/auth/oidc/start', { GET: oidc.start }],
    ['/v1/auth/oidc/callback', { GET: oidc.callback }],
  ];
}
