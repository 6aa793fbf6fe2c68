import { isObject } from '../json/object.ts';
import { type AnswerUsage, countIn, readUsageObject, type UsageReport } from './token-usage.ts';

/**
 * Reads `usageMetadata` of Gemini. Returns null if no usage was reported. Gemini counts thinking
 * tokens and the answer's tokens separately. Weir counts both as output tokens.
 */
export function geminiUsage(reported: unknown): UsageReport {
  const usage = readUsageObject(reported);
  if (usage === null || usage === 'impossible') return usage;
  const { promptTokenCount, candidatesTokenCount } = usage;
  if (typeof promptTokenCount !== 'number' && typeof candidatesTokenCount !== 'number') return null;
  const prompt = countIn(usage, 'promptTokenCount');
  const cached = countIn(usage, 'cachedContentTokenCount');
  const thoughts = countIn(usage, 'thoughtsTokenCount');
  const audio = audioIn(usage['promptTokensDetails']);
  const cached_audio = audioIn(usage['cacheTokensDetails']);
  if (cached > prompt || audio > prompt || cached_audio > cached) return 'impossible';
  const tool_audio = audioIn(usage['toolUsePromptTokensDetails']);
  const tools = Math.max(countIn(usage, 'toolUsePromptTokenCount'), tool_audio);
  const input_tokens = prompt + tools - cached;
  const audio_input_tokens = Math.min(input_tokens, Math.max(0, audio - cached_audio) + tool_audio);
  return {
    input_tokens,
    cached_input_tokens: cached,
    cache_write_tokens: 0,
    ...(audio_input_tokens > 0 ? { audio_input_tokens } : {}),
    ...(cached_audio > 0 ? { cached_audio_tokens: cached_audio } : {}),
    output_tokens: countIn(usage, 'candidatesTokenCount') + thoughts,
    ...(thoughts > 0 ? { reasoning_tokens: thoughts } : {}),
  };
}

/** Returns the audio tokens in a list of token counts by modality (ModalityTokenCount). */
function audioIn(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  let tokens = 0;
  for (const each of details) {
    if (isObject(each) && each['modality'] === 'AUDIO') tokens += countIn(each, 'tokenCount');
  }
  return tokens;
}

/** Returns the usage as Gemini's `usageMetadata`. */
export function usageMetadata(usage: AnswerUsage): object {
  const promptTokenCount =
    usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens;
  const thoughts = usage.reasoning_tokens ?? 0;
  return {
    promptTokenCount,
    candidatesTokenCount: usage.output_tokens - thoughts,
    ...(usage.cached_input_tokens > 0
      ? { cachedContentTokenCount: usage.cached_input_tokens }
      : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    totalTokenCount: promptTokenCount + usage.output_tokens,
  };
}
