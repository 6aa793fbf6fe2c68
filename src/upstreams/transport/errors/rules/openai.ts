import { rulesOf } from '../rule.ts';

/** Statuses at which an error of a general kind can be the caller's. */
const REFUSALS = [400, 409, 413, 415, 422];

/** OpenAI, Azure OpenAI, and codes that OpenAI-compatible providers took over from OpenAI. */
export const OPENAI_RULES = [
  ...rulesOf('OpenAI', 'OpenAI docs: Error codes', {
    account: [
      ...['invalid_api_key', 'insufficient_quota', 'billing_hard_limit_reached'],
      ...['billing_not_active', 'account_deactivated', 'invalid_organization'],
      ...['unsupported_country_region_territory', 'insufficient_permissions', 'ip_not_authorized'],
      ...['mismatched_organization', 'mismatched_project', 'access_terminated', 'invalid_project'],
      ...['no_organization', 'credit_balance_exhausted', 'organization_spend_limit_exceeded'],
      ...['project_spend_limit_exceeded', 'organization_usage_limit_exceeded'],
      ...[
        'billing_limit_user_error',
        'organization_deactivated',
        'access_denied',
        'invalid_issuer',
      ],
      /not have access to the organization tied to the API key/i,
      /missing scopes: /i,
    ],
    throttle: ['rate_limit_exceeded', 'rate_limit_reached'],
    overload: [
      ...['slow_down', 'engine_overloaded', 'model_overloaded', 'server_overloaded'],
      'server_is_overloaded',
    ],
    broken: [
      ...['model_not_found', 'unknown_url', 'deprecated_model'],
      ...['model_not_available', 'unsupported_model', 'invalid_model', 'model_deprecated'],
      /^(?:the )?model [`'"]?[^\s`'"]+[`'"]? (?:does not exist|has been deprecated)/i,
      /^that model does not exist/i,
      /^Invalid URL \(/,
    ],
  }),
  ...rulesOf(
    'OpenAI',
    'OpenAI docs: Error codes',
    // The account's own rate of requests rose too fast.
    { throttle: ['slow_down'] },
    { statuses: [429] },
  ),
  ...rulesOf(
    'OpenAI',
    'OpenAI docs: API organization verification',
    { account: [/must be verified to (?:use|stream|generate)/i] },
    // Only streams, or only some models, need the verification.
    { health: 'none' },
  ),
  ...rulesOf(
    'OpenAI',
    'OpenAI docs: Error codes; openai/openai-node: `error.code` of bad requests',
    {
      caller: [
        ...['string_above_max_length', 'invalid_image_url', 'invalid_image_format'],
        ...[
          'invalid_value',
          'unsupported_value',
          'image_parse_error',
          'unknown_parameter',
          'unsupported_parameter',
        ],
        ...['missing_required_parameter', 'invalid_type', 'invalid_json_schema', 'invalid_prompt'],
        ...['integer_above_max_value', 'integer_below_min_value', 'decimal_above_max_value'],
        ...['decimal_below_min_value', 'array_above_max_length', 'empty_array', 'empty_string'],
        ...['array_below_min_length', 'string_below_min_length', 'invalid_base64', 'invalid_image'],
        ...[
          'image_too_large',
          'image_too_small',
          'invalid_function_parameters',
          'duplicate_item_id',
        ],
        ...['unsupported_image_media_type', 'invalid_image_mode', 'unsupported_file_mimetype'],
        ...['invalid_encrypted_content', 'previous_response_not_found', 'audio_too_short'],
        ...['invalid_file_format', 'empty_image_file', 'failed_to_download_image'],
      ],
    },
    { statuses: REFUSALS },
  ),
  ...rulesOf(
    'OpenAI',
    'OpenAI docs: Error codes',
    { caller: ['context_length_exceeded', 'string_above_max_tokens'] },
    { error_id: 'context_length_exceeded' },
  ),
  ...rulesOf(
    'OpenAI',
    'OpenAI docs: Safety; Image generation',
    {
      caller: [
        ...['content_policy_violation', 'moderation_blocked', 'cyber_policy_violation'],
        /rejected (?:as a result of our|by the) safety system/i,
        /flagged as potentially violating our usage policy/i,
      ],
    },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf(
    'OpenAI',
    'OpenAI docs: Error codes',
    {
      caller: [
        ...['invalid_request_error', 'image_generation_user_error', 'invalid_request'],
        ...['invalid_input_error', 'bad_request_error', 'badrequesterror', 'badrequest'],
        ...['bad_request', 'unprocessable_entity', 'unprocessableentityerror', 'invalid_argument'],
      ],
    },
    { is_general: true, statuses: [400, 409, 413, 415, 422] },
  ),
  ...rulesOf(
    'OpenAI',
    'OpenAI docs: Error codes',
    {
      account: ['authentication_error', 'permission_error', 'billing_error', 'permission_denied'],
      throttle: ['rate_limit_error', 'too_many_requests', 'ratelimiterror'],
      broken: [
        'server_error',
        'not_found_error',
        'notfounderror',
        'internal_server_error',
        'internalservererror',
      ],
    },
    { is_general: true },
  ),
  ...rulesOf('Azure OpenAI', 'Azure docs: Azure OpenAI REST API reference, Errors', {
    account: [
      ...['PermissionDenied', 'InvalidSubscriptionKey', 'AuthenticationTypeDisabled'],
      ...[
        'PrincipalComponentsDoesNotHavePermission',
        'SubscriptionNotFound',
        'AccessDeniedToResource',
      ],
      /Access denied due to (?:invalid subscription key|Virtual Network\/Firewall rules)/i,
      /^a virtual network is configured for this resource/i,
      /^your resource has been temporarily blocked/i,
    ],
    overload: ['NoCapacity', 'ServiceUnavailable', 'EngineOverloaded'],
    throttle: ['TooManyRequests', 'RateLimitReached'],
    broken: [
      ...['DeploymentNotFound', 'ResourceNotFound', 'OperationNotSupported', 'ModelDeprecated'],
      ...['InternalServerError', 'ApiVersionUnsupported', 'DeploymentIdNotSupported'],
      ...['OpperationNotSupported', 'UnavailableModel', 'InternalFailure', 'Timeout'],
    ],
  }),
  ...rulesOf(
    'Azure OpenAI',
    'Azure docs: Content filtering',
    {
      caller: [
        ...['content_filter', 'ResponsibleAIPolicyViolation', 'contentFilter'],
        /triggering (?:Azure OpenAI's|Microsoft's) content management policy/i,
        /content management policy/i,
      ],
    },
    { error_id: 'content_policy_violation' },
  ),
];
