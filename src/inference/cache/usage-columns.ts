import type { AnswerUsage } from '../../protocols/token-usage.ts';

/** The members of a usage, each of which has a column. */
const MEMBERS: Record<keyof AnswerUsage, true> = {
  ...{ input_tokens: true, cached_input_tokens: true, cache_write_tokens: true },
  ...{ output_tokens: true, cache_write_1h_tokens: true, audio_input_tokens: true },
  ...{ cached_audio_tokens: true, web_searches: true, reasoning_tokens: true },
  paid_nano_usd: true,
};
const NAMES = Object.keys(MEMBERS) as (keyof AnswerUsage)[];

/** How many columns a usage has. */
export const USAGE_COLUMNS = NAMES.length;

/** Writes a usage into the columns from `at` on. NaN stands for a member that it lacks. */
export function writeUsage(numbers: Float64Array, at: number, usage: AnswerUsage | null): void {
  let column = at;
  for (const name of NAMES) {
    numbers[column] = usage?.[name] ?? Number.NaN;
    column += 1;
  }
}

/** Returns the usage in the columns from `at` on; null for none. */
export function usageIn(numbers: Float64Array, at: number): AnswerUsage | null {
  const members = NAMES.map((name, column) => [name, numbers[at + column]] as const);
  const known = members.filter(([, value]) => !Number.isNaN(value));
  return known.length === 0 ? null : (Object.fromEntries(known) as unknown as AnswerUsage);
}
