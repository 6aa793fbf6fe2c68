import type { AnswerUsage, TokenUsage } from '../../protocols/token-usage.ts';

/** The kinds of input. The part of a broken call that was paid may have another division into them. */
const INPUTS = ['input_tokens', 'cached_input_tokens', 'cache_write_tokens'] as const;

/** Returns the part of a usage that `paid` does not have. Each token is paid once. */
export function usageBeyond(usage: AnswerUsage, paid: TokenUsage): AnswerUsage {
  const rest = { ...usage, output_tokens: Math.max(0, usage.output_tokens - paid.output_tokens) };
  let left = INPUTS.reduce((sum, kind) => sum + paid[kind], 0);
  for (const kind of INPUTS) {
    const covered = Math.min(left, usage[kind]);
    rest[kind] = usage[kind] - covered;
    left -= covered;
  }
  // These are parts of the counts above, or were counted when they happened.
  const { cache_write_1h_tokens, audio_input_tokens, cached_audio_tokens, web_searches } = usage;
  if (cache_write_1h_tokens !== undefined) {
    rest.cache_write_1h_tokens = Math.min(cache_write_1h_tokens, rest.cache_write_tokens);
  }
  if (audio_input_tokens !== undefined) {
    rest.audio_input_tokens = Math.min(audio_input_tokens, rest.input_tokens);
  }
  if (cached_audio_tokens !== undefined) {
    rest.cached_audio_tokens = Math.min(cached_audio_tokens, rest.cached_input_tokens);
  }
  if (web_searches !== undefined) {
    rest.web_searches = Math.max(0, web_searches - (paid.web_searches ?? 0));
  }
  return rest;
}
