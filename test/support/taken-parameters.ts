/**
 * Every parameter of the chat routes, as the vendors' SDKs declare it, with a valid value. A path
 * with a dot is a member of a parameter; `[]` is the first entry of a list.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientProtocol } from '../../src/protocols/names.ts';

interface ParameterRow {
  readonly name: string;
  readonly value: unknown;
  /** Members that the parameter needs beside it. */
  readonly beside?: object;
}

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const chatTool = { type: 'function', function: { name: 'weather', parameters: SCHEMA } };
const messagesTool = { name: 'weather', input_schema: SCHEMA };
const responsesTool = { type: 'function', name: 'weather', parameters: SCHEMA };
const geminiTool = () => ({
  functionDeclarations: [
    { name: 'weather', parametersJsonSchema: SCHEMA },
    { name: 'tides', parametersJsonSchema: SCHEMA },
  ],
});

const withTools = (tools: unknown) => ({ beside: { tools } });
const rowsOf = (plain: Readonly<Record<string, unknown>>): ParameterRow[] =>
  Object.entries(plain).map(([name, value]) => ({ name, value }));

const CHAT: readonly ParameterRow[] = [
  ...rowsOf({
    audio: { voice: 'alloy', format: 'wav' },
    frequency_penalty: 0.5,
    logit_bias: { '50256': -100 },
    logprobs: true,
    max_completion_tokens: 50,
    max_tokens: 50,
    metadata: { order: '7' },
    modalities: ['text'],
    moderation: { model: 'omni-moderation-latest' },
    n: 2,
    prediction: { type: 'content', content: 'x' },
    presence_penalty: 0.5,
    prompt_cache_key: 'k',
    prompt_cache_options: { ttl: '1h' },
    prompt_cache_retention: '24h',
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } },
    safety_identifier: 's',
    seed: 7,
    service_tier: 'default',
    stop: ['END'],
    store: true,
    stream: true,
    temperature: 0.5,
    tools: [chatTool],
    top_p: 0.9,
    user: 'u',
    verbosity: 'low',
    web_search_options: {},
    cache_control: { type: 'ephemeral' },
    functions: [chatTool.function],
  }),
  { name: 'function_call', value: 'auto', beside: { functions: [chatTool.function] } },
  { name: 'top_logprobs', value: 3 },
  ...rowsOf({ n: 1, logprobs: false, top_logprobs: 0, presence_penalty: 0, frequency_penalty: 0 }),
  { name: 'parallel_tool_calls', value: true, ...withTools([chatTool]) },
  { name: 'functions', value: [] },
  { name: 'verbosity', value: 'medium' },
  { name: 'tools[].function.strict', value: false, ...withTools([chatTool]) },
  { name: 'tools[].function.cache_control', value: { type: 'x' }, ...withTools([chatTool]) },
  { name: 'stream_options', value: { include_usage: true }, beside: { stream: true } },
  { name: 'parallel_tool_calls', value: false, ...withTools([chatTool]) },
  { name: 'messages[].name', value: 'Ann' },
  { name: 'tool_choice', value: 'required', ...withTools([chatTool]) },
  { name: 'tools[].cache_control', value: { type: 'ephemeral' }, ...withTools([chatTool]) },
  { name: 'tools[].function.strict', value: true, ...withTools([chatTool]) },
  { name: 'tools[].function.description', value: 'Rain', ...withTools([chatTool]) },
  { name: 'tools[].function.returns', value: 'Rain', ...withTools([chatTool]) },
  {
    ...{ name: 'response_format.json_schema.description', value: 'A place' },
    beside: {
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: SCHEMA } },
    },
  },
];

