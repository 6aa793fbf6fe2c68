import { rulesOf } from '../rule.ts';

/** Google (Gemini API, Vertex AI) and AWS (Bedrock). */
export const CLOUD_RULES = [
  ...rulesOf('Google', 'googleapis: google/api/error_reason.proto', {
    account: [
      ...['API_KEY_INVALID', 'API_KEY_EXPIRED', 'API_KEY_SERVICE_BLOCKED', 'SERVICE_DISABLED'],
      ...['API_KEY_HTTP_REFERRER_BLOCKED', 'API_KEY_IP_ADDRESS_BLOCKED', 'CONSUMER_INVALID'],
      ...['API_KEY_ANDROID_APP_BLOCKED', 'API_KEY_IOS_APP_BLOCKED', 'CONSUMER_SUSPENDED'],
      ...['BILLING_DISABLED', 'ACCESS_TOKEN_EXPIRED', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'],
      ...['ACCOUNT_STATE_INVALID', 'ACCESS_TOKEN_TYPE_UNSUPPORTED', 'CREDENTIALS_MISSING'],
      ...['IAM_PERMISSION_DENIED', 'USER_PROJECT_DENIED', 'LOCATION_POLICY_VIOLATED'],
      ...['SECURITY_POLICY_VIOLATED', 'ORG_RESTRICTION_VIOLATION', 'USER_BLOCKED_BY_ADMIN'],
      ...['RESOURCE_PROJECT_INVALID', 'CREDENTIALS_INVALID'],
    ],
    throttle: ['RATE_LIMIT_EXCEEDED', 'RESOURCE_QUOTA_EXCEEDED'],
    overload: ['MODEL_CAPACITY_EXHAUSTED'],
  }),
  ...rulesOf('Google', 'Gemini API docs: Troubleshooting guide', {
    account: [
      /user location is not supported for the api use/i,
      /free tier is not available in your country/i,
      /api key (?:not valid|not found|expired)/i,
      /api key was reported as leaked/i,
      /requires billing to be enabled/i,
      /prepayment credits are depleted/i,
    ],
    overload: [/model is overloaded/i, /currently experiencing high demand/i],
    broken: [
      /\bmodels\/\S+ is not found for API version/i,
      /no longer available to new users/i,
      /Publisher Model .{1,300} (?:was )?not found/i,
    ],
  }),
  ...rulesOf(
    'Google',
    'Gemini API docs: Files API, state',
    { caller: [/is not in an ACTIVE state/i] },
    { statuses: [400] },
  ),
  ...rulesOf(
    'Google',
    'googleapis: google/rpc/code.proto; Gemini API docs: Troubleshooting guide',
    {
      account: ['UNAUTHENTICATED', 'PERMISSION_DENIED'],
      throttle: ['RESOURCE_EXHAUSTED'],
      overload: ['UNAVAILABLE'],
      broken: ['INTERNAL', 'NOT_FOUND', 'DEADLINE_EXCEEDED', 'UNIMPLEMENTED', 'CANCELLED'],
    },
    { is_general: true },
  ),
  ...rulesOf(
    'Google',
    'googleapis: google/rpc/code.proto',
    { caller: ['INVALID_ARGUMENT', 'OUT_OF_RANGE'] },
    { is_general: true, statuses: [400] },
  ),
  ...rulesOf(
    'Google',
    'Gemini API docs: Troubleshooting guide; google-gemini/gemini-cli issues',
    {
      caller: [
        /input token count .{0,60}exceeds the maximum number of tokens/i,
        /request contains too many tokens/i,
        /exceeds the maximum number of tokens allowed/i,
        /unable to submit request because the input token count/i,
      ],
    },
    { error_id: 'context_length_exceeded', statuses: [400, 413] },
  ),
  ...rulesOf(
    'Google',
    'Gemini API docs: Safety; Vertex AI docs: Responsible AI for Imagen',
    {
      caller: [
        /(?:violated|violates?) (?:Google's|our|Vertex AI's) (?:Responsible AI|usage|Generative AI)/i,
        /sensitive words that violate/i,
        /blocked by your current safety settings/i,
      ],
    },
    { error_id: 'content_policy_violation', statuses: [400] },
  ),
  ...rulesOf('AWS Bedrock', 'AWS docs: Bedrock Runtime API, InvokeModel errors; Common errors', {
    account: [
      ...['AccessDeniedException', 'UnrecognizedClientException', 'InvalidSignatureException'],
      ...[
        'ExpiredTokenException',
        'ExpiredToken',
        'IncompleteSignature',
        'MissingAuthenticationToken',
      ],
      ...[
        'InvalidClientTokenId',
        'NotAuthorized',
        'OptInRequired',
        'MissingAuthenticationTokenException',
      ],
      ...['SignatureDoesNotMatch', 'InvalidAccessKeyId', 'IncompleteSignatureException'],
      ...['UnauthorizedException', 'AccessDenied'],
    ],
    throttle: [
      'ThrottlingException',
      'ServiceQuotaExceededException',
      'Throttling',
      'LimitExceededException',
    ],
    overload: ['ServiceUnavailableException', 'ModelNotReadyException', 'ServiceUnavailable'],
    broken: [
      ...['ModelErrorException', 'ModelTimeoutException', 'ModelStreamErrorException'],
      ...['InternalServerException', 'ResourceNotFoundException', 'UnknownOperationException'],
      ...['InternalFailure', 'RequestExpired'],
    ],
  }),
  ...rulesOf('AWS Bedrock', 'AWS docs: Troubleshooting Bedrock API error codes', {
    account: [/^operation not allowed$/i, /^access to \w+ models is not allowed from unsupported/i],
    broken: [
      // The channel's configuration names the model, not the client.
      /at 'modelId' failed to satisfy constraint/i,
      /^this action doesn.t support the model/i,
      /with on-demand throughput isn.t supported/i,
      /provided model identifier is invalid/i,
      /model (?:version )?has reached (?:the )?end of (?:its )?life/i,
      /the provided model doesn.t support on-demand throughput/i,
    ],
  }),
  ...rulesOf(
    'AWS Bedrock',
    'AWS docs: Troubleshooting Bedrock API error codes',
    {
      account: [
        /have access to the model with the specified model id/i,
        /model access is denied/i,
        /use case details have not been submitted/i,
      ],
    },
    { health: 'model' },
  ),
  ...rulesOf(
    'AWS Bedrock',
    'AWS docs: Bedrock Runtime API, InvokeModel errors',
    { caller: ['ValidationException', 'ConflictException'] },
    { is_general: true, statuses: [400, 409] },
  ),
  ...rulesOf(
    'AWS Bedrock',
    'AWS docs: Troubleshooting Bedrock API error codes',
    {
      caller: [/too many input tokens/i, /input is too long/i, /maxLength: \d+, actual: \d+/i],
    },
    { error_id: 'context_length_exceeded', statuses: [400] },
  ),
  ...rulesOf(
    'AWS Bedrock',
    'RooCodeInc/Roo-Code#248; charmbracelet/crush#946',
    // The body comes without a header that names the type, if a proxy drops it.
    { caller: [/^the maximum tokens you requested exceeds? the model limit/i] },
    { statuses: [400] },
  ),
];
