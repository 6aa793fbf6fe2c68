/**
 * Features that a request may use, in addition to plain text. If the upstream's protocol does not
 * support a feature, Weir refuses the request with an error that names the parameter. Weir never
 * drops a feature. `docs/protocols.md` is generated from these tables.
 */
export const FEATURES = {
  system: 'a system prompt',
  system_between: 'system messages between the turns',
  image_url: 'images by URL',
  image_inline: 'inline images',
  audio_input: 'audio input',
  file_inline: 'inline files',
  file_url: 'documents by URL',
  file_reference: 'files by id',
  tools: 'tools',
  forced_tool: 'a forced tool',
  strict_tools: 'strict tools',
  serial_calls: 'a limit of one tool call at a time',
  images_in_results: 'images in tool results',
  failed_results: 'failed tool results',
  broken_arguments: 'tool call arguments that are not a JSON object',
  other_tools: 'tools that are not functions',
  legacy_functions: 'deprecated `functions` and `function_call`',
  json_mode: 'JSON mode without a schema',
  json_schema: 'a JSON schema for the answer',
  reasoning_effort: 'reasoning by effort',
  reasoning_budget: 'reasoning by a token budget',
  reasoning_off: 'reasoning switched off',
  temperature: 'a temperature',
  temperature_above_one: 'a temperature above 1',
  top_p: 'top_p',
  top_k: 'top_k',
  verbosity: 'a verbosity other than `medium`',
  seed: 'a seed',
  penalties: 'presence and frequency penalties',
  stop: 'stop sequences',
  several_answers: 'several answers at once',
  logprobs: 'log probabilities',
  prefill: 'an assistant turn at the end (prefill)',
  other: 'this parameter',
} as const satisfies Record<string, string>;

export type Feature = keyof typeof FEATURES;

/**
 * Features that every protocol supports. The only exception: the protocol `responses` does not
 * support `stop`.
 */
const COMMON = [
  ...(['system', 'image_inline', 'tools', 'forced_tool', 'json_schema', 'stop'] as const),
  ...(['temperature', 'top_p', 'reasoning_effort', 'failed_results'] as const),
] satisfies Feature[];

/** Features that a translated request may use, by the upstream's protocol. */
export const SUPPORTED_FEATURES: Record<
  'openai' | 'responses' | 'anthropic' | 'gemini',
  ReadonlySet<Feature>
> = {
  openai: new Set<Feature>([
    ...COMMON,
    ...(['system_between', 'image_url', 'audio_input', 'file_inline'] as const),
    ...(['strict_tools', 'serial_calls', 'json_mode', 'temperature_above_one'] as const),
    ...(['seed', 'penalties', 'reasoning_off', 'reasoning_budget', 'broken_arguments'] as const),
    'verbosity',
  ]),
  responses: new Set<Feature>(
    [
      ...COMMON,
      ...(['system_between', 'image_url', 'file_inline', 'file_url'] as const),
      'images_in_results' as const,
      ...(['strict_tools', 'serial_calls', 'json_mode', 'temperature_above_one'] as const),
      ...(['reasoning_off', 'reasoning_budget', 'broken_arguments', 'verbosity', 'seed'] as const),
    ].filter((feature) => feature !== 'stop'),
  ),
  anthropic: new Set<Feature>([
    ...COMMON,
    ...(['image_url', 'file_inline', 'file_url', 'strict_tools', 'serial_calls'] as const),
    ...(['images_in_results', 'reasoning_budget', 'reasoning_off'] as const),
    ...(['top_k', 'prefill', 'json_mode', 'seed'] as const),
  ]),
  gemini: new Set<Feature>([
    ...COMMON,
    ...(['image_url', 'audio_input', 'file_inline', 'file_url'] as const),
    ...(['json_mode', 'temperature_above_one'] as const),
    ...(['seed', 'penalties', 'top_k', 'reasoning_budget', 'reasoning_off'] as const),
    // `strict` itself is left out (left-out.ts): agents send it by default, and it changes no price.
    ...(['prefill', 'serial_calls', 'strict_tools'] as const),
  ]),
};
