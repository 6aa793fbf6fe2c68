import type { ErrorFamily } from '../errors/render.ts';

/** Paths that only one vendor's clients request. Their first matching pattern decides. */
const FAMILY_PATHS: readonly [path: RegExp, family: ErrorFamily][] = [
  [/\/publishers\/anthropic\//, 'native'],
  [/\/publishers\//, 'gemini'],
  [/^\/(?:upload\/)?v1(?:alpha|beta)/, 'gemini'],
  [/^(?:\/v1)*\/(?:messages|complete$)/, 'native'],
];

/**
 * Returns the error format that the client of a request reads, for paths that several vendors'
 * clients request. Google's SDKs send `x-goog-api-key` or `x-goog-api-client`. Anthropic's SDKs send
 * `anthropic-version`, and most of them `x-api-key`. All others read OpenAI's format.
 */
export function familyOfClient({ headers, url }: Request): ErrorFamily {
  if (headers.has('x-goog-api-key') || headers.has('x-goog-api-client')) return 'gemini';
  if (headers.has('anthropic-version') || headers.has('x-api-key')) return 'native';
  // A path in absolute form has an origin before it.
  const path = url.replace(/^[a-z]+:\/\/[^/]*/i, '');
  return FAMILY_PATHS.find(([pattern]) => pattern.test(path))?.[1] ?? 'openai';
}
