import { rulesOf } from '../rule.ts';

/** Providers that are called with the protocol of OpenAI, and Cohere, DeepL and ElevenLabs. */
export const COMPATIBLE_RULES = [
  ...rulesOf('DashScope', 'Alibaba Cloud docs: Model Studio error codes', {
    account: [
      ...['Arrearage', 'InvalidApiKey', 'AllocationQuota.FreeTierOnly', 'AccessDenied.Unpurchased'],
      ...['AccessDenied', 'Model.AccessDenied', 'Workspace.AccessDenied', 'App.AccessDenied'],
      ...['AllocationQuota', 'CommodityNotPurchased', 'PrepaidBillOverdue', 'PostpaidBillOverdue'],
      ...['QuotaExceeded', 'InvalidSecurityToken', 'access_denied.unpurchased', 'free_tier_only'],
    ],
    throttle: [
      ...['Throttling', 'LimitRequests', 'limit_requests', 'LimitBurstRate', 'limit_burst_rate'],
      ...['Throttling.AllocationQuota', 'BatchRequestsLimit'],
    ],
    overload: ['ModelServingError', 'ModelUnavailable', 'ServiceUnavailable'],
    broken: [
      ...['ModelNotFound', 'model_not_supported', 'InternalError', 'RequestTimeOut', 'SystemError'],
      ...['RequestTimeout', 'InternalError.Timeout', 'ResponseTimeout', 'WorkSpaceNotFound'],
    ],
  }),
  ...rulesOf(
    'DashScope',
    'Alibaba Cloud docs: Model Studio error codes',
    { caller: ['DataInspectionFailed', 'data_inspection_failed', 'IPInfringementSuspect'] },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf(
    'DashScope',
    'Alibaba Cloud docs: Model Studio error codes',
    { caller: [/range of input length should be/i] },
    { error_id: 'context_length_exceeded', statuses: [400] },
  ),
  ...rulesOf(
    'DashScope',
    'Alibaba Cloud docs: Model Studio error codes',
    {
      caller: [
        ...[
          'InvalidParameter',
          'invalid_parameter_error',
          'InvalidURL',
          'BadRequest',
          'InvalidFile',
        ],
        ...['MissingParameter', 'InvalidImage', 'InvalidSchema', 'InvalidSchemaFormat'],
      ],
    },
    { is_general: true, statuses: [400, 409, 413, 415, 422] },
  ),
  ...rulesOf(
    'Zhipu',
    'docs.bigmodel.cn: Error codes',
    {
      account: [
        ...['1000', '1001', '1002', '1003', '1004', '1100', '1110', '1111', '1112', '1113', '1121'],
        ...['1220', '1304', '1308', '1309', '1310', '1313'],
      ],
      throttle: ['1302', '1303'],
      overload: ['1305', '1312'],
      broken: ['1120', '1200', '1211', '1221', '1222', '1230', '1234'],
      caller: ['1210', '1212', '1213', '1214', '1215'],
    },
    { at: 'error.code' },
  ),
  ...rulesOf(
    'Zhipu',
    'docs.bigmodel.cn: Error codes',
    { account: ['1311'] },
    { at: 'error.code', health: 'model' },
  ),
  ...rulesOf(
    'Zhipu',
    'docs.bigmodel.cn: Error codes',
    { caller: ['1261'] },
    { at: 'error.code', error_id: 'context_length_exceeded' },
  ),
  ...rulesOf(
    'Zhipu',
    'docs.bigmodel.cn: Error codes',
    { caller: ['1300', '1301'] },
    { at: 'error.code', error_id: 'content_policy_violation' },
  ),
  ...rulesOf('Moonshot', 'platform.kimi.com: API errors', {
    account: [
      ...[
        'invalid_authentication_error',
        'incorrect_api_key_error',
        'exceeded_current_quota_error',
      ],
      'permission_denied_error',
    ],
    throttle: ['rate_limit_reached_error'],
    overload: ['engine_overloaded_error'],
    broken: ['resource_not_found_error', 'unexpected_output'],
  }),
  ...rulesOf(
    'Moonshot',
    'platform.kimi.com: API errors',
    { caller: [/input token length too long/i, /exceeded model token limit/i] },
    { error_id: 'context_length_exceeded', statuses: [400] },
  ),
  ...rulesOf('DeepSeek', 'api-docs.deepseek.com: Error Codes', {
    account: [/^insufficient balance$/i, /^authentication fails/i, /user balance is not enough/i],
    broken: [/^model not exist$/i],
  }),
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
    throttle: ['rate_limited', /^requests rate limit exceeded/i, 'service_tier_capacity_exceeded'],
    broken: ['invalid_model', /^invalid model: /i, 'unreachable_backend'],
    caller: ['invalid_request_file', 'invalid_request_message_order', 'invalid_request_image'],
  }),
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
        'unauthenticated',
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
  ...rulesOf('OpenRouter', 'openrouter.ai/docs: Errors', {
    account: [
      /^insufficient credits/i,
      /^no auth credentials found/i,
      /no cookie auth credentials found/i,
      /^key limit exceeded/i,
      /^user not found\.?$/i,
      /data policy/i,
    ],
    overload: [/no instances available/i],
    broken: [
      /is not a valid model id/i,
      /^no endpoints found for /i,
      /no allowed providers are available/i,
    ],
  }),
  ...rulesOf(
    'OpenRouter',
    'openrouter.ai/docs: Errors; FAQ on credits and max_tokens',
    { account: [/requires? more credits, or fewer max_tokens/i] },
    // A smaller request may still be affordable.
    { health: 'none' },
  ),
  ...rulesOf('OpenRouter', 'openrouter.ai/docs: Provider routing', {
    unclear: [/^no endpoints found that (?:support|can handle)/i],
  }),
  ...rulesOf(
    'OpenRouter',
    'openrouter.ai/docs: Errors',
    { caller: [/requires moderation on .{1,300} your input was flagged/i] },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf('Fireworks', 'docs.fireworks.ai: Inference error codes', {
    account: [/account .{0,80}is suspended/i, 'account_suspended'],
    broken: [/^model not found, inaccessible, and\/or not deployed/i],
  }),
  ...rulesOf('Together', 'docs.together.ai: Error codes', {
    account: ['credit_limit_exceeded', 'credit_limit', /credit limit exceeded/i],
    overload: ['service_unavailable', 'engine_overloaded'],
    broken: ['model_not_available', /unable to access (?:non-serverless )?model/i],
  }),
  ...rulesOf('Hugging Face', 'Hugging Face docs: Inference Providers', {
    account: [/exceeded your monthly included credits/i],
    overload: [/is currently loading/i],
    broken: [/is not supported by any provider you have enabled/i],
  }),
  ...rulesOf('Ollama', 'ollama/ollama: api/types.go, server/routes.go', {
    broken: [/^model ["']?\S+["']? not found(?:, try pulling it first)?$/i],
  }),
  ...rulesOf(
    'SiliconFlow',
    'docs.siliconflow.cn: Error handling',
    {
      account: ['30001', '30011'],
      overload: ['50505', '50603'],
      broken: ['20012'],
      caller: ['20015'],
    },
    { at: 'code' },
  ),
  ...rulesOf(
    'Cohere',
    'docs.cohere.com: Errors',
    {
      account: [
        /^invalid api token/i,
        /^no api key supplied/i,
        /billing is inactive|maximum billing limit|using a trial key, which is limited/i,
      ],
      throttle: [/rate limit/i],
      broken: [/^model ['"`]?\S+['"`]? (?:not found|was removed)/i, /^unknown model/i],
      caller: [/^invalid (?:request|type): /i],
    },
    { protocols: ['cohere', 'openai'] },
  ),
  ...rulesOf(
    'Cohere',
    'docs.cohere.com: Errors',
    { caller: [/^too many tokens: /i] },
    { error_id: 'context_length_exceeded', statuses: [400] },
  ),
  ...rulesOf(
    'DeepL',
    'developers.deepl.com: Error handling; deepl-node errors',
    { account: [/^quota (?:for this billing period )?(?:has been )?exceeded/i] },
    { statuses: [456] },
  ),
  ...rulesOf(
    'DeepL',
    'developers.deepl.com: Error handling; deepl-node errors',
    {
      account: [/^authorization fail/i],
      throttle: [/^too many requests/i],
      caller: [
        /^value for '\w+' not supported/i,
        /^bad request\. reason: /i,
        /'\w+' (?:is )?(?:required|missing|not supported)/i,
      ],
    },
    { protocols: ['deepl'] },
  ),
  ...rulesOf('ElevenLabs', 'elevenlabs.io/docs: Errors', {
    account: [
      ...['quota_exceeded', 'invalid_api_key', 'missing_permissions', 'needs_authorization'],
      ...['detected_unusual_activity', 'only_for_creator+', 'subscription_required'],
    ],
    throttle: ['too_many_concurrent_requests'],
    overload: ['system_busy'],
    broken: ['model_not_found', 'voice_not_found'],
    caller: ['max_character_limit_exceeded', 'invalid_uid', 'bad_prompt'],
  }),
  ...rulesOf('Jina', 'jina.ai: API docs', {
    account: [
      /insufficient (?:account )?balance/i,
      'AUTHZ_INSUFFICIENT_BALANCE',
      'AUTH_INVALID_API_KEY',
    ],
    throttle: [/rate limit (?:has been )?exceeded/i, 'RATE_TOKEN_LIMIT_EXCEEDED'],
  }),
];
