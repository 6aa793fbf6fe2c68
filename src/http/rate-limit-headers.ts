import type { ErrorFamily } from '../errors/render.ts';

/** What is left of a limit of requests per minute, after one request was counted. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** The time until the window ends and the limit starts anew, ms. */
  readonly reset_ms: number;
}

/** Holds the state of the limit that comes next to refuse a request. A response shows it. */
export interface ShownRateLimit {
  rate_limit?: RateLimitState;
}

/** Sets the shown state, if fewer requests remain than of the limit that is shown already. */
export function showTighter(shown: ShownRateLimit, state: RateLimitState): void {
  const { rate_limit } = shown;
  if (!rate_limit || state.remaining <= rate_limit.remaining) shown.rate_limit = state;
}

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
 */
export function setRateLimit(
  headers: Headers,
  state: RateLimitState | undefined,
  family: ErrorFamily,
): void {
  if (family !== 'openai' && family !== 'native') return;
  const names = NAMES[family];
  if (!state) {
    for (const name of Object.values(names)) headers.delete(name);
    return;
  }
  const { limit, remaining, reset_ms } = state;
  const reset = family === 'openai' ? openaiDuration(reset_ms) : rfc3339In(reset_ms);
  setOther(headers, names.limit, String(limit));
  headers.set(names.remaining, String(remaining));
  setOther(headers, names.reset, reset);
}

/** Sets a header that often has this value already. To read one costs less than to set it. */
function setOther(headers: Headers, name: string, value: string): void {
  if (headers.get(name) !== value) headers.set(name, value);
}

/**
 * Returns a time as OpenAI writes it, e.g. `12s` or `1m0s`. It is rounded up to whole seconds, because
 * some clients read no fraction.
 */
export function openaiDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < S_PER_MINUTE) return `${seconds}s`;
  return `${Math.floor(seconds / S_PER_MINUTE)}m${seconds % S_PER_MINUTE}s`;
}

/** Returns the time in so many ms, in whole seconds, e.g. `2026-01-31T12:00:00Z` (RFC 3339). */
function rfc3339In(ms: number): string {
  const seconds = Math.ceil((Date.now() + ms) / 1000);
  return `${new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length)}Z`;
}
