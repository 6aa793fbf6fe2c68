/**
 * One request for each feature of `FEATURES` in each client protocol. `docs/protocols.md` is printed by
 * translating these samples. A test translates them too.
 */
import type { ClientProtocol } from '../src/protocols/names.ts';
import type { Feature } from '../src/upstreams/translation/features.ts';

export type Body = Record<string, unknown>;
type Samples = Partial<Record<Feature, Body>>;

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PICTURE = 'https://example.com/cat.png';
const PAPER = 'https://example.com/paper.pdf';
const STORED = 'https://generativelanguage.googleapis.com/v1beta/files/a1';
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const HELLO = 'Hello';

const chatUser = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const chatTool = { type: 'function', function: { name: 'weather', parameters: SCHEMA } };

const CHAT: Samples = {
  system: {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: HELLO },
    ],
  },
  system_between: {
    messages: [
      { role: 'user', content: HELLO },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: HELLO },
    ],
  },
  image_url: chatUser({ type: 'image_url', image_url: { url: PICTURE } }),
  image_inline: chatUser({ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }),
  audio_input: chatUser({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
  file_inline: chatUser({
    type: 'file',
    file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
  }),
  file_reference: chatUser({ type: 'file', file: { file_id: 'file-1' } }),
  tools: { tools: [chatTool] },
  forced_tool: {
    tools: [chatTool],
    tool_choice: { type: 'function', function: { name: 'weather' } },
  },
  strict_tools: {
    tools: [{ type: 'function', function: { ...chatTool.function, strict: true } }],
  },
  serial_calls: { tools: [chatTool], parallel_tool_calls: false },
  broken_arguments: {
    tools: [chatTool],
    messages: [
      { role: 'user', content: HELLO },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'weather', arguments: '{"city":"Be' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'That was no JSON.' },
    ],
  },
  other_tools: { tools: [{ type: 'custom', custom: { name: 'shell' } }] },
  legacy_functions: { functions: [chatTool.function] },
  json_mode: { response_format: { type: 'json_object' } },
  json_schema: {
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } },
  },
  reasoning_effort: { reasoning_effort: 'low' },
  reasoning_off: { reasoning_effort: 'none' },
  temperature: { temperature: 0.5 },
  temperature_above_one: { temperature: 1.5 },
  top_p: { top_p: 0.9 },
  top_k: { top_k: 40 },
  verbosity: { verbosity: 'low' },
  seed: { seed: 7 },
  penalties: { presence_penalty: 0.5 },
  stop: { stop: ['END'] },
  several_answers: { n: 2 },
  logprobs: { logprobs: true },
  prefill: {
    messages: [
      { role: 'user', content: HELLO },
      { role: 'assistant', content: 'Once' },
    ],
  },
  other: { prediction: { type: 'content', content: 'x' } },
};

const messagesUser = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const messagesTool = { name: 'weather', input_schema: SCHEMA };
const messagesCall = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } }],
};
const messagesResult = (result: object) => ({
  tools: [messagesTool],
  messages: [
    { role: 'user', content: HELLO },
    messagesCall,
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', ...result }] },
  ],
});

const MESSAGES: Samples = {
  system: { system: 'Be brief.' },
  image_url: messagesUser({ type: 'image', source: { type: 'url', url: PICTURE } }),
  image_inline: messagesUser({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: PNG },
  }),
  file_inline: messagesUser({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
  }),
  file_url: messagesUser({ type: 'document', source: { type: 'url', url: PAPER } }),
  file_reference: messagesUser({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
  tools: { tools: [messagesTool] },
  forced_tool: { tools: [messagesTool], tool_choice: { type: 'tool', name: 'weather' } },
  strict_tools: { tools: [{ ...messagesTool, strict: true }] },
  serial_calls: {
    tools: [messagesTool],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  },
  images_in_results: messagesResult({
    content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }],
  }),
  failed_results: messagesResult({ content: 'No such city.', is_error: true }),
  other_tools: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  json_schema: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
  reasoning_effort: { output_config: { effort: 'low' } },
  reasoning_budget: { max_tokens: 5_000, thinking: { type: 'enabled', budget_tokens: 2_048 } },
  reasoning_off: { thinking: { type: 'disabled' } },
  temperature: { temperature: 0.5 },
  top_p: { top_p: 0.9 },
  top_k: { top_k: 40 },
  stop: { stop_sequences: ['END'] },
  prefill: {
    messages: [
      { role: 'user', content: HELLO },
      { role: 'assistant', content: 'Once' },
    ],
  },
  other: { container: 'container_1' },
};

const responsesUser = (...content: object[]) => ({ input: [{ role: 'user', content }] });
const responsesTool = { type: 'function', name: 'weather', parameters: SCHEMA };

