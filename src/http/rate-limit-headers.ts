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

/**
 * Adds Weir's own limit to a response, in the headers that programs read to pace themselves: those of
 * OpenAI (OpenAI docs: Rate limits, Rate limits in headers) or Anthropic (Anthropic docs: Rate limits,
 * Response headers). Weir limits requests, not tokens, so only the headers of requests are set. Gemini's
 * interface has no such headers.
 */
export function addRateLimit(headers: Headers, state: RateLimitState, family: ErrorFamily): void {
  const { limit, remaining, reset_ms } = state;
  if (family === 'openai') {
    headers.set('x-ratelimit-limit-requests', String(limit));
    headers.set('x-ratelimit-remaining-requests', String(remaining));
    headers.set('x-ratelimit-reset-requests', openaiDuration(reset_ms));
  } else if (family === 'native') {
    headers.set('anthropic-ratelimit-requests-limit', String(limit));
    headers.set('anthropic-ratelimit-requests-remaining', String(remaining));
    headers.set('anthropic-ratelimit-requests-reset', rfc3339In(reset_ms));
  }
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
