import { readUsageObject } from './token-usage.ts';

/**
 * What a generation (a request for images, videos or music) produced. If a member is missing, the
 * provider did not report it.
 */
export interface GenerationUsage {
  readonly images?: number;
  /** The seconds of produced video or audio. */
  readonly seconds?: number;
  readonly songs?: number;
  /** What the operator pays, nano-USD. Clients must not see it. */
  readonly paid_nano_usd?: number;
  readonly tokens?: {
    readonly text_input: number;
    readonly image_input: number;
    readonly cached_input: number;
    readonly output: number;
  };
}

/** The longest video or audio that a provider makes, changes or transcribes, seconds. */
const MAX_SECONDS = 36_000;
/** More tokens than any provider reports for one image or one input. */
const MAX_GENERATION_TOKENS = 1_000_000;

/**
 * Returns a reported length in seconds. Returns undefined if there is none, or if it is impossible,
 * e.g. negative or longer than 10 hours. A text with a number counts as the number.
 */
export function readSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  const isLength = typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS;
  return isLength ? seconds : undefined;
}

/**
 * Returns the tokens of a generation. `usage` is the usage object that the provider reported, and
 * `read` takes the counts from it. Returns undefined if there is no report or if it is impossible.
 * Then the generation is charged by its request.
 */
export function readGenerationTokens(
  usage: unknown,
  read: (usage: Readonly<Record<string, unknown>>) => NonNullable<GenerationUsage['tokens']>,
): GenerationUsage['tokens'] {
  const reported = readUsageObject(usage);
  if (reported === null || reported === 'impossible') return undefined;
  const tokens = read(reported);
  const isPossible = Object.values(tokens).every(
    (count) => count >= 0 && count <= MAX_GENERATION_TOKENS,
  );
  return isPossible ? tokens : undefined;
}