const MESSAGES: readonly ParameterRow[] = [
  ...rowsOf({
    billing_policy: { type: 'prepaid' },
    cache_control: { type: 'ephemeral' },
    compaction: { enabled: true },
    container: 'container_1',
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    diagnostics: { previous_message_id: null },
    fallback_credit_token: 't',
    fallbacks: [],
    inference_geo: 'global',
    max_tokens: 50,
    mcp_servers: [],
    metadata: { user_id: 'u' },
    'output_config.effort': 'low',
    'output_config.format': { type: 'json_schema', schema: SCHEMA },
    'output_config.task_budget': { total: 5_000 },
    output_format: { type: 'json_schema', schema: SCHEMA },
    service_tier: 'auto',
    speed: 'standard',
    stop_sequences: ['END'],
    stream: true,
    system: 'Be brief.',
    temperature: 0.5,
    thread: { type: 'create' },
    tools: [messagesTool],
    top_k: 5,
    top_p: 0.9,
    user_profile_id: 'p',
    workspace_id: 'w',
  }),
  {
    ...{ name: 'thinking', value: { type: 'enabled', budget_tokens: 1_024 } },
    beside: { max_tokens: 3_000 },
  },
  {
    ...{ name: 'thinking.display', value: 'omitted' },
    beside: { max_tokens: 3_000, thinking: { type: 'adaptive' } },
  },
  { name: 'tool_choice', value: { type: 'any' }, ...withTools([messagesTool]) },
  {
    ...{ name: 'tool_choice.disable_parallel_tool_use', value: true },
    beside: { tools: [messagesTool], tool_choice: { type: 'auto' } },
  },
  {
    ...{ name: 'tool_choice.disable_parallel_tool_use', value: false },
    beside: { tools: [messagesTool], tool_choice: { type: 'auto' } },
  },
  { name: 'tools[].strict', value: false, ...withTools([messagesTool]) },
  { name: 'tools[].cache_control', value: { type: 'ephemeral' }, ...withTools([messagesTool]) },
  { name: 'tools[].strict', value: true, ...withTools([messagesTool]) },
  { name: 'tools[].input_examples', value: [{ city: 'Bern' }], ...withTools([messagesTool]) },
  { name: 'tools[].defer_loading', value: true, ...withTools([messagesTool]) },
  { name: 'tools[].defer_loading', value: false, ...withTools([messagesTool]) },
  { name: 'tools[].eager_input_streaming', value: true, ...withTools([messagesTool]) },
  { name: 'tools[].allowed_callers', value: ['direct'], ...withTools([messagesTool]) },
];

const RESPONSES: readonly ParameterRow[] = [
  ...rowsOf({
    access_programs: ['x'],
    background: false,
    context_management: [{ type: 'compaction' }],
    client_metadata: { thread_id: 'thread-1' },
    conversation: 'conv_1',
    image: { prompt: 'x' },
    include: ['reasoning.encrypted_content'],
    instructions: 'Be brief.',
    max_output_tokens: 50,
    max_tool_calls: 3,
    metadata: { order: '7' },
    moderation: { model: 'omni-moderation-latest' },
    multi_agent: { enabled: true },
    previous_response_id: 'resp_unknown',
    prompt: { id: 'pmpt_1' },
    prompt_cache_key: 'k',
    prompt_cache_options: { ttl: '1h' },
    prompt_cache_retention: '24h',
    'reasoning.effort': 'low',
    'reasoning.summary': 'auto',
    'reasoning.generate_summary': 'auto',
    'reasoning.context': 'all_turns',
    'reasoning.mode': 'pro',
    safety_identifier: 's',
    service_tier: 'default',
    store: true,
    stream: true,
    temperature: 0.5,
    'text.format': { type: 'json_schema', name: 'place', schema: SCHEMA },
    'text.verbosity': 'low',
    'text.unheard_of': 1,
    tools: [responsesTool],
    top_logprobs: 3,
    top_p: 0.9,
    truncation: 'auto',
    user: 'u',
    cache_control: { type: 'ephemeral' },
  }),
  { name: 'include', value: ['message.output_text.logprobs'] },
  { name: 'truncation', value: 'disabled' },
  { name: 'stream_options', value: { include_obfuscation: false }, beside: { stream: true } },
  { name: 'parallel_tool_calls', value: false, ...withTools([responsesTool]) },
  { name: 'tool_choice', value: 'required', ...withTools([responsesTool]) },
  { name: 'tools[].defer_loading', value: true, ...withTools([responsesTool]) },
  { name: 'top_logprobs', value: 0 },
  { name: 'parallel_tool_calls', value: true, ...withTools([responsesTool]) },
  { name: 'tools[].defer_loading', value: false, ...withTools([responsesTool]) },
  ...rowsOf({
    ...{ 'reasoning.context': 'auto', 'reasoning.mode': 'standard', 'text.verbosity': 'medium' },
  }),
  { name: 'tools[].strict', value: false, ...withTools([responsesTool]) },
  { name: 'tools[].allowed_callers', value: ['direct'], ...withTools([responsesTool]) },
  { name: 'tools[].output_schema', value: SCHEMA, ...withTools([responsesTool]) },
  {
    ...{ name: 'text.format.description', value: 'A place' },
    beside: { text: { format: { type: 'json_schema', name: 'a', schema: SCHEMA } } },
  },
];

