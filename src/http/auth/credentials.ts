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
 * token. If `isNative` is true, the key may also be in the header that Anthropic's or Google's SDK
 * sends (spec: Authentication).
 */
export function readApiKey(request: Request, isNative: boolean): string | null {
  const { headers } = request;
  return (
    readBearerToken(request) ??
    (isNative ? (headers.get('x-api-key') ?? headers.get('x-goog-api-key')) : null)
  );
}
