import type { ClientProtocol } from '../../protocols/names.ts';

/**
 * Returns the token of `Authorization: Bearer`; null if the header is missing or has another
 * scheme.
 */
export function readBearerToken({ headers }: Request): string | null {
  const header = headers.get('authorization');
  return header && /^Bearer /i.test(header) ? header.slice(7).trim() : null;
}

/**
 * Returns the API key of an inference request; null if the request has none. The key is the Bearer
 * token. On routes of Anthropic's and Google's protocols, the key may also be in the header that their
 * SDKs send (spec: Authentication).
 */
export function readApiKey(request: Request, protocol: ClientProtocol): string | null {
  const { headers } = request;
  const isNative = protocol === 'anthropic' || protocol === 'gemini';
  return (
    readBearerToken(request) ??
    (isNative ? (headers.get('x-api-key') ?? headers.get('x-goog-api-key')) : null)
  );
}

/** The headers in which clients of any vendor send an API key. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'] as const;
/** The header in which a person who is signed in names the API key of a call, by its id. */
export const KEY_ID_HEADER = 'weir-key';

/**
 * Returns the id of the API key with which a person calls a model; undefined if the request has none, or
 * has a credential of its own, which comes first.
 */
export function readNamedKey({ headers }: Request): string | undefined {
  const key_id = headers.get(KEY_ID_HEADER);
  if (key_id === null || KEY_HEADERS.some((name) => headers.has(name))) return undefined;
  return key_id;
}
