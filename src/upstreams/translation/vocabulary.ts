/**
 * The words that a client of each protocol knows. If a call is translated, the upstream's words in
 * an error message are foreign to the client.
 */
import type { ClientProtocol } from '../../protocols/names.ts';

/** A client of a chat protocol, or of one of Weir's own routes for direct calls. */
type Client = ClientProtocol | 'direct';

const words = (text: string) => text.split(' ');

/** Words of JSON Schema. Every protocol takes JSON schemas for tools and answers. */
const SCHEMA_WORDS = words(
  'type properties required items enum const anyOf oneOf allOf not format pattern default title ' +
    'description minLength maxLength minItems maxItems uniqueItems minimum maximum minProperties ' +
    'maxProperties additionalProperties exclusiveMinimum exclusiveMaximum $ref $defs definitions ' +
    'nullable string number integer boolean array object null true false name',
);

const GEMINI_NAMES = words(
  'contents parts role text inlineData mimeType data fileData fileUri functionCall ' +
    'functionResponse args id response thought thoughtSignature tools functionDeclarations ' +
    'parameters parametersJsonSchema toolConfig functionCallingConfig mode allowedFunctionNames ' +
    'systemInstruction generationConfig maxOutputTokens temperature topP topK seed stopSequences ' +
    'presencePenalty frequencyPenalty candidateCount responseMimeType responseSchema ' +
    'responseJsonSchema thinkingConfig thinkingBudget thinkingLevel includeThoughts ' +
    'responseModalities responseLogprobs logprobs safetySettings labels cachedContent model user',
);

/** Converts a `camelCase` name to `snake_case`. Gemini accepts both forms. */
const toSnakeCase = (name: string) =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Names of members and values in each protocol (the request types of the providers' packages). */
const NAMES: Record<Client, ReadonlySet<string>> = {
  openai: new Set([
    ...SCHEMA_WORDS,
    ...words(
      'messages role content text image_url url detail input_audio data file file_data file_id ' +
        'filename refusal tool_calls tool_call_id function arguments id tools parameters strict ' +
        'tool_choice parallel_tool_calls response_format json_schema json_object schema ' +
        'max_tokens max_completion_tokens temperature top_p seed stop presence_penalty ' +
        'frequency_penalty reasoning_effort n logprobs top_logprobs logit_bias user metadata ' +
        'store stream stream_options include_usage service_tier modalities audio prediction ' +
        'functions function_call model system developer assistant tool auto none verbosity ' +
        'web_search_options prompt_cache_key safety_identifier',
    ),
  ]),
  responses: new Set([
    ...SCHEMA_WORDS,
    ...words(
      'input instructions role content input_text output_text text input_image image_url detail ' +
        'input_file file_data file_id filename function_call function_call_output call_id ' +
        'arguments output reasoning effort summary encrypted_content refusal tools function ' +
        'parameters strict tool_choice parallel_tool_calls json_schema json_object schema ' +
        'verbosity max_output_tokens temperature top_p top_logprobs user metadata store stream ' +
        'include truncation background previous_response_id conversation prompt service_tier ' +
        'model system developer assistant message auto none id namespace caller',
    ),
  ]),
  anthropic: new Set([
    ...SCHEMA_WORDS,
    ...words(
      'messages role content text image document source base64 url media_type data tool_use ' +
        'tool_result tool_use_id id input is_error thinking redacted_thinking signature ' +
        'budget_tokens system tools input_schema strict cache_control tool_choice ' +
        'disable_parallel_tool_use max_tokens temperature top_p top_k stop_sequences stream ' +
        'metadata user_id service_tier output_config effort json_schema schema model user ' +
        'assistant citations container caller diagnostics auto any none tool',
    ),
  ]),
  direct: new Set(
    words(
      'model input dimensions encoding_format user voice response_format speed instructions file ' +
        'language prompt temperature timestamp_granularities query documents top_n ' +
        'max_tokens_per_doc return_documents text target_lang source_lang formality context',
    ),
  ),
  gemini: new Set([...SCHEMA_WORDS, ...GEMINI_NAMES, ...GEMINI_NAMES.map(toSnakeCase)]),
};

/**
 * Words that in an error message nearly always name a parameter. They are foreign even without
 * quotation marks, unless the client's protocol has them.
 */
const PECULIAR_NAMES = new Set(
  words(
    'messages contents parts instructions system thinking thought function functions arguments ' +
      'args refusal logprobs modalities prediction metadata labels seed truncation conversation ' +
      'citations container caller diagnostics verbosity namespace strict candidates',
  ),
);

/** Phrases, and the protocols whose clients know them. */
const PHRASES: [phrase: RegExp, clients: readonly Client[]][] = [
  [/content blocks?\b/i, ['anthropic']],
  [/\bfunction (?:call|response)s?\b/i, ['openai', 'responses', 'gemini']],
  [/\bfunction (?:call|response) turn\b|\bvalid role\b/i, ['gemini']],
  [/\btool messages?\b/i, ['openai']],
  [/\binput items?\b/i, ['responses']],
  [/\bproto\b|JSON payload|cannot find field|dictionary|malformed input|#:|subject must/i, []],
];

/** Names of providers and of their products. Clients must not see them (P5). */
const PRODUCTS =
  /claude|gemini|gpt|openai|anthropic|google|vertex|bedrock|amazon|\baws\b|azure|microsoft|cohere|deepl\b/i;

/** A word, and the quotation mark directly before it. The apostrophe in `model's` is not one. */
const WORD = /(?<!\w)(['"`]?)(\$?[A-Za-z_]\w*)/g;

/**
 * True if the text has a word or phrase that a client of this protocol does not know. `own` are the
 * names that the client chose itself, e.g. of its tools.
 */
export function isForeign(
  text: string,
  client: Client,
  own: ReadonlySet<string> = new Set(),
): boolean {
  if (PHRASES.some(([phrase, clients]) => !clients.includes(client) && phrase.test(text))) {
    return true;
  }
  for (const [, quote, word = ''] of text.matchAll(WORD)) {
    if (own.has(word) || NAMES[client].has(word)) continue;
    if (PRODUCTS.test(word)) return true;
    if (quote !== '' || PECULIAR_NAMES.has(word.toLowerCase()) || isIdentifier(word)) return true;
  }
  return false;
}

/** True for `snake_case`, `camelCase`, `PascalCase` with several words, and `UPPER_CASE`. */
function isIdentifier(word: string): boolean {
  return word.includes('_') || /[a-z][A-Z]|[A-Z]{2}[a-z]{2}/.test(word);
}
