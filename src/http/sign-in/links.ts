import { type Actor, WEIR } from '../../../db/audit/entry.ts';
import { appendAudit } from '../../../db/audit/log.ts';
import { countAttempt } from '../../../db/people/attempts.ts';

import { findLink, type LinkRow, revokePending, useLink } from '../../../db/people/links.ts';
import { findOrganizationName } from '../../../db/people/members.ts';
import {
  endSessions,
  findPerson,
  findPersonByEmail,
  insertPerson,
  markEmailVerified,
  storePassword,
} from '../../../db/people/people.ts';
import { hashCredential, newId } from '../../../db/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { requireSameOrigin } from '../auth/same-origin.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { acceptInvitation, invalidLink } from './accept.ts';
import { readSignInBody, signInByPassword } from './by-password.ts';
import { mailLink, makeLink } from './new-link.ts';
import type { PeopleParts } from './parts.ts';
import { emailOf, validateLinkUse, validateReset } from './schema.ts';
import { auditEverywhere, noteSignIn, sessionAnswer, withCookies } from './session-answer.ts';

const HOUR_S = 3_600;
/** Mails for one account. Further requests get the same answer, and send no mail. */
const MAILS = { most: 5, window_s: HOUR_S };
/** Requests for a mail from one address. */
const REQUESTS = { most: 30, window_s: HOUR_S };

/** The routes of links that work once. */
export class LinkRoutes {
  constructor(private readonly people: () => PeopleParts) {}

  /** `GET /v1/auth/links/{link}`. It does not use the link up: programs that read mails open links. */
  readonly show: Handler = async (context) => {
    const { sql } = this.people();
    const { kind, email, role, organization_id, expires_at } = await this.find(context);
    const name =
      organization_id === null ? undefined : await findOrganizationName(sql, organization_id);
    return unkept(
      json({
        ...{ object: 'link', kind, email, role },
        organization: name === undefined ? null : { id: organization_id, name },
        expires_at: expires_at.toISOString(),
      }),
    );
  };

  /** `POST /v1/auth/links/{link}`. Uses a link up, and signs its person in. */
  readonly use: Handler = async (context) => {
    const parts = this.people();
    requireSameOrigin(context.request, parts.public_url);
    const body = validateLinkUse(await readSignInBody(context));
    const link = await this.find(context);
    if (link.kind === 'password') return this.setPassword(parts, context, link, body.password);
    return this.accept(parts, context, link, body);
  };

  /**
   * `POST /v1/auth/password-reset`. The answer is the same for every address, and does not wait for the
   * work, so that neither shows whether the address belongs to somebody.
   */
  readonly requestReset: Handler = async (context) => {
    const parts = this.people();
    const { sql, sessions, mailer, onError } = parts;
    requireSameOrigin(context.request, parts.public_url);
    const email = emailOf(validateReset(await readSignInBody(context)).email);
    if (!mailer) {
      throw new WeirError('invalid_request', 'This installation sends no mails.', {
        hint: 'Ask an operator for a link that sets a new password.',
      });
    }
    const { address } = sessions.clientOf(context);
    const retry_after = await countAttempt(sql, `reset-from ${address}`, REQUESTS);
    if (retry_after > 0) {
      throw new WeirError('rate_limit_exceeded', 'Too many mails were asked for.', { retry_after });
    }
    this.mailReset(parts, context, email).catch(onError);
    return unkept(json({ object: 'password_reset', status: 'accepted' }, 202));
  };

  private async mailReset(
    parts: PeopleParts,
    { request_id }: RequestContext,
    email: string,
  ): Promise<void> {
    const { sql } = parts;
    if ((await countAttempt(sql, `reset ${email}`, MAILS)) > 0) return;
    const person = await findPersonByEmail(sql, email);
    if (!person) return;
    const made = await sql.begin(async (tx) => {
      const link = { kind: 'password', email, is_mailed: true, created_by: null } as const;
      const made_link = await makeLink(tx, { ...link, person_id: person.id });
      const actor: Actor = { ...WEIR, label: 'somebody', request_id };
      await auditEverywhere(tx, actor, 'person.password_link', person.id);
      return made_link;
    });
    await mailLink(parts, made);
  }

  /** Returns the link of a path. Throws WeirError if it does not work. */
  private async find({ params }: RequestContext): Promise<LinkRow> {
    const secret = params['link'] ?? '';
    const link = secret.startsWith('lk-')
      ? await findLink(this.people().sql, hashCredential(secret))
      : undefined;
    if (link?.status !== 'pending') throw invalidLink();
    return link;
  }