const RESPONSES: Samples = {
  system: { instructions: 'Be brief.' },
  system_between: {
    input: [
      { role: 'user', content: HELLO },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: HELLO },
    ],
  },
  image_url: responsesUser({ type: 'input_image', image_url: PICTURE }),
  image_inline: responsesUser({ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }),
  file_inline: responsesUser({
    type: 'input_file',
    filename: 'a.pdf',
    file_data: 'data:application/pdf;base64,JVBERi0=',
  }),
  file_url: responsesUser({ type: 'input_file', file_url: PAPER }),
  file_reference: responsesUser({ type: 'input_file', file_id: 'file-1' }),
  tools: { tools: [responsesTool] },
  forced_tool: { tools: [responsesTool], tool_choice: { type: 'function', name: 'weather' } },
  strict_tools: { tools: [{ ...responsesTool, strict: true }] },
  serial_calls: { tools: [responsesTool], parallel_tool_calls: false },
  broken_arguments: {
    tools: [responsesTool],
    input: [
      { role: 'user', content: HELLO },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Be' },
      { type: 'function_call_output', call_id: 'call_1', output: 'That was no JSON.' },
    ],
  },
  other_tools: { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
  json_mode: { text: { format: { type: 'json_object' } } },
  json_schema: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA } } },
  reasoning_effort: { reasoning: { effort: 'low' } },
  reasoning_off: { reasoning: { effort: 'none' } },
  temperature: { temperature: 0.5 },
  temperature_above_one: { temperature: 1.5 },
  top_p: { top_p: 0.9 },
  verbosity: { text: { verbosity: 'low' } },
  logprobs: { top_logprobs: 3 },
  other: { prompt: { id: 'pmpt_1' } },
};

const geminiUser = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] });
const geminiTools = [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: SCHEMA }] }];

const GEMINI: Samples = {
  system: { systemInstruction: { parts: [{ text: 'Be brief.' }] } },
  image_inline: geminiUser({ inlineData: { mimeType: 'image/png', data: PNG } }),
  audio_input: geminiUser({ inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }),
  file_inline: geminiUser({ inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } }),
  image_url: geminiUser({ fileData: { mimeType: 'image/png', fileUri: PICTURE } }),
  file_url: geminiUser({ fileData: { mimeType: 'application/pdf', fileUri: PAPER } }),
  file_reference: geminiUser({ fileData: { mimeType: 'application/pdf', fileUri: STORED } }),
  tools: { tools: geminiTools },
  forced_tool: {
    tools: geminiTools,
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
  },
  other_tools: { tools: [{ googleSearch: {} }] },
  json_mode: { generationConfig: { responseMimeType: 'application/json' } },
  json_schema: {
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA },
  },
  reasoning_effort: { generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } },
  reasoning_budget: { generationConfig: { thinkingConfig: { thinkingBudget: 2_048 } } },
  reasoning_off: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
  temperature: { generationConfig: { temperature: 0.5 } },
  temperature_above_one: { generationConfig: { temperature: 1.5 } },
  top_p: { generationConfig: { topP: 0.9 } },
  top_k: { generationConfig: { topK: 40 } },
  seed: { generationConfig: { seed: 7 } },
  penalties: { generationConfig: { presencePenalty: 0.5 } },
  stop: { generationConfig: { stopSequences: ['END'] } },
  several_answers: { generationConfig: { candidateCount: 2 } },
  logprobs: { generationConfig: { responseLogprobs: true } },
  prefill: {
    contents: [
      { role: 'user', parts: [{ text: HELLO }] },
      { role: 'model', parts: [{ text: 'Once' }] },
    ],
  },
  other: { generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' } },
};

/** A minimal request in each protocol; each sample is merged into it. */
const MINIMAL_REQUESTS: Record<ClientProtocol, Body> = {
  openai: { messages: [{ role: 'user', content: HELLO }] },
  anthropic: { max_tokens: 1_000, messages: [{ role: 'user', content: HELLO }] },
  responses: { input: HELLO },
  gemini: { contents: [{ role: 'user', parts: [{ text: HELLO }] }] },
};

const SAMPLES: Record<ClientProtocol, Samples> = {
  openai: CHAT,
  anthropic: MESSAGES,
  responses: RESPONSES,
  gemini: GEMINI,
};

/** A complete request that uses a feature; undefined if the client's protocol cannot express it. */
export function sampleOf(client: ClientProtocol, feature: Feature): Body | undefined {
  const sample = SAMPLES[client][feature];
  return sample && { ...MINIMAL_REQUESTS[client], ...sample };
}
