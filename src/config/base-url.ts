/**
 * The form of a channel's `base_url`, for editors that check `weir.yaml` with its JSON Schema.
 * `baseUrlProblem` is stricter, and says what is wrong.
 */
export const BASE_URL_PATTERN = '^https?://[^/@\\s?#\\\\]+(/[^\\s?#\\\\]*)?$';

const EXAMPLE = 'write e.g. https://api.example.com/v1';
const ORIGIN = /^https?:\/\/([^/?#]*)/;
/** A port at the end of the part between `https://` and the path. */
const PORT = /:([^:\]]*)$/;
const MAX_PORT = 65_535;

/**
 * Returns what is wrong with a channel's `base_url`, and what to write instead; undefined if Weir can
 * use it. Paths are appended to the address, so it must not have a query or a fragment. It is shown
 * to operators and in logs, so it must not have credentials. The text never quotes the address.
 */
export function baseUrlProblem(base_url: string): string | undefined {
  if (/[\s\\\p{Cc}]/u.test(base_url)) {
    return `must not have spaces, control characters or backslashes; ${EXAMPLE}`;
  }
  const [, authority] = ORIGIN.exec(base_url) ?? [];
  if (authority === undefined) return `must start with https:// or http://; ${EXAMPLE}`;
  if (authority.includes('@')) {
    return `must not have a user name or password; write the key in api_key, and ${EXAMPLE}`;
  }
  if (base_url.includes('?')) return 'must not have a query; leave out everything from the ?';
  if (base_url.includes('#')) return 'must not have a fragment; leave out everything from the #';
  const port = PORT.exec(authority)?.[1];
  if (port !== undefined && !isPort(port)) {
    return `must have a port from 1 to ${MAX_PORT}, or none; write e.g. https://api.example.com:8443/v1`;
  }
  if (authority === '' || !URL.canParse(base_url)) return `must name a host; ${EXAMPLE}`;
  return undefined;
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_PORT;
}
