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
