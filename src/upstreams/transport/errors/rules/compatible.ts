import { rulesOf } from '../rule.ts';

/** Makers of models that are called with the protocol of OpenAI. */
export const COMPATIBLE_RULES = [
  ...rulesOf(
    'OpenAI-compatible',
    'OpenAI docs: Error codes; wordings of vLLM, DeepSeek, Groq, Together and Fireworks',
    {
      caller: [
        /maximum context length/i,
        /context[ _]length[ _]exceeded/i,
        /(?:reduce|exceeds?|larger than) .{0,60}(?:context (?:window|length|size)|max_model_len)/i,
        /longer than the model's (?:maximum )?context/i,
        /input exceeds the context window/i,
        /inputs?`? tokens? \+ `?max_new_tokens`? must be <=/i,
        /`inputs` must have less than \d+ tokens/i,
        /current length is \d+ while limit is \d+/i,
      ],
    },
    { error_id: 'context_length_exceeded', statuses: [400, 413, 422] },
  ),
  ...rulesOf('Groq', 'console.groq.com: API error codes; Flex processing', {
    account: ['organization_restricted', 'blocked_api_access'],
    overload: ['capacity_exceeded', /flex tier capacity exceeded/i],
    broken: ['model_decommissioned', 'model_terms_required'],
    // The model wrote a wrong tool call. The same request may succeed on another channel.
    unclear: ['tool_use_failed', 'json_validate_failed', 'output_parse_failed'],
  }),
  ...rulesOf('Mistral', 'docs.mistral.ai: Error glossary; @mistralai/mistralai models/errors', {
    account: [/^unauthorized$/i, 'inactive_subscription', /^inactive subscription/i],
    throttle: ['rate_limited', /^requests rate limit exceeded/i],
    broken: ['invalid_model', /^invalid model: /i, 'unreachable_backend'],
    caller: ['invalid_request_file', 'invalid_request_message_order', 'invalid_request_image'],
  }),
  // At 503, Mistral itself has no capacity.
  ...rulesOf(
    'Mistral',
    'docs.mistral.ai: Error glossary; BerriAI/litellm#25078',
    { throttle: ['service_tier_capacity_exceeded'] },
    { statuses: [429] },
  ),
  ...rulesOf(
    'Mistral',
    'docs.mistral.ai: Error glossary',
    {
      caller: [
        ...[
          'invalid_request_invalid_args',
          'extra_forbidden',
          'greater_than_equal',
          'less_than_equal',
        ],
        ...[
          'invalid_request_schema',
          'validation_error',
          'value_error',
          'missing',
          'literal_error',
        ],
        ...['string_type', 'int_parsing', 'float_parsing', 'bool_parsing', 'list_type', 'enum'],
        ...[
          'string_too_long',
          'string_too_short',
          'too_long',
          'too_short',
          'greater_than',
          'less_than',
        ],
        ...[
          'int_from_float',
          'int_type',
          'string_pattern_mismatch',
          'union_tag_invalid',
          'dict_type',
        ],
        ...['value_error.missing', 'type_error.integer', 'bool_type', 'model_attributes_type'],
      ],
    },
    { is_general: true, statuses: [400, 422] },
  ),
  ...rulesOf('xAI', 'docs.x.ai: Debugging errors', {
    account: [
      /incorrect api key provided/i,
      /used all available credits or reached (?:its|your) monthly spending limit/i,
      /doesn.t have any credits/i,
      /run out of credits or need a grok subscription/i,
      /api key is currently blocked/i,
      'unauthenticated:bad-credentials',
      'personal-team-blocked:spending-limit',
    ],
    broken: [
      /does not exist or your team .{1,80} does not have access to it/i,
      'Some requested entity was not found',
    ],
    overload: ['The service is currently unavailable', /at capacity right now/i],
    throttle: ['Some resource has been exhausted'],
  }),
  ...rulesOf(
    'xAI',
    'docs.x.ai: Debugging errors',
    { caller: ['Client specified an invalid argument', 'invalid-argument'] },
    { is_general: true, statuses: [400, 422] },
  ),
  ...rulesOf(
    'xAI',
    'docs.x.ai: Debugging errors',
    {
      account: [
        'The caller does not have permission to execute the specified operation',
        ...['unauthenticated', 'permission-denied'],
      ],
    },
    { is_general: true },
  ),
  ...rulesOf(
    'xAI',
    'docs.x.ai: Debugging errors',
    { caller: [/content violates usage guidelines/i] },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf(
    'xAI',
    'docs.x.ai: Debugging errors',
    { caller: [/this model's maximum prompt length is/i] },
    { error_id: 'context_length_exceeded', statuses: [400] },
  ),
];
