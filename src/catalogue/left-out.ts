/**
 * The parameters that Weir takes and does not send (P18). Every other parameter reaches the
 * upstream, or is refused by name. `docs/left-out.md` is printed from this list.
 * `test/http/taken-is-sent.test.ts` calls every route with every parameter, and fails if an entry
 * is missing here.
 */
import type { ClientProtocol } from '../protocols/names.ts';
import { DIRECT_LEFT_OUT } from './left-out-direct.ts';
import { ABOUT_CALLER, type LeftOut, type UpstreamForm } from './left-out-entry.ts';

/** The path of each chat route, as this list names it. */
export const CHAT_PATHS: Readonly<Record<ClientProtocol, string>> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  responses: '/v1/responses',
  gemini: '/v1beta/models/{model}:generateContent',
};

const CHAT = CHAT_PATHS.openai;
const MESSAGES = CHAT_PATHS.anthropic;
const RESPONSES = CHAT_PATHS.responses;
const GEMINI = CHAT_PATHS.gemini;
const OPENAI = [CHAT, RESPONSES];
const ALL_CHAT = [CHAT, MESSAGES, RESPONSES];

const CACHE = 'The upstream decides itself what it caches.';
const NOT_STRICT = 'Some models do not know it there. The model gets the schema of the arguments.';
const FIRST_CALL = 'Weir passes on only the first tool call of an answer.';
const NO_HOSTED_TOOLS =
  'It is about tools that the provider runs. Weir refuses such tools by name.';

