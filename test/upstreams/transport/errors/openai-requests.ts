import { openai, sent, type VendorErrors } from './payload.ts';

const INVALID = 'invalid_request_error';
const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;

/**
 * A bad request, in the words of OpenAI. Without `source` it is unproved. `code` and `param` are null
 * if the source does not print them.
 */
const bad = (
  message: string,
  code: string | null,
  param: string | null,
  source?: string,
  error_id?: 'content_policy_violation' | 'context_length_exceeded',
) =>
  sent(400, 'caller', openai(message, INVALID, code, param), {
    ...(source ? { source } : {}),
    ...(error_id ? { error_id } : {}),
  });

/** Errors that the client's request causes. */
export const OPENAI_REQUEST_ERRORS: VendorErrors = {
  vendor: 'OpenAI',
  payloads: [
    bad(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'unsupported_parameter',
      'max_tokens',
      'tailcallhq/forgecode#1081',
    ),
    bad(
      "Unsupported parameter: 'temperature' is not supported with this model.",
      'unsupported_parameter',
      'temperature',
      'appatalks/eva-agent#83',
    ),
    bad(
      "Invalid schema for function 'get_room_layout': In context=('properties', 'objects'), array schema missing items.",
      'invalid_function_parameters',
      'tools[0].function.parameters',
      'modelscope/ms-agent#610',
    ),
    bad(
      "Invalid schema for function 'mysql_execute': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'params'.",
      'invalid_function_parameters',
      'tools[1].parameters',
      'kevinwatt/mysql-mcp#5',
    ),
    bad(
      "Invalid 'messages[2].tool_calls': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.",
      'array_above_max_length',
      'messages[2].tool_calls',
      'openai/openai-dotnet#317',
    ),
    bad(
      "Invalid 'messages[18].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'empty_array',
      'messages[18].tool_calls',
      'chatboxai/chatbox#2079',
    ),
    bad(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      null,
      null,
      'danny-avila/LibreChat#10408',
    ),
    bad(
      "This model's maximum context length is 4097 tokens. However, you requested 4120 tokens (3120 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
      'context_length_exceeded',
      'messages',
      'mckaywrigley/chatbot-ui#102',
      'context_length_exceeded',
    ),
    bad(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 8202 tokens. Please reduce the length of the messages.",
      'context_length_exceeded',
      'messages',
      'dimagi/open-chat-studio#463',
      'context_length_exceeded',
    ),
    bad(
      'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting',
      'invalid_prompt',
      null,
      'alan-turing-institute/t0-1#69',
      'content_policy_violation',
    ),
    bad(
      'Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system.',
      null,
      null,
      'RanFeng/clipsketch-ai#6',
      'content_policy_violation',
    ),
    bad("Unknown parameter: 'max_token'.", 'unknown_parameter', 'max_token'),
    bad(
      "Unsupported value: 'temperature' does not support 0.16 with this model. Only the default (1)",
      null,
      null,
      'decolua/9router#560',
    ),
    bad(
      "Invalid type for 'messages[0].content': expected a string, but got an array instead.",
      null,
      null,
      'danny-avila/LibreChat#3111',
    ),
    bad(
      "Invalid value: 'bot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
      'invalid_value',
      'messages[0].role',
    ),
    bad("Missing required parameter: 'messages'.", 'missing_required_parameter', 'messages'),
    bad(
      "Invalid schema for response_format 'x': In context=(), 'additionalProperties' is required to be supplied and to be false.",
      null,
      'response_format',
    ),
    bad(
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
      'decimal_above_max_value',
      'temperature',
    ),
    bad(
      "Invalid 'tools[0].function.name': string does not match pattern.",
      'invalid_value',
      'tools[0].function.name',
    ),
    bad('Error while downloading https://example.org/a.png.', 'invalid_image_url', null),
    bad(
      'You uploaded an unsupported image. Please make sure your image is valid.',
      'invalid_image_format',
      null,
    ),
    bad(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages",
      null,
      'messages',
      'BloomLabsInc/genkit-plugins#225',
    ),
    bad(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      null,
      'messages',
    ),
    sent(
      400,
      'caller',
      openai(
        'Your input exceeds the context window of this model. Please adjust your input and try again.',
        INVALID,
        'context_length_exceeded',
        'input',
      ),
      tooLong,
    ),
    sent(
      400,
      'caller',
      {
        error: {
          message:
            'Your request was rejected by the safety system. If you believe this is an error, contact us at help.openai.com and include the request ID b68e1d8f-31a3-4a04-aa41-bf442d857ccd. safety_violations=[sexual].',
          ...{ type: 'image_generation_user_error', param: null, code: 'moderation_blocked' },
          moderation_details: { moderation_stage: 'output', categories: ['sexual'] },
        },
      },
      { ...filtered, source: 'ucx0204/CarrotMangaTranslator#122' },
    ),
    // A relay drops the type and the code.
    sent(
      400,
      'caller',
      {
        message:
          'Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system. (request id: 20250814152832642668801wKakdzZB)',
      },
      { ...filtered, source: 'abi/screenshot-to-code#519' },
    ),
    // The words of the newer error, after a relay dropped the type and the code.
    sent(
      400,
      'caller',
      { message: 'Your request was rejected by the safety system. safety_violations=[sexual].' },
      filtered,
    ),
  ],
};
