import { countAttempt, forgetAttempts } from '../../../db/people/attempts.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject, type readOptionalObject } from '../body.ts';
import type { RequestContext } from '../endpoint.ts';
import type { PeopleParts } from './parts.ts';

/**
 * Attempts to sign in to one account, from all addresses together. The count ends with the window, so
 * nobody can lock a person out for longer, and sessions that exist go on.
 */
const ATTEMPTS = { most: 10, window_s: 15 * 60 };
/** The bodies of people who are not signed in are counted under this id. */
const SIGN_INS = 'sign-ins';

/** Reads the JSON body of a request about signing in. */
export async function readSignInBody(
  { request, bytes }: RequestContext,
  read: typeof readOptionalObject = readJsonObject,
): Promise<Record<string, unknown>> {
  return (await read(request, bytes.of(SIGN_INS), MAX_MANAGEMENT_BODY_BYTES)).value;
}

/**
 * Runs an attempt to prove who somebody is, and returns what it proved. Throws WeirError
 * `sign_in_failed` if the attempt proved nothing, and `rate_limit_exceeded` after too many attempts from
 * one address or to one account, which need not exist.
 */
export function checkAttempt<Proof>(
  { sql, sessions, wrongCredentials }: PeopleParts,
  context: RequestContext,
  email: string,
  attempt: () => Promise<Proof | undefined | false>,
): Promise<Proof> {
  const { address } = sessions.clientOf(context);
  const subject = `sign-in ${email}`;
  // Simultaneous attempts with the same name would share one check, so each has its own name.
  return wrongCredentials.check(address, `sign-in ${context.uuid}`, async () => {
    const retry_after = await countAttempt(sql, subject, ATTEMPTS);
    if (retry_after > 0) {
      const message = 'There were too many attempts to sign in to this account.';
      throw new WeirError('rate_limit_exceeded', message, { retry_after });
    }
    const proof = await attempt();
    if (proof === undefined || proof === false) {
      throw new WeirError('sign_in_failed', 'The e-mail address or the password is wrong.', {
        hint: 'POST /v1/auth/password-reset sends a link for a new password.',
      });
    }
    await forgetAttempts(sql, subject);
    return proof;
  });
}

/** Returns the cookies of a new session. Throws WeirError like `checkAttempt`. */
export function signInByPassword(
  parts: PeopleParts,
  context: RequestContext,
  email: string,
  password: string,
): Promise<string[]> {
  const client = parts.sessions.clientOf(context);
  return checkAttempt(parts, context, email, () => parts.library.signIn(email, password, client));
}
