import { isObject } from '../json/object.ts';

/**
 * The tokens of one call. Each input token is counted once: in `input_tokens`, in
 * `cached_input_tokens` (read from the cache) or in `cache_write_tokens` (written to the cache).
 */
export interface TokenUsage {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  /**
   * The part of `cache_write_tokens` that is cached for one hour. These tokens have a higher price
   * (Anthropic docs: Prompt caching).
   */
  cache_write_1h_tokens?: number;
  /** The part of `input_tokens` that is audio. These tokens may have a price of their own. */
  audio_input_tokens?: number;
  /** The part of `cached_input_tokens` that is audio. */
  cached_audio_tokens?: number;
  /** The web searches that the provider ran for the answer. Each has a price. */
  web_searches?: number;
  /** Includes reasoning tokens. */
  output_tokens: number;
}

/** The tokens of an answer, and what else the upstream reported. */
export interface AnswerUsage extends TokenUsage {
  reasoning_tokens?: number;
  /** What the operator pays for the answer, nano-USD. Clients must not see it. */
  paid_nano_usd?: number;
}

/**
 * What an upstream reported: usage; null for no report; `impossible` for a report that no tokenizer
 * can produce, e.g. −5 tokens or more cached tokens than input tokens. An impossible report counts
 * as no report. Weir then counts itself, and the client sees Weir's own figures.
 */
export type UsageReport<Usage = AnswerUsage> = Usage | null | 'impossible';

/** Returns the usage of a report; null if there is none or if it is impossible. */
export function possible<Usage>(report: UsageReport<Usage>): Usage | null {
  return report === 'impossible' ? null : report;
}

/**
 * The highest count that Weir accepts. No model has a context of so many tokens, so a higher count
 * is impossible.
 */
export const MAX_REPORTED_TOKENS = 20_000_000;

/** Returns a reported count; null if there is none or if it is impossible. */
export function readCount(value: unknown): UsageReport<number> {
  if (value === undefined || value === null) return null;
  const isCount =
    typeof value === 'number' &&
    Number.isSafeInteger(value) &&
    value >= 0 &&
    value <= MAX_REPORTED_TOKENS;
  return isCount ? value : 'impossible';
}

/** The most levels of nested objects in a report. A deeper report is impossible. */
const MAX_DEPTH = 6;
/** In all protocols, the name of a count ends like this. */
const COUNT_NAME = /(?:tokens|[Tt]okenCount|_requests)$/;

/**
 * True if every count in a reported usage object, at any depth, is possible. Other members, e.g. a
 * price or a time, may have any value.
 */
function hasPossibleCounts(usage: Readonly<Record<string, unknown>>, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  for (const key in usage) {
    const value = usage[key];
    if (readCount(value) !== 'impossible') continue;
    if (COUNT_NAME.test(key)) return false;
    // A list is checked like an object.
    if (typeof value !== 'object') continue;
    if (!hasPossibleCounts(value as Record<string, unknown>, depth + 1)) return false;
  }
  return true;
}

/**
 * Returns a usage object whose counts are all possible. Returns null if `usage` is missing, and
 * `impossible` if it is no object or has an impossible count.
 */
export function readUsageObject(usage: unknown): UsageReport<Readonly<Record<string, unknown>>> {
  if (usage === undefined || usage === null) return null;
  return isObject(usage) && hasPossibleCounts(usage) ? usage : 'impossible';
}

/** Returns a count of an object that `readUsageObject` returned; 0 if it is missing. */
export function countIn(usage: unknown, name: string): number {
  const value = isObject(usage) ? usage[name] : undefined;
  return typeof value === 'number' ? value : 0;
}
