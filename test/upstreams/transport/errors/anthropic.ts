import { sent, type VendorErrors } from './payload.ts';

const claude = (type: string, message: string, details?: object) => ({
  type: 'error',
  error: { type, message, ...(details ? { details } : {}) },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});
const invalid = (message: string) => claude('invalid_request_error', message);
const tooLong = { error_id: 'context_length_exceeded' } as const;

export const ANTHROPIC_ERRORS: VendorErrors = {
  vendor: 'Anthropic',
  source: 'Anthropic docs: Errors',
  payloads: [
    sent(401, 'account', claude('authentication_error', 'invalid x-api-key')),
    sent(401, 'account', claude('authentication_error', 'OAuth token has expired.'), {
      source: 'anthropics/claude-code issues',
    }),
    sent(402, 'account', claude('billing_error', 'There is an issue with your billing.')),
    sent(
      403,
      'account',
      claude(
        'permission_error',
        'Your API key does not have permission to use the specified resource.',
      ),
    ),
    sent(
      400,
      'account',
      invalid(
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      ),
      { source: 'anthropics/claude-code issues' },
    ),
    sent(
      400,
      'account',
      invalid(
        'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
      ),
      { source: 'anthropics/claude-code issues' },
    ),
    sent(400, 'account', invalid('This organization has been disabled.'), {
      source: 'anthropics/claude-code issues',
    }),
    sent(
      400,
      'account',
      invalid(
        'This credential is only authorized for use with Claude Code and cannot be used for other API requests.',
      ),
      { source: 'anomalyco/opencode issues' },
    ),
    sent(
      403,
      'account',
      claude('permission_error', 'Not enrolled.', {
        error_code: 'organization_not_enrolled_in_beta',
      }),
      { source: '@anthropic-ai/sdk@1.11.0 resources/beta/beta.d.ts' },
    ),
    sent(404, 'broken', claude('not_found_error', 'model: claude-9')),
    sent(413, 'caller', claude('request_too_large', 'Request exceeds the maximum size'), {
      error_id: 'payload_too_large',
    }),
    sent(
      429,
      'throttle',
      claude(
        'rate_limit_error',
        'This request would exceed your organization’s rate limit of 40,000 input tokens per minute.',
      ),
      { headers: { 'retry-after': '21' }, wait_ms: 21_000 },
    ),
    sent(500, 'broken', claude('api_error', 'Internal server error')),
    sent(504, 'broken', claude('timeout_error', 'Request timed out')),
    sent(529, 'overload', claude('overloaded_error', 'Overloaded')),
    sent(400, 'caller', invalid('prompt is too long: 208310 tokens > 200000 maximum'), tooLong),
    sent(413, 'caller', claude('invalid_request_error', 'Prompt is too long'), {
      ...tooLong,
      source: 'anthropics/claude-code issues',
    }),
    sent(
      400,
      'caller',
      invalid(
        'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
      ),
      { ...tooLong, source: 'anthropics/claude-code issues' },
    ),
    sent(400, 'caller', invalid("input exceeds the model's context window"), tooLong),
    sent(400, 'caller', invalid('messages.0.role: Input should be user or assistant')),
    sent(400, 'caller', invalid('max_tokens: Field required')),
    sent(400, 'caller', invalid('tools.0.custom.name: String should have at most 128 characters'), {
      source: 'anthropics/claude-code#96152',
    }),
    sent(400, 'caller', invalid('messages: text content blocks must be non-empty'), {
      source: 'langchain-ai/langchain issues',
    }),
    sent(400, 'caller', invalid('context_management: Extra inputs are not permitted'), {
      source: 'BerriAI/litellm issues',
    }),
    sent(
      400,
      'caller',
      invalid(
        'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.',
      ),
      { source: 'anthropics/claude-code issues' },
    ),
    sent(400, 'caller', invalid('Output blocked by content filtering policy'), {
      error_id: 'content_policy_violation',
      source: 'anthropics/claude-code issues',
    }),
    sent(
      400,
      'caller',
      claude('invalid_request_error', 'threads', {
        error_code: 'thread_unsupported_request',
        unsupported: ['tools'],
      }),
      { source: 'anthropics/anthropic-sdk-python: tool_runner' },
    ),
    sent(409, 'caller', claude('conflict_error', 'The resource was changed.')),
    sent(
      503,
      'overload',
      '<html><body>upstream connect error or disconnect/reset before headers</body></html>',
      { source: 'anthropics/claude-code issues' },
    ),
  ],
};