const IN_CONFIG = {
  temperature: 0.5,
  topP: 0.9,
  topK: 5,
  candidateCount: 2,
  maxOutputTokens: 50,
  stopSequences: ['END'],
  responseLogprobs: true,
  presencePenalty: 0.5,
  frequencyPenalty: 0.5,
  seed: 7,
  responseMimeType: 'application/json',
  responseSchema: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
  responseJsonSchema: SCHEMA,
  routingConfig: { autoMode: {} },
  modelSelectionConfig: { featureSelectionPreference: 'BALANCED' },
  responseModalities: ['TEXT'],
  mediaResolution: 'MEDIA_RESOLUTION_LOW',
  speechConfig: { languageCode: 'de' },
  audioTimestamp: true,
  audioTranscriptionConfig: {},
  imageConfig: { aspectRatio: '1:1' },
  enableEnhancedCivicAnswers: true,
  'thinkingConfig.thinkingBudget': 2_048,
  'thinkingConfig.thinkingLevel': 'LOW',
  'thinkingConfig.includeThoughts': true,
};

function inConfig(row: ParameterRow): ParameterRow {
  return { ...row, name: `generationConfig.${row.name}` };
}

const GEMINI: readonly ParameterRow[] = [
  ...rowsOf({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [geminiTool()],
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    cachedContent: 'cachedContents/1',
    labels: { team: 'a' },
    serviceTier: 'standard',
    store: true,
    modelArmorConfig: { promptTemplateName: 'x' },
  }),
  ...rowsOf(IN_CONFIG).map(inConfig),
  {
    ...{ name: 'generationConfig.logprobs', value: 3 },
    beside: { generationConfig: { temperature: 0 } },
  },
  ...rowsOf({ candidateCount: 1, responseLogprobs: false, responseMimeType: 'text/plain' }).map(
    inConfig,
  ),
  ...rowsOf({ presencePenalty: 0, frequencyPenalty: 0, 'thinkingConfig.thinkingBudget': -1 }).map(
    inConfig,
  ),
  { name: 'generationConfig.responseMimeType', value: 'text/x.enum' },
  { name: 'generationConfig.thinkingConfig.thinkingBudget', value: '2048' },
  {
    ...{ name: 'toolConfig.functionCallingConfig.mode', value: 'ANY' },
    ...withTools([geminiTool()]),
  },
  {
    ...{ name: 'toolConfig.functionCallingConfig.mode', value: 'VALIDATED' },
    ...withTools([geminiTool()]),
  },
  {
    name: 'toolConfig.functionCallingConfig.allowedFunctionNames',
    value: ['weather', 'tides'],
    beside: {
      tools: [geminiTool()],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    },
  },
  {
    name: 'toolConfig.functionCallingConfig.streamFunctionCallArguments',
    value: true,
    ...withTools([geminiTool()]),
  },
  {
    ...{ name: 'toolConfig.retrievalConfig', value: { languageCode: 'de' } },
    ...withTools([geminiTool()]),
  },
  {
    ...{ name: 'toolConfig.includeServerSideToolInvocations', value: true },
    ...withTools([geminiTool()]),
  },
  {
    ...{ name: 'tools[].functionDeclarations[].description', value: 'Rain' },
    ...withTools([geminiTool()]),
  },
  {
    ...{ name: 'tools[].functionDeclarations[].response', value: { type: 'STRING' } },
    ...withTools([geminiTool()]),
  },
  {
    ...{ name: 'tools[].functionDeclarations[].responseJsonSchema', value: SCHEMA },
    ...withTools([geminiTool()]),
  },
  {
    ...{ name: 'tools[].functionDeclarations[].behavior', value: 'NON_BLOCKING' },
    ...withTools([geminiTool()]),
  },
];