/** Parameters of the chat routes, for upstreams with another format. */
const CHAT_LEFT_OUT: readonly LeftOut[] = [
  {
    ...{ routes: [CHAT], param: 'stream_options', reason: 'own' },
    why: 'Weir writes the events of a translated stream, with the usage if it is requested.',
  },
  {
    ...{ routes: [RESPONSES], param: 'stream_options', reason: 'hint' },
    why: 'Obfuscation only adds bytes to the events.',
  },
  { routes: [CHAT], param: 'metadata', reason: 'hint', why: ABOUT_CALLER },
  {
    routes: [CHAT],
    param: 'store',
    reason: 'hint',
    why: 'It lets the provider store the answer for its own use.',
  },
  {
    ...{ routes: [RESPONSES], param: 'store', reason: 'own' },
    why: 'Weir stores the response, whichever upstream made it.',
  },
  {
    ...{ routes: [RESPONSES], param: 'previous_response_id', reason: 'own' },
    why: 'Weir puts the earlier items before the items of the request.',
  },
  {
    ...{ routes: [RESPONSES], param: 'metadata', reason: 'own' },
    why: 'Weir stores the metadata and returns it with the response.',
  },
  {
    ...{ routes: [MESSAGES], param: 'metadata', upstreams: ['gemini'], reason: 'hint' },
    why: 'Gemini has no member for `user_id`. Other upstreams get it as `user`.',
  },
  { routes: OPENAI, param: 'user', upstreams: ['gemini'], reason: 'hint', why: ABOUT_CALLER },
  { routes: OPENAI, param: 'safety_identifier', reason: 'hint', why: ABOUT_CALLER },
  { routes: OPENAI, param: 'prompt_cache_key', reason: 'hint', why: CACHE },
  { routes: OPENAI, param: 'prompt_cache_retention', reason: 'hint', why: CACHE },
  { routes: ALL_CHAT, param: 'cache_control', reason: 'hint', why: CACHE },
  {
    ...{ routes: OPENAI, param: 'service_tier', values: ['auto', 'default'], reason: 'default' },
    why: 'Every call runs in the standard tier. Other tiers have a price of their own.',
  },
  {
    ...{ routes: [MESSAGES], param: 'service_tier', values: ['auto', 'standard_only'] },
    ...{ reason: 'default', why: 'Every call runs in the standard tier.' },
  },
  {
    ...{ routes: [MESSAGES], param: 'speed', values: ['standard'], reason: 'default' },
    why: 'Every call runs at the standard speed.',
  },
  {
    ...{ routes: [MESSAGES], param: 'inference_geo', values: ['global'], reason: 'default' },
    why: 'Every call may run anywhere.',
  },
  {
    ...{ routes: [MESSAGES], param: 'mcp_servers', values: [[]], reason: 'default' },
    why: 'An empty list adds nothing.',
  },
  {
    ...{ routes: [MESSAGES], param: 'fallbacks', values: [[]], reason: 'default' },
    why: 'An empty list adds nothing.',
  },
  {
    ...{ routes: [MESSAGES], param: 'diagnostics', reason: 'optional' },
    why: 'Only Anthropic compares the prompts of two requests. It gets no message id of Weir.',
  },
  {
    ...{ routes: [MESSAGES], param: 'context_management', upstreams: ['bedrock'] },
    ...{ reason: 'optional', why: 'It is sent if the request has the beta flag that it needs.' },
  },
  {
    ...{ routes: [MESSAGES], param: 'tools[].eager_input_streaming', upstreams: ['bedrock'] },
    ...{ reason: 'own', why: 'The beta flag `fine-grained-tool-streaming-2025-05-14` is sent.' },
  },
  {
    ...{ routes: [MESSAGES], param: 'context_management', reason: 'optional' },
    why: 'The conversation stays whole. The client can shorten it itself.',
  },
  { routes: [RESPONSES], param: 'client_metadata', reason: 'hint', why: ABOUT_CALLER },
  {
    ...{ routes: [RESPONSES], param: 'tools[].type', reason: 'optional' },
    values: ['web_search', 'web_search_2025_08_26'],
    why: 'The model answers without a search. A search that `tool_choice` forces is refused by name.',
  },
  { routes: [CHAT, MESSAGES], param: 'tools[].cache_control', reason: 'hint', why: CACHE },
  { routes: [CHAT], param: 'tools[].function.cache_control', reason: 'hint', why: CACHE },
  {
    ...{ routes: [MESSAGES], param: 'tools[].eager_input_streaming', reason: 'hint' },
    why: 'The arguments of a call arrive as the upstream sends them.',
  },
  {
    ...{ routes: [MESSAGES, RESPONSES], param: 'tools[].defer_loading', reason: 'optional' },
    why: 'Every tool is loaded at once.',
  },
  {
    ...{ routes: [MESSAGES, RESPONSES], param: 'tools[].allowed_callers', values: [['direct']] },
    ...{ reason: 'default', why: 'Only the model itself calls the tools.' },
  },
  {
    ...{ routes: [MESSAGES], param: 'tools[].input_examples', reason: 'optional' },
    why: 'The description and the schema of the tool are sent.',
  },
  {
    ...{ routes: [RESPONSES], param: 'tools[].output_schema', reason: 'optional' },
    why: 'The description and the schema of the tool are sent.',
  },
  {
    ...{ routes: [CHAT], param: 'messages[].name', reason: 'optional' },
    why: 'The roles and the order of the messages are kept.',
  },
  {
    ...{ routes: [CHAT], param: 'messages[].content[].image_url.detail', reason: 'optional' },
    ...{ upstreams: ['anthropic', 'gemini'], why: 'The model looks at the whole image.' },
  },
  {
    ...{ routes: [RESPONSES], param: 'input[].content[].detail', reason: 'optional' },
    ...{ upstreams: ['anthropic', 'gemini'], why: 'The model looks at the whole image.' },
  },
  {
    ...{ routes: [CHAT], param: 'response_format.json_schema.description', reason: 'optional' },
    ...{ upstreams: ['anthropic', 'gemini'], why: 'The schema itself is sent.' },
  },
  {
    ...{ routes: [RESPONSES], param: 'text.format.description', reason: 'optional' },
    ...{ upstreams: ['anthropic', 'gemini'], why: 'The schema itself is sent.' },
  },
  {
    ...{ routes: [MESSAGES], param: 'thinking.display', reason: 'optional' },
    why: 'The answer shows the thoughts that the upstream shows.',
  },
  {
    ...{ routes: [CHAT], param: 'modalities', values: [['text']], reason: 'default' },
    why: 'Every answer is text.',
  },
  {
    ...{ routes: [CHAT], param: 'functions', values: [[]], reason: 'default' },
    why: 'An empty list adds nothing.',
  },
  {
    ...{ routes: [RESPONSES], param: 'background', values: [false], reason: 'default' },
    why: 'No response runs in the background.',
  },
  {
    ...{ routes: [RESPONSES], param: 'truncation', values: ['disabled'], reason: 'default' },
    why: 'A conversation that is too long is refused.',
  },
  {
    ...{ routes: [RESPONSES], param: 'include', reason: 'optional' },
    why: 'Weir refuses log probabilities by name. Other values are about tools that the provider runs.',
  },
  {
    ...{ routes: [RESPONSES], param: 'max_tool_calls', reason: 'default', why: NO_HOSTED_TOOLS },
  },
  {
    ...{ routes: [RESPONSES], param: 'reasoning.summary', reason: 'optional' },
    why: 'The response shows the thoughts that the upstream shows.',
  },
  {
    ...{ routes: [RESPONSES], param: 'reasoning.generate_summary', reason: 'optional' },
    why: 'The response shows the thoughts that the upstream shows.',
  },
  {
    ...{ routes: [RESPONSES], param: 'reasoning.context', values: ['auto'], reason: 'default' },
    why: 'The upstream decides which earlier thoughts it reads.',
  },
  {
    ...{ routes: [RESPONSES], param: 'reasoning.mode', values: ['standard'], reason: 'default' },
    why: 'Other modes have a price of their own.',
  },
  {
    ...{ routes: [RESPONSES], param: 'text.verbosity', values: ['medium'], reason: 'default' },
    ...{ upstreams: ['anthropic', 'gemini'], why: 'It is the default.' },
  },
  {
    ...{ routes: [CHAT], param: 'seed', upstreams: ['anthropic', 'responses'], reason: 'hint' },
    why: 'The model has no seed. A seed only makes equal answers more likely.',
  },
  {
    ...{ routes: [GEMINI], param: 'generationConfig.seed', reason: 'hint' },
    ...{ upstreams: ['anthropic', 'responses'] },
    why: 'The model has no seed. A seed only makes equal answers more likely.',
  },
  {
    ...{ routes: [CHAT], param: 'verbosity', values: ['medium'], reason: 'default' },
    ...{ upstreams: ['anthropic', 'gemini'], why: 'It is the default.' },
  },
  {
    ...{ routes: [MESSAGES], param: 'output_config.effort', upstreams: ['openai', 'responses'] },
    ...{ reason: 'optional', why: 'Only models that do not reason do not get it.' },
  },
  {
    ...{ routes: [MESSAGES], param: 'thinking.type', upstreams: ['openai', 'responses'] },
    ...{ values: ['adaptive'], reason: 'optional' },
    why: 'The model decides how much it thinks, and a model that does not reason thinks nothing.',
  },
  {
    ...{ routes: [CHAT], param: 'tools[].function.strict', upstreams: ['bedrock'], values: [true] },
    ...{ reason: 'optional', why: NOT_STRICT },
  },
  {
    ...{ routes: [MESSAGES, RESPONSES], param: 'tools[].strict', upstreams: ['bedrock'] },
    ...{ values: [true], reason: 'optional', why: NOT_STRICT },
  },
  {
    ...{ routes: OPENAI, param: 'parallel_tool_calls', upstreams: ['gemini'], values: [false] },
    ...{ reason: 'own', why: FIRST_CALL },
  },
  {
    ...{ routes: [MESSAGES], param: 'tool_choice.disable_parallel_tool_use' },
    ...{ upstreams: ['gemini'], values: [true], reason: 'own', why: FIRST_CALL },
  },
  { routes: [GEMINI], param: 'labels', reason: 'hint', why: ABOUT_CALLER },
  {
    ...{ routes: [GEMINI], param: 'safetySettings', reason: 'optional' },
    why: 'Each provider has filters of its own, which a request cannot set.',
  },
  {
    ...{ routes: [GEMINI], param: 'serviceTier', reason: 'default' },
    ...{ values: ['standard', 'unspecified', 'service_tier_unspecified'] },
    why: 'Every call runs in the standard tier.',
  },
  {
    ...{ routes: [GEMINI], param: 'generationConfig.responseModalities', values: [['TEXT']] },
    ...{ reason: 'default', why: 'Every answer is text.' },
  },
  {
    ...{ routes: [GEMINI], param: 'generationConfig.thinkingConfig.includeThoughts' },
    ...{ reason: 'optional', why: 'The answer shows the thoughts that the upstream shows.' },
  },
  {
    ...{ routes: [GEMINI], param: 'tools[].functionDeclarations[].response', reason: 'optional' },
    why: 'The name, the description and the parameters of the function are sent.',
  },
  {
    ...{ routes: [GEMINI], param: 'tools[].functionDeclarations[].responseJsonSchema' },
    reason: 'optional',
    why: 'The name, the description and the parameters of the function are sent.',
  },
];

