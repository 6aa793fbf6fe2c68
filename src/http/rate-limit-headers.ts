import type { ErrorFamily } from '../errors/render.ts';
import type { LatestLimit } from '../inference/shared-headers.ts';

/** What is left of a limit of requests per minute, after one request was counted. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** The time until the window ends and the limit starts anew, ms. */
  readonly reset_ms: number;
}

/** Holds the state of the limit that comes next to refuse a request. A response shows it. */
export interface ShownRateLimit {
  rate_limit?: RateLimitState | undefined;
}

/** Sets the shown state, if fewer requests remain than of the limit that is shown already. */
export function showTighter(shown: ShownRateLimit, state: RateLimitState): void {
  const { rate_limit } = shown;
  if (!rate_limit || state.remaining <= rate_limit.remaining) shown.rate_limit = state;
}

const MS_PER_S = 1_000;
const S_PER_MINUTE = 60;

/** The headers in which programs read what is left of a limit, so that they pace themselves. */
const NAMES = {
  // OpenAI docs: Rate limits, Rate limits in headers.
  openai: {
    limit: 'x-ratelimit-limit-requests',
    remaining: 'x-ratelimit-remaining-requests',
    reset: 'x-ratelimit-reset-requests',
  },
  // Anthropic docs: Rate limits, Response headers.
  native: {
    limit: 'anthropic-ratelimit-requests-limit',
    remaining: 'anthropic-ratelimit-requests-remaining',
    reset: 'anthropic-ratelimit-requests-reset',
  },
};

/**
 * Sets Weir's own limit in the headers of a response. Weir limits requests, not tokens, so only the headers of requests
 * are set. Gemini's interface has no such headers. Without a state, removes what the headers say of another request.
 * `latest` is what they say of it: most requests have its limit and its window, and to set a header costs more than to
 * compare two numbers.
 */
export function setRateLimit(
  headers: Headers,
  state: RateLimitState | undefined,
  family: ErrorFamily,
  latest: LatestLimit = {},
): void {
  if (family !== 'openai' && family !== 'native') return;
  const names = NAMES[family];
  if (!state) {
    for (const name of Object.values(names)) headers.delete(name);
    latest.limit = latest.reset_s = undefined;
    return;
  }
  const { limit, remaining, reset_ms } = state;
  headers.set(names.remaining, String(remaining));
  if (latest.limit !== limit) {
    latest.limit = limit;
    headers.set(names.limit, String(limit));
  }
  const from_ms = family === 'openai' ? 0 : Date.now();
  const reset_s = Math.ceil((from_ms + reset_ms) / MS_PER_S);
  if (latest.reset_s === reset_s) return;
  latest.reset_s = reset_s;
  headers.set(names.reset, family === 'openai' ? openaiDuration(reset_s) : rfc3339(reset_s));
}

/** Returns a time in seconds as OpenAI writes it, e.g. `12s` or `1m0s`. Some clients read no fraction. */
function openaiDuration(seconds: number): string {
  if (seconds < S_PER_MINUTE) return `${seconds}s`;
  return `${Math.floor(seconds / S_PER_MINUTE)}m${seconds % S_PER_MINUTE}s`;
}

/** Returns a time, seconds since the Unix epoch, e.g. as `2026-01-31T12:00:00Z` (RFC 3339). */
function rfc3339(seconds: number): string {
  return `${new Date(seconds * MS_PER_S).toISOString().slice(0, -'.000Z'.length)}Z`;
}
