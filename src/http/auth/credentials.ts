/** The token of `Authorization: Bearer`; null if the header is missing or of another scheme. */
export function readBearerToken({ headers }: Request): string | null {
  const header = headers.get('authorization');
  return header && /^Bearer /i.test(header) ? header.slice(7).trim() : null;
}

/**
 * The API key of an inference request: Bearer, or, on native routes, the header that Anthropic's or
 * Google's SDK sends (spec: Authentication). null if there is none.
 */
export function readApiKey(request: Request, isNative: boolean): string | null {
  const { headers } = request;
  return (
    readBearerToken(request) ??
    (isNative ? (headers.get('x-api-key') ?? headers.get('x-goog-api-key')) : null)
  );
}