/** Default values of parameters of the chat routes. Weir accepts them and does not send them. */
const CHAT_DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [CHAT]: {
    ...{ n: 1, logprobs: false, top_logprobs: 0, presence_penalty: 0, frequency_penalty: 0 },
    ...{ parallel_tool_calls: true, 'tools[].function.strict': false },
  },
  [MESSAGES]: { 'tool_choice.disable_parallel_tool_use': false, 'tools[].strict': false },
  [RESPONSES]: { top_logprobs: 0, parallel_tool_calls: true, 'tools[].strict': false },
  [GEMINI]: {
    'generationConfig.candidateCount': 1,
    'generationConfig.responseLogprobs': false,
    'generationConfig.presencePenalty': 0,
    'generationConfig.frequencyPenalty': 0,
    'generationConfig.responseMimeType': 'text/plain',
    'generationConfig.thinkingConfig.thinkingBudget': -1,
  },
};

const DEFAULT_ENTRIES = Object.entries(CHAT_DEFAULTS).flatMap(([route, values]) =>
  Object.entries(values).map(
    ([param, value]): LeftOut => ({
      ...{ routes: [route], param, values: [value], reason: 'default', why: 'It is the default.' },
    }),
  ),
);

export const LEFT_OUT: readonly LeftOut[] = [
  ...CHAT_LEFT_OUT,
  ...DEFAULT_ENTRIES,
  ...DIRECT_LEFT_OUT,
];

