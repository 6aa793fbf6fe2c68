import type { ErrorEvidence } from './evidence.ts';

const MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** OpenAI, Groq and Google write `try again in 7m12.5s`, and Azure `retry after 7 seconds`. */
const BEFORE_WAIT = /(?:try again|retry) (?:in|after) (?=\d)/i;
/** A part of a wait: `7m`, `12.5s`, `7 seconds`. */
const PART =
  /(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])(?:,? (?=\d)| and (?=\d))?/iy;

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
  const found = BEFORE_WAIT.exec(message);
  if (!found) return undefined;
  let wait_ms: number | undefined;
  PART.lastIndex = found.index + found[0].length;
  for (let part = PART.exec(message); part; part = PART.exec(message)) {
    const [, number, unit = 's'] = part;
    wait_ms = (wait_ms ?? 0) + Number(number) * MS[shortUnit(unit.toLowerCase())];
  }
  return wait_ms === undefined ? undefined : Math.ceil(wait_ms);
}

/** `minutes` → `m`, `milliseconds` → `ms`. */
function shortUnit(unit: string): keyof typeof MS {
  return /^(?:ms|milli)/.test(unit) ? 'ms' : (unit[0] as keyof typeof MS);
}
