/**
 * The names of the same parameter in each protocol. Parts of messages and tools are not here: their
 * positions depend on the request (see `origins.ts`).
 */
import type { ClientProtocol } from '../../protocols/names.ts';

type Setting =
  | ('turns' | 'system' | 'tools' | 'limit' | 'temperature' | 'top_p' | 'top_k' | 'seed' | 'stop')
  | ('presence_penalty' | 'frequency_penalty' | 'choice' | 'serial' | 'format' | 'reasoning')
  | 'verbosity'
  | ('user' | 'stream' | 'model');

/** The names in each protocol. If there are several, the first is the usual one. */
const SETTINGS: Record<ClientProtocol, Partial<Record<Setting, readonly string[]>>> = {
  openai: {
    turns: ['messages'],
    tools: ['tools'],
    limit: ['max_completion_tokens', 'max_tokens'],
    temperature: ['temperature'],
    top_p: ['top_p'],
    seed: ['seed'],
    stop: ['stop'],
    presence_penalty: ['presence_penalty'],
    frequency_penalty: ['frequency_penalty'],
    choice: ['tool_choice'],
    serial: ['parallel_tool_calls'],
    format: ['response_format'],
    reasoning: ['reasoning_effort'],
    verbosity: ['verbosity'],
    top_k: ['top_k'],
    user: ['user'],
    stream: ['stream'],
    model: ['model'],
  },
  responses: {
    turns: ['input'],
    system: ['instructions'],
    tools: ['tools'],
    limit: ['max_output_tokens'],
    temperature: ['temperature'],
    top_p: ['top_p'],
    choice: ['tool_choice'],
    serial: ['parallel_tool_calls'],
    format: ['text.format', 'text'],
    reasoning: ['reasoning.effort', 'reasoning'],
    verbosity: ['text.verbosity', 'text'],
    user: ['user'],
    stream: ['stream'],
    model: ['model'],
  },
  anthropic: {
    turns: ['messages'],
    system: ['system'],
    tools: ['tools'],
    limit: ['max_tokens'],
    temperature: ['temperature'],
    top_p: ['top_p'],
    top_k: ['top_k'],
    stop: ['stop_sequences'],
    choice: ['tool_choice'],
    serial: ['tool_choice.disable_parallel_tool_use'],
    format: ['output_config.format', 'output_config'],
    reasoning: ['thinking', 'thinking.budget_tokens', 'output_config.effort'],
    user: ['metadata.user_id', 'metadata'],
    stream: ['stream'],
    model: ['model'],
  },
  gemini: {
    turns: ['contents'],
    system: ['systemInstruction'],
    tools: ['tools'],
    limit: ['generationConfig.maxOutputTokens'],
    temperature: ['generationConfig.temperature'],
    top_p: ['generationConfig.topP'],
    top_k: ['generationConfig.topK'],
    seed: ['generationConfig.seed'],
    stop: ['generationConfig.stopSequences'],
    presence_penalty: ['generationConfig.presencePenalty'],
    frequency_penalty: ['generationConfig.frequencyPenalty'],
    choice: ['toolConfig'],
    format: [
      'generationConfig.responseJsonSchema',
      'generationConfig.responseSchema',
      'generationConfig.responseMimeType',
    ],
    reasoning: ['generationConfig.thinkingConfig'],
  },
};

/** True if the path begins with a parameter of the upstream. */
export function isParameter([first = '']: readonly string[], upstream: ClientProtocol): boolean {
  return Object.values(SETTINGS[upstream]).some((names) =>
    names.some((name) => name === first || name.startsWith(`${first}.`)),
  );
}

/**
 * Returns the client's name for a parameter of the upstream. If the client's protocol has several
 * names, this is the first for which `isSent` returns true, otherwise the usual one. Returns
 * undefined if the path is not in the table, or if the client's protocol has no such parameter.
 */
export function settingOf(
  path: string,
  upstream: ClientProtocol,
  client: ClientProtocol,
  isSent: (name: string) => boolean,
): string | undefined {
  for (const [setting, names] of Object.entries(SETTINGS[upstream])) {
    if (!names.includes(path)) continue;
    const own = SETTINGS[client][setting as Setting] ?? [];
    return own.find(isSent) ?? own[0];
  }
  return undefined;
}
