import { sent, type VendorErrors } from './payload.ts';

const claude = (type: string, message: string, details?: object) => ({
  type: 'error',
  error: { type, message, ...(details ? { details } : {}) },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});
const invalid = (message: string) => claude('invalid_request_error', message);
/** A thread about Claude Code, which prints the error as it is. */
const code = (issue: number) => ({ source: `anthropics/claude-code#${issue}` });
const DOCS = { source: 'https://platform.claude.com/docs/en/api/errors' };
const tooLong = { error_id: 'context_length_exceeded' } as const;

export const ANTHROPIC_ERRORS: VendorErrors = {
  vendor: 'Anthropic',
  payloads: [
    sent(401, 'account', claude('authentication_error', 'invalid x-api-key'), {
      source: 'cline/cline#12',
    }),
    sent(
      401,
      'account',
      claude(
        'authentication_error',
        'OAuth token has expired. Please obtain a new token or refresh your existing token.',
      ),
      code(6459),
    ),
    sent(402, 'account', claude('billing_error', 'There is an issue with your billing.'), DOCS),
    sent(403, 'account', claude('permission_error', 'Permission denied'), code(51610)),
    sent(
      400,
      'account',
      invalid(
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      ),
      code(66314),
    ),
    sent(
      400,
      'account',
      invalid(
        'You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC.',
      ),
      code(38038),
    ),
    sent(400, 'account', invalid('This organization has been disabled.'), code(19028)),
    sent(
      400,
      'account',
      invalid(
        'This credential is only authorized for use with Claude Code and cannot be used for other API requests.',
      ),
      { source: 'anymorph-ai/Claudable#45' },
    ),
    sent(404, 'broken', claude('not_found_error', 'model: sonnet4'), code(5349)),
    // This error comes from a proxy before the API: it has neither `type` nor `request_id`.
    sent(
      413,
      'caller',
      { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
      { ...code(3335), error_id: 'payload_too_large' },
    ),
    sent(
      429,
      'throttle',
      claude(
        'rate_limit_error',
        'This request would exceed the rate limit for your organization (c26fc127-ba09-49d3-a086-a2f26380d5e7) of 30,000 input tokens per minute. For details, refer to: https://docs.claude.com/en/api/rate-limits.',
      ),
      { source: 'Trae-AI/TRAE#625', headers: { 'retry-after': '21' }, wait_ms: 21_000 },
    ),
    sent(
      429,
      'throttle',
      {
        type: 'rate_limit_error',
        message:
          'This request would exceed the rate limit for your organization (c26fc127-ba09-49d3-a086-a2f26380d5e7) of 30,000 input tokens per minute.',
      },
      { source: 'continuedev/continue#9623' },
    ),
    sent(
      429,
      'throttle',
      claude(
        'rate_limit_error',
        "This request would exceed your account's rate limit. Please try again later.",
      ),
      code(9046),
    ),
    // The endpoint for clients of OpenAI puts the type into `code`.
    sent(
      429,
      'throttle',
      {
        error: {
          code: 'rate_limit_error',
          message:
            'This request would exceed the rate limit for your organization of 20,000 input tokens per minute.',
          type: 'invalid_request_error',
          param: null,
        },
      },
      { source: 'FoundationAgents/OpenManus#746' },
    ),
    sent(500, 'broken', claude('api_error', 'Internal server error'), DOCS),
    sent(504, 'broken', claude('timeout_error', 'Request timed out'), DOCS),
    sent(529, 'overload', claude('overloaded_error', 'Overloaded'), code(35768)),
    sent(
      529,
      'overload',
      claude('overloaded_error', 'Overloaded. https://docs.claude.com/en/api/errors'),
      code(39745),
    ),
    sent(400, 'caller', invalid('prompt is too long: 207368 tokens > 200000 maximum'), {
      ...tooLong,
      ...code(39534),
    }),
    sent(413, 'caller', invalid('Request size exceeds model context window'), {
      ...tooLong,
      ...code(6368),
    }),
    sent(
      400,
      'caller',
      invalid(
        'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
      ),
      { ...tooLong, source: 'docker/docker-agent#569' },
    ),
    sent(400, 'caller', invalid('messages: at least one message is required'), {
      source: 'danny-avila/LibreChat#3442',
    }),
    sent(400, 'caller', invalid('messages: text content blocks must be non-empty'), code(62312)),
    sent(400, 'caller', invalid('system: text content blocks must be non-empty'), {
      source: 'dimagi/open-chat-studio#1969',
    }),
    sent(400, 'caller', invalid('messages: text content blocks must contain non-whitespace text'), {
      source: 'nick1udwig/kibitz#87',
    }),
    sent(
      400,
      'caller',
      invalid(
        'messages.8: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01JJLWxfcBw93tw2yUcSaro4. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
      ),
      code(3632),
    ),
    sent(
      400,
      'caller',
      invalid('messages.1.content.0: Invalid `signature` in `thinking` block'),
      code(10627),
    ),
    sent(400, 'caller', invalid('Could not process image'), code(39534)),
    sent(
      400,
      'caller',
      invalid(
        'messages.0.content.2.image.source.base64: image exceeds 5 MB maximum: 15908784 bytes > 5242880 bytes',
      ),
      code(10612),
    ),
    sent(
      400,
      'caller',
      invalid(
        'messages.7.content.2.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
      ),
      code(4778),
    ),
    sent(
      400,
      'caller',
      invalid('A maximum of 4 blocks with cache_control may be provided. Found 5.'),
      { source: 'spring-projects/spring-ai#4199' },
    ),
    sent(400, 'caller', invalid('Output blocked by content filtering policy'), {
      error_id: 'content_policy_violation',
      ...code(58367),
    }),
    sent(409, 'caller', claude('conflict_error', 'The resource was changed.'), DOCS),
    sent(400, 'caller', invalid("input exceeds the model's context window"), tooLong),
    sent(400, 'caller', invalid('max_tokens: Field required')),
    sent(400, 'caller', invalid('context_management: Extra inputs are not permitted'), code(14135)),
    // LiteLLM writes `None` where it knows no type and no parameter. That names no parameter.
    sent(
      400,
      'unclear',
      {
        error: {
          message:
            '{"message":"context_management: Extra inputs are not permitted"}. Received Model Group=bedrock-sonnet-4.5\\nAvailable Model Group Fallbacks=None',
          ...{ type: 'None', param: 'None', code: '400' },
        },
      },
      code(49548),
    ),
    sent(
      503,
      'overload',
      '<html><body>upstream connect error or disconnect/reset before headers</body></html>',
    ),
  ],
};
