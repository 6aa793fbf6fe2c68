/** The names of Weir's cookies begin so: `weir.session_token`. */
export const COOKIE_PREFIX = 'weir';

const SESSION_COOKIE = /(?:^|;\s*)(?:__Secure-)?weir\.session_token=/;

/** True if a request has the cookie of a session. */
export function hasSessionCookie({ headers }: Request): boolean {
  const cookie = headers.get('cookie');
  return cookie !== null && SESSION_COOKIE.test(cookie);
}
