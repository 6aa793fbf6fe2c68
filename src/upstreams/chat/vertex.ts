import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { importPKCS8, SignJWT } from 'jose';
import { RetryableUpstreamError, type UpstreamTarget } from '../contract.ts';
import { untilAborted } from '../transport/deadlines.ts';
import { parseObject, type ResponseHead, requestWhole } from '../transport/exchange.ts';
import { fieldsBody } from '../transport/request-body.ts';
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
export const vertexProtocol = geminiChat('vertex', async ({ target, signal }) => ({
  authorization: `Bearer ${await untilAborted(accessToken(target), signal)}`,
}));

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
function accessToken(target: UpstreamTarget): Promise<string> {
  const { api_key } = target;
  if (!api_key.trimStart().startsWith('{')) return Promise.resolve(api_key);
  const known = tokens.get(api_key);
  if (known && known.until > Date.now()) return known.value;
  const value = exchange(target);
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
async function exchange({ api_key, timeout_ms, transport }: UpstreamTarget): Promise<string> {
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
    const fields = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion,
    });
    return await requestWhole(
      {
        target: { timeout_ms: Math.min(timeout_ms, TIMEOUT_MS), transport },
        // Several calls wait for one token, so none of their signals ends the request.
        signal: { aborted: false, reason: undefined },
      },
      {
        ...{ method: 'POST', url: token_uri, headers: {}, body: fieldsBody(fields) },
        ...{ pool: 'calls', may_repeat: true },
      },
      tokenIn,
    );
  } catch (error) {
    const isUpstream = error instanceof RetryableUpstreamError;
    const failure = isUpstream && error.failure === 'timeout' ? 'timeout' : 'auth';
    throw new RetryableUpstreamError(failure, `no access token: ${String(error)}`);
  }
}

/** Returns the access token in the response to a token request. Throws if the request failed. */
function tokenIn({ ok, status }: ResponseHead, text: string): string {
  if (!ok) throw new Error(`the token request failed with status ${status}`);
  const { access_token } = parseObject(text);
  if (typeof access_token === 'string') return access_token;
  throw new Error('the answer to the token request has no token');
}
