import type { ErrorEvidence } from './evidence.ts';

const MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
/** OpenAI, Groq and Google write the wait into the message: `try again in 7m12.5s`. */
const IN_WORDS = /(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i;

/**
 * Returns the wait that an upstream requests, ms: `retry-after-ms`, or `Retry-After` in seconds or
 * as a date.
 */
export function readRetryAfterMs(headers: Pick<Headers, 'get'>): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms'));
  if (Number.isFinite(milliseconds) && milliseconds > 0) return milliseconds;
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** Returns the wait that an error response requests in its headers, members or words, ms. */
export function readWaitMs(
  headers: Pick<Headers, 'get'>,
  { retry_after_ms, message }: ErrorEvidence,
): number | undefined {
  return readRetryAfterMs(headers) ?? retry_after_ms ?? waitInWords(message);
}

function waitInWords(message: string): number | undefined {
  const [, text] = IN_WORDS.exec(message) ?? [];
  if (text === undefined) return undefined;
  let wait_ms = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gi)) {
    wait_ms += Number(number) * MS[(unit ?? 's').toLowerCase() as keyof typeof MS];
  }
  return Math.ceil(wait_ms);
}
