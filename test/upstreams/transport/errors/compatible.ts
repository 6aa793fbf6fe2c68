import { openai, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
const _coded = (code: string, message = 'The call failed.') => ({ error: { code, message } });
const _inline = (code: string, message: string) => ({ code, message, request_id: 'r' });

export const COMPATIBLE_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Groq',
    source: 'console.groq.com: API error codes; Flex processing',
    payloads: [
      sent(
        498,
        'overload',
        openai('Flex tier capacity exceeded', 'server_error', 'capacity_exceeded'),
      ),
      sent(401, 'account', openai('Invalid API Key', INVALID, 'invalid_api_key')),
      sent(
        400,
        'account',
        openai(
          'Organization has been restricted. Please reach out to support if you believe this was in error.',
          INVALID,
          'organization_restricted',
        ),
        { source: 'groq/groq-python issues' },
      ),
      sent(
        429,
        'throttle',
        openai(
          'Rate limit reached for model `llama-3.3-70b-versatile` on tokens per minute (TPM): Limit 6000, Used 5800. Please try again in 1.5s.',
          'tokens',
          'rate_limit_exceeded',
        ),
        { wait_ms: 1_500 },
      ),
      sent(
        413,
        'throttle',
        openai(
          'Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 9000',
          'tokens',
          'rate_limit_exceeded',
        ),
        { source: 'groq/groq-python issues' },
      ),
      sent(
        400,
        'broken',
        openai(
          'The model `llama3-8b` has been decommissioned and is no longer supported.',
          INVALID,
          'model_decommissioned',
        ),
      ),
      sent(
        404,
        'broken',
        openai(
          'The model `nope` does not exist or you do not have access to it.',
          INVALID,
          'model_not_found',
        ),
      ),
      sent(
        400,
        'unclear',
        openai(
          "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
          INVALID,
          'tool_use_failed',
        ),
        { source: 'groq/groq-python issues' },
      ),
      sent(
        400,
        'caller',
        openai("'messages.0' : for 'role:user' the following must be satisfied", INVALID),
      ),
      sent(
        400,
        'caller',
        openai(
          'Please reduce the length of the messages or completion.',
          INVALID,
          'context_length_exceeded',
          'messages',
        ),
        tooLong,
      ),
      sent(503, 'overload', openai('Service unavailable', 'internal_server_error')),
    ],
  },
  {
    vendor: 'Mistral',
    source: 'docs.mistral.ai: Error glossary; @mistralai/mistralai@2.7.0 models/errors',
    payloads: [
      sent(401, 'account', { message: 'Unauthorized', request_id: 'r' }),
      sent(401, 'account', { detail: 'Unauthorized' }),
      sent(429, 'throttle', {
        message: 'Requests rate limit exceeded',
        type: 'rate_limited',
        code: '1300',
        object: 'error',
        param: null,
      }),
      sent(
        429,
        'throttle',
        {
          object: 'error',
          message: 'Service tier capacity exceeded for this model.',
          type: 'service_tier_capacity_exceeded',
          param: null,
          code: '3505',
        },
        { source: 'continuedev/continue issues' },
      ),
      sent(400, 'broken', {
        object: 'error',
        message: 'Invalid model: nope',
        type: 'invalid_model',
        param: null,
        code: '1500',
      }),
      sent(
        422,
        'caller',
        {
          detail: [
            {
              type: 'extra_forbidden',
              loc: ['body', 'stream_options'],
              msg: 'Extra inputs are not permitted',
              input: {},
            },
          ],
        },
        { source: 'BerriAI/litellm issues' },
      ),
      sent(422, 'caller', {
        object: 'error',
        message: {
          detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }],
        },
        type: 'invalid_request_error',
        param: null,
        code: null,
      }),
      sent(
        400,
        'caller',
        {
          object: 'error',
          message:
            'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
          type: 'invalid_request_message_order',
          param: null,
          code: '3230',
        },
        { source: 'BerriAI/litellm issues' },
      ),
      sent(
        400,
        'caller',
        {
          object: 'error',
          message:
            'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
          type: 'invalid_request_prompt',
          param: null,
          code: '3051',
        },
        tooLong,
      ),
      sent(500, 'broken', {
        object: 'error',
        message: 'Internal server error',
        type: 'internal_server_error',
        code: '1000',
      }),
      sent(503, 'overload', {
        object: 'error',
        message: 'Service unavailable.',
        type: 'internal_server_error',
        code: '1100',
      }),
    ],
  },
  {
    vendor: 'xAI',
    source: 'docs.x.ai: Debugging errors',
    payloads: [
      sent(400, 'account', {
        code: 'Client specified an invalid argument',
        error:
          'Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai.',
      }),
      sent(403, 'account', {
        code: 'The caller does not have permission to execute the specified operation',
        error: "Your newly created team doesn't have any credits yet.",
      }),
      sent(429, 'account', {
        code: 'Some resource has been exhausted',
        error:
          'Your team has either used all available credits or reached its monthly spending limit.',
      }),
      sent(401, 'account', {
        code: 'unauthenticated:bad-credentials',
        error: 'The OAuth2 access token could not be validated.',
      }),
      sent(429, 'throttle', {
        code: 'Some resource has been exhausted',
        error: 'Too many requests for team.',
      }),
      sent(404, 'broken', {
        code: 'Some requested entity was not found',
        error: 'The model grok-9 does not exist or your team a1 does not have access to it.',
      }),
      sent(503, 'overload', {
        code: 'The service is currently unavailable',
        error: 'Service temporarily unavailable. The model is at capacity right now.',
      }),
      sent(400, 'caller', {
        code: 'Client specified an invalid argument',
        error: 'Argument not supported on this model: presencePenalty',
      }),
      sent(
        400,
        'caller',
        {
          code: 'Client specified an invalid argument',
          error:
            "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        },
        tooLong,
      ),
      sent(
        403,
        'caller',
        {
          code: 'The caller does not have permission to execute the specified operation',
          error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CSAM',
        },
        filtered,
      ),
      sent(422, 'unclear', 'Failed to deserialize the JSON body into the target type'),
    ],
  },
];
