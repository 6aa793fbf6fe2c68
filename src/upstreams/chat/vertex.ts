import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { importPKCS8, SignJWT } from 'jose';
import { RetryableUpstreamError } from '../contract.ts';
import { untilAborted } from '../transport/deadlines.ts';
import { geminiChat } from './gemini.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const LIFE_S = 3_600;
/** A token is replaced this long before it expires. */
const MARGIN_MS = 60_000;
const TIMEOUT_MS = 10_000;
/** Largest number of cached tokens. If the cache is full, the oldest token is removed. */
const MAX_TOKENS = 100;

/** The members of a service account's key file that are needed to sign (Google Cloud docs: Service account keys). */
const ServiceAccount = Type.Object({
  client_email: Type.String(),
  private_key: Type.String(),
  private_key_id: Type.Optional(Type.String()),
  token_uri: Type.String(),
});

/**
 * Gemini on Google Cloud (Vertex AI docs: generateContent). A channel's key is the JSON of a service
 * account's key, or an access token. Its `base_url` ends in `/publishers/google`.
 */
export const vertexProtocol = geminiChat('vertex', async ({ target, signal }) => {
  const token = accessToken(target.api_key, target.timeout_ms);
  return { authorization: `Bearer ${await untilAborted(token, signal)}` };
});

interface Token {
  readonly value: Promise<string>;
  /** Time until which the token is used, in ms since the Unix epoch. */
  readonly until: number;
}

const tokens = new Map<string, Token>();

/**
 * Returns the access token for a channel's key. A key that is not JSON is itself the token. For the
 * JSON of a service account, returns the cached token, or fetches a new one.
 */
function accessToken(api_key: string, timeout_ms: number): Promise<string> {
  if (!api_key.trimStart().startsWith('{')) return Promise.resolve(api_key);
  const known = tokens.get(api_key);
  if (known && known.until > Date.now()) return known.value;
  const value = exchange(api_key, Math.min(timeout_ms, TIMEOUT_MS));
  tokens.set(api_key, { value, until: Date.now() + LIFE_S * 1_000 - MARGIN_MS });
  if (tokens.size > MAX_TOKENS) tokens.delete(tokens.keys().next().value ?? '');
  // A failed fetch is not cached: the next call fetches again.
  value.catch(() => tokens.delete(api_key));
  return value;
}

/**
 * Exchanges a signed claim for a token (RFC 7523; Google Identity docs: OAuth 2.0 for server to
 * server). Throws RetryableUpstreamError if this fails.
 */
async function exchange(api_key: string, timeout_ms: number): Promise<string> {
  try {
    const account: unknown = JSON.parse(api_key);
    if (!Value.Check(ServiceAccount, account)) throw new Error('the key is not a service account');
    const { client_email, private_key, private_key_id, token_uri } = account;
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', ...(private_key_id ? { kid: private_key_id } : {}) })
      .setIssuer(client_email)
      .setAudience(token_uri)
      .setIssuedAt()
      .setExpirationTime(`${LIFE_S}s`)
      .sign(await importPKCS8(private_key, 'RS256'));
    const response = await fetch(token_uri, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion,
      }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeout_ms),
    });
    const { access_token } = (await response.json()) as { access_token?: unknown };
    if (response.ok && typeof access_token === 'string') return access_token;
    throw new Error(`the token request failed with status ${response.status}`);
  } catch (error) {
    const failure = error instanceof DOMException ? 'timeout' : 'auth';
    throw new RetryableUpstreamError(failure, `no access token: ${String(error)}`);
  }
}