const BY_NAME = new Map<string, readonly LeftOut[]>();
for (const entry of LEFT_OUT) {
  for (const route of entry.routes) {
    const name = `${route} ${entry.param}`;
    BY_NAME.set(name, [...(BY_NAME.get(name) ?? []), entry]);
  }
}

/**
 * True if the route takes the parameter with this value and does not send it. If `upstream` is
 * undefined, only entries without `upstreams` count.
 */
export function isLeftOut(
  route: string,
  param: string,
  value: unknown,
  upstream?: UpstreamForm,
): boolean {
  const entries = BY_NAME.get(`${route} ${param}`) ?? [];
  return entries.some(
    ({ upstreams, values }) =>
      (upstreams === undefined || (upstream !== undefined && upstreams.includes(upstream))) &&
      (values === undefined || values.some((each) => isEqual(each, value))),
  );
}

/** True for equal values. Texts are compared without regard to capital letters. */
function isEqual(listed: unknown, value: unknown): boolean {
  if (typeof listed === 'string' && typeof value === 'string') {
    return listed.toLowerCase() === value.toLowerCase();
  }
  if (Array.isArray(listed) && Array.isArray(value)) {
    return listed.length === value.length && listed.every((each, at) => isEqual(each, value[at]));
  }
  return listed === value;
}