export const PARAMETERS: Readonly<Record<ClientProtocol, readonly ParameterRow[]>> = {
  openai: CHAT,
  anthropic: MESSAGES,
  responses: RESPONSES,
  gemini: GEMINI,
};

const MODULES = join(import.meta.dir, '../../node_modules');
/** The interfaces that declare the parameters in the vendors' SDKs. */
const DECLARATIONS: Readonly<Record<ClientProtocol, readonly [file: string, name: string][]>> = {
  openai: [
    ['openai/resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase'],
  ],
  anthropic: [
    ['@anthropic-ai/sdk/resources/messages/messages.d.ts', 'MessageCreateParamsBase'],
    ['@anthropic-ai/sdk/resources/beta/messages/messages.d.ts', 'MessageCreateParamsBase'],
  ],
  responses: [
    ['openai/resources/responses/responses.d.ts', 'ResponseCreateParamsBase'],
    ['openai/resources/beta/responses/responses.d.ts', 'ResponseCreateParamsBase'],
  ],
  gemini: [['@google/genai/dist/genai.d.ts', 'GenerateContentConfig']],
};
/** What every request has, and what an SDK keeps for itself or sends as a header. */
const NO_PARAMETERS = new Set([
  ...['model', 'messages', 'input', 'betas', 'httpOptions', 'abortSignal'],
  ...['automaticFunctionCalling', 'automaticContinuation', 'continuationToken'],
  ...['generationOutputConfig'],
]);

/** The names of a protocol's parameters in the types of its vendor's SDK. */
export function declaredParameters(client: ClientProtocol): string[] {
  const names = DECLARATIONS[client].flatMap(([file, name]) => membersOf(file, name));
  return [...new Set(names)].filter((each) => !NO_PARAMETERS.has(each));
}

/** The members of an interface that a file below `node_modules` declares. */
export function membersOf(file: string, name: string): string[] {
  const text = readFileSync(join(MODULES, file), 'utf8');
  const start = text.search(new RegExp(`interface ${name}\\b`));
  const block = start < 0 ? '' : text.slice(start, text.indexOf('\n}', start));
  return [...block.matchAll(/^ {4}([a-zA-Z_]+)\??:/gm)].map(([, member]) => String(member));
}

/** Returns a copy of the body with the value at the path. */
export function withParameter(body: object, path: string, value: unknown): object {
  const copy = structuredClone(body) as Record<string, unknown>;
  const keys = path
    .split(/\.(?!\])/)
    .flatMap((part) => (part.endsWith('[]') ? [part.slice(0, -2), '0'] : [part]));
  let at = copy;
  for (const key of keys.slice(0, -1)) {
    at[key] ??= {};
    at = at[key] as Record<string, unknown>;
  }
  at[keys.at(-1) ?? ''] = value;
  return copy;
}