  private async setPassword(
    parts: PeopleParts,
    context: RequestContext,
    link: LinkRow,
    password: string | undefined,
  ): Promise<Response> {
    const { sql, library, sessions } = parts;
    if (password === undefined) throw missing('password');
    const person = await findPerson(sql, link.person_id ?? '');
    if (!person) throw invalidLink();
    const password_hash = await library.hash(password);
    const actor = sessions.actorOf(context, 'person', { person });
    await sql.begin(async (tx) => {
      if (!(await useLink(tx, link.id))) throw invalidLink();
      await storePassword(tx, person.id, { id: newId('account'), password_hash });
      if (link.is_mailed) await markEmailVerified(tx, person.id);
      await revokePending(tx, 'password', person.email);
      const ended_sessions = await endSessions(tx, person.id);
      await auditEverywhere(tx, actor, 'person.password', person.id, { ended_sessions });
    });
    return this.welcome(parts, context, person.email, password);
  }

  /**
   * Accepts an invitation. An invitation proves nothing about its user, because it may have been shown
   * to the inviter. So whoever has an account must be signed in, or send the password of the account.
   */
  private async accept(
    parts: PeopleParts,
    context: RequestContext,
    link: LinkRow,
    body: ReturnType<typeof validateLinkUse>,
  ): Promise<Response> {
    const { sql, library, sessions } = parts;
    const email = emailFor(link, body.email);
    const signedIn = await sessions.find(context);
    if (signedIn?.person.email === email) {
      const actor = sessions.actorOf(context, 'person', signedIn);
      await sql.begin((tx) => acceptInvitation(tx, link.id, signedIn.person, actor));
      const person = (await findPerson(sql, signedIn.person.id)) ?? signedIn.person;
      return withCookies(await sessionAnswer(sql, { ...signedIn, person }), []);
    }
    const { password, name } = body;
    if (password === undefined) throw missing('password');
    const known = await findPersonByEmail(sql, email);
    if (known) {
      const cookies = await signInByPassword(parts, context, email, password);
      const actor = sessions.actorOf(context, 'person', { person: known });
      await sql.begin((tx) => acceptInvitation(tx, link.id, known, actor));
      const found = await noteSignIn(parts, context, cookies, 'password');
      return withCookies(await sessionAnswer(sql, found), cookies);
    }
    if (name === undefined) throw missing('name');
    const password_hash = await library.hash(password);
    const person = { id: newId('person'), name: name.trim() || email, email };
    const actor = sessions.actorOf(context, 'person', { person });
    await sql.begin(async (tx) => {
      const account = { id: newId('account'), password_hash };
      const row = { ...person, email_verified: link.is_mailed };
      if (!(await insertPerson(tx, row, account))) throw invalidLink();
      await acceptInvitation(tx, link.id, person, actor);
      await appendAudit(tx, {
        ...{ organization_id: null, actor, action: 'person.create', subject_id: person.id },
        ...{ before: null, after: { email, name: person.name } },
      });
    });
    return this.welcome(parts, context, email, password);
  }

  /** Signs in a person whose password was just chosen. */
  private async welcome(
    parts: PeopleParts,
    context: RequestContext,
    email: string,
    password: string,
  ): Promise<Response> {
    const cookies = await parts.library.signIn(email, password, parts.sessions.clientOf(context));
    if (!cookies) throw new Error('the new password was not accepted');
    const found = await noteSignIn(parts, context, cookies, 'link');
    return withCookies(await sessionAnswer(parts.sql, found), cookies);
  }
}

/** Whom a link is for. The link of the first operator is for whoever has it. */
function emailFor({ email }: LinkRow, sent: string | undefined): string {
  if (email === null) {
    if (sent === undefined) throw missing('email');
    return emailOf(sent);
  }
  if (sent === undefined || emailOf(sent) === email) return email;
  throw new WeirError('invalid_request', 'This link is for another e-mail address.', {
    param: 'email',
  });
}

function missing(param: string): WeirError {
  return new WeirError('invalid_request', `${param} is required.`, { param });
}

/** A page with such an answer tells no other site its address, which has the secret. */
function unkept(response: Response): Response {
  response.headers.set('cache-control', 'no-store');
  response.headers.set('referrer-policy', 'no-referrer');
  return response;
}
