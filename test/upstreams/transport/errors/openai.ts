import { openai, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';

export const OPENAI_ERRORS: VendorErrors = {
  vendor: 'OpenAI',
  source: 'OpenAI docs: Error codes',
  payloads: [
    sent(
      401,
      'account',
      openai(
        'Incorrect API key provided: sk-ab***. You can find your API key at https://platform.openai.com/account/api-keys.',
        INVALID,
        'invalid_api_key',
      ),
    ),
    sent(
      401,
      'account',
      openai('You must be a member of an organization to use the API', INVALID, null),
    ),
    sent(401, 'account', openai('Your IP 1.2.3.4 is not authorized', INVALID, 'ip_not_authorized')),
    sent(401, 'account', openai('No such organization: org-x', INVALID, 'invalid_organization')),
    sent(
      401,
      'account',
      openai(
        'You have insufficient permissions for this operation. Missing scopes: model.request.',
        INVALID,
        null,
      ),
    ),
    sent(
      403,
      'account',
      openai(
        'Country, region, or territory not supported',
        'request_forbidden',
        'unsupported_country_region_territory',
      ),
    ),
    sent(
      403,
      'account',
      openai(
        'You have insufficient permissions for this operation. Missing scopes: api.model.images.request',
        INVALID,
        null,
      ),
    ),
    sent(
      429,
      'account',
      openai(
        'You exceeded your current quota, please check your plan and billing details.',
        'insufficient_quota',
        'insufficient_quota',
      ),
    ),
    sent(
      400,
      'account',
      openai('Billing hard limit has been reached', INVALID, 'billing_hard_limit_reached'),
      { source: 'openai/openai-python issues' },
    ),
    sent(
      429,
      'account',
      openai(
        'Your account is not active, please check your billing details on our website.',
        'billing_not_active',
        'billing_not_active',
      ),
    ),
    sent(
      401,
      'account',
      openai(
        'The OpenAI account associated with this API key has been deactivated.',
        INVALID,
        'account_deactivated',
      ),
    ),
    sent(
      429,
      'throttle',
      openai(
        'Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.',
        'tokens',
        'rate_limit_exceeded',
      ),
      { wait_ms: 2_000 },
    ),
    sent(
      429,
      'throttle',
      openai(
        'Rate limit reached for gpt-4o on requests per day (RPD): Limit 200. Please try again in 7m12s.',
        'requests',
        'rate_limit_exceeded',
      ),
      { wait_ms: 432_000 },
    ),
    sent(
      429,
      'throttle',
      openai('Rate limit reached. Please try again in 870ms.', 'requests', 'rate_limit_exceeded'),
      { wait_ms: 870 },
    ),
    sent(
      429,
      'unclear',
      openai(
        'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 40000.',
        'tokens',
        'rate_limit_exceeded',
      ),
      { source: 'run-llama/llama_index issues' },
    ),
    sent(
      500,
      'broken',
      openai(
        'The server had an error while processing your request. Sorry about that!',
        'server_error',
      ),
    ),
    sent(
      503,
      'overload',
      openai('That model is currently overloaded with other requests.', 'server_error'),
      { source: 'OpenAI docs: Error codes, 503' },
    ),
    sent(503, 'overload', openai('Slow down', 'slow_down', 'slow_down')),
    sent(
      404,
      'broken',
      openai(
        'The model `gpt-5-nope` does not exist or you do not have access to it.',
        INVALID,
        'model_not_found',
      ),
    ),
    sent(
      404,
      'broken',
      openai(
        'The model `gpt-4-32k` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations',
        INVALID,
        'model_not_found',
      ),
    ),
    sent(404, 'broken', openai('Invalid URL (POST /v1/v1/chat/completions)', INVALID)),
    sent(
      400,
      'caller',
      openai("Unknown parameter: 'max_token'.", INVALID, 'unknown_parameter', 'max_token'),
    ),
    sent(
      400,
      'caller',
      openai(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        INVALID,
        'unsupported_parameter',
        'max_tokens',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "Unsupported value: 'temperature' does not support 0.2 with this model.",
        INVALID,
        'unsupported_value',
        'temperature',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an object instead.",
        INVALID,
        'invalid_type',
        'messages[0].content',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "Invalid value: 'bot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
        INVALID,
        'invalid_value',
        'messages[0].role',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "Missing required parameter: 'messages'.",
        INVALID,
        'missing_required_parameter',
        'messages',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "Invalid schema for response_format 'x': In context=(), 'additionalProperties' is required to be supplied and to be false.",
        INVALID,
        null,
        'response_format',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
        INVALID,
        'decimal_above_max_value',
        'temperature',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "Invalid 'tools[0].function.name': string does not match pattern.",
        INVALID,
        'invalid_value',
        'tools[0].function.name',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        INVALID,
        'empty_array',
        'messages',
      ),
    ),
    sent(
      400,
      'caller',
      openai('Error while downloading https://example.org/a.png.', INVALID, 'invalid_image_url'),
    ),
    sent(
      400,
      'caller',
      openai(
        'You uploaded an unsupported image. Please make sure your image is valid.',
        INVALID,
        'invalid_image_format',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        INVALID,
        null,
        'messages',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        INVALID,
        null,
        'messages',
      ),
    ),
    sent(
      400,
      'caller',
      openai(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        INVALID,
        'context_length_exceeded',
        'messages',
      ),
      tooLong,
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
      openai(
        'Your request was rejected as a result of our safety system.',
        'image_generation_user_error',
        'moderation_blocked',
      ),
      filtered,
    ),
    sent(
      400,
      'caller',
      openai(
        'Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system.',
        INVALID,
        'content_policy_violation',
      ),
      filtered,
    ),
    sent(
      400,
      'caller',
      openai(
        'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.',
        INVALID,
        'invalid_prompt',
      ),
      { ...filtered, source: 'openai/codex issues' },
    ),
    sent(
      400,
      'account',
      openai(
        'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.',
        INVALID,
        'unsupported_value',
        'stream',
      ),
      { source: 'cline/cline issues' },
    ),
    sent(
      403,
      'account',
      openai('Your organization must be verified to use the model `gpt-image-1`.', INVALID, null),
      { source: 'openai/openai-cookbook issues' },
    ),
    sent(413, 'unclear', '<html><head><title>413 Request Entity Too Large</title></head></html>', {
      source: 'nginx: the page of status 413',
    }),
    sent(
      502,
      'broken',
      '<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>',
      { source: 'Cloudflare docs: 5xx errors' },
    ),
    sent(403, 'unclear', '<!DOCTYPE html><title>Attention Required! | Cloudflare</title>', {
      source: 'Cloudflare docs: WAF block page',
    }),
    sent(520, 'broken', 'error code: 520', { source: 'Cloudflare docs: 5xx errors' }),
    sent(524, 'broken', 'error code: 524', { source: 'Cloudflare docs: 5xx errors' }),
  ],
};
