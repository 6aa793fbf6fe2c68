import type { Logger } from 'pino';
import type { Sql } from '../../db/client.ts';
import { isInvited, revokePending } from '../../db/people/links.ts';
import { countOperators, hasAccount } from '../../db/people/people.ts';
import { parseCidrList } from '../config/cidr-list.ts';
import { ConfigurationError, type Environment } from '../config/environment.ts';
import type { SecretKey } from '../config/secret-key.ts';
import type { WrongCredentials } from '../http/auth/wrong-credentials.ts';
import { type OidcSettings, SignInLibrary } from '../http/sign-in/library.ts';
import { linkUrl, makeLink } from '../http/sign-in/new-link.ts';
import type { PeopleParts } from '../http/sign-in/parts.ts';
import { PersonSessions } from '../http/sign-in/person-sessions.ts';
import { Mailer } from '../mail/mailer.ts';
import type { Databases } from './database.ts';
import { logError } from './log.ts';

/** The number of the advisory lock of the first operator's link. Any constant works. */
const FIRST_OPERATOR_LOCK = 7_301_903;

/** Builds what the routes about people need. Throws ConfigurationError if a setting lacks another. */
export function openPeople(
  environment: Environment,
  databases: Databases,
  key: SecretKey,
  wrongCredentials: WrongCredentials,
  log: Logger,
): PeopleParts {
  const { sql, orm } = databases.requests;
  const { WEIR_PUBLIC_URL: public_url, WEIR_TRUSTED_PROXIES: proxies } = environment;
  const oidc = oidcOf(environment);
  const library = new SignInLibrary({
    ...{ orm, key: key.for('sign-in'), public_url, oidc },
    isInvited: (email) => isInvited(sql, email),
    hasAccount: (...account) => hasAccount(sql, ...account),
    warn: (message) => log.warn({ message }, 'a sign-in failed'),
  });
  const sessions = new PersonSessions({
    ...{ sql, library, public_url },
    proxies: proxies === undefined ? [] : parseCidrList(proxies),
  });
  return {
    ...{ sql, sessions, library, wrongCredentials, public_url, mailer: mailerOf(environment) },
    has_oidc: oidc !== undefined,
    onError: (error) => logError(log, error),
  };
}

/** Returns what sends mails; undefined if none is configured. Throws ConfigurationError if a setting lacks another. */
export function mailerOf(environment: Environment): Mailer | undefined {
  const { WEIR_SMTP_URL: url, WEIR_MAIL_FROM: from, WEIR_PUBLIC_URL: public_url } = environment;
  if (url === undefined) return undefined;
  // Without a fixed address, the links in mails would name whatever host a request names.
  if (from !== undefined && public_url !== undefined) return new Mailer(url, from);
  throw new ConfigurationError('WEIR_SMTP_URL needs WEIR_MAIL_FROM and WEIR_PUBLIC_URL.');
}

function oidcOf(environment: Environment): OidcSettings | undefined {
  const {
    WEIR_OIDC_ISSUER: issuer,
    WEIR_OIDC_CLIENT_ID: client_id,
    WEIR_OIDC_CLIENT_SECRET: client_secret,
    WEIR_PUBLIC_URL: public_url,
  } = environment;
  if (issuer === undefined) return undefined;
  if (client_id === undefined || client_secret === undefined || public_url === undefined) {
    throw new ConfigurationError(
      'WEIR_OIDC_ISSUER needs WEIR_OIDC_CLIENT_ID, WEIR_OIDC_CLIENT_SECRET and WEIR_PUBLIC_URL.',
    );
  }
  return { issuer, client_id, client_secret };
}

/**
 * Returns a link with which the first operator signs in; undefined if the installation has an operator.
 * Earlier such links end. So no default password exists, and a link that was lost does no harm.
 */
export async function firstOperatorLink(sql: Sql, origin: string): Promise<string | undefined> {
  if ((await countOperators(sql)) > 0) return undefined;
  const { secret } = await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${FIRST_OPERATOR_LOCK})`;
    await revokePending(tx, 'operator', null);
    return makeLink(tx, { kind: 'operator', email: null, is_mailed: false, created_by: null });
  });
  return linkUrl(origin, secret);
}
