import { rulesOf } from '../rule.ts';

/** Providers of images, videos and music. */
export const MEDIA_RULES = [
  ...rulesOf(
    'Kling',
    'app.klingai.com: API documentation, Error codes',
    {
      account: ['1000', '1001', '1002', '1003', '1004', '1100', '1101', '1102', '1103', '1304'],
      throttle: ['1302', '1303'],
      overload: ['5001'],
      broken: ['1202', '1203', '5000', '5002'],
      caller: ['1200', '1201'],
    },
    { at: 'code', protocols: ['kling'] },
  ),
  ...rulesOf(
    'Kling',
    'app.klingai.com: API documentation, Error codes',
    { caller: ['1300', '1301'] },
    { at: 'code', protocols: ['kling'], error_id: 'content_policy_violation' },
  ),
  ...rulesOf('Volcengine Ark', 'volcengine.com/docs/82379: Error codes', {
    account: [
      ...['AuthenticationError', 'AccountOverdueError', 'AccessDenied', 'InvalidAccountStatus'],
      ...['InvalidSubscription', 'OperationDenied', 'InvalidSignature'],
      ...['UnsupportedRegion', 'OperationDenied.ServiceNotOpen', 'QuotaExceeded'],
      ...[
        'MissingAuthentication',
        'AccountRateLimitExceeded.Overdue',
        'InvalidEndpoint.NoPermission',
      ],
    ],
    throttle: [
      ...['RateLimitExceeded', 'AccountRateLimitExceeded', 'ModelAccountRpmRateLimitExceeded'],
      ...[
        'ModelAccountTpmRateLimitExceeded',
        'ModelAccountIpmRateLimitExceeded',
        'RequestBurstTooFast',
      ],
      ...['APIAccountRpmRateLimitExceeded', 'InflightBatchsizeExceeded'],
    ],
    overload: ['ServerOverloaded', 'ServiceOverloaded', 'ServiceUnavailable'],
    broken: [
      ...['InvalidEndpoint', 'InvalidEndpointOrModel', 'ModelNotOpen', 'InternalServiceError'],
      ...['UnsupportedModel', 'ModelLoadingError', 'NotFound', 'InvalidEndpoint.ClosedEndpoint'],
      ...['InvalidEndpointOrModel.NotFound'],
    ],
  }),
  ...rulesOf(
    'Volcengine Ark',
    'volcengine/MineContext#328',
    { account: ['SetLimitExceeded'] },
    // The limit is one model's.
    { health: 'model' },
  ),
  ...rulesOf(
    'Volcengine Ark',
    'volcengine/volcengine-python-sdk#13',
    // The channel's endpoint may be of another kind than the request.
    { unclear: [/^one or more parameters specified in the request are not valid/i] },
    { statuses: [400] },
  ),
  ...rulesOf(
    'Volcengine Ark',
    'volcengine.com/docs/82379: Error codes',
    {
      caller: [
        ...['SensitiveContentDetected', 'InputTextSensitiveContentDetected'],
        ...['InputImageSensitiveContentDetected', 'InputVideoSensitiveContentDetected'],
        ...['InputAudioSensitiveContentDetected', 'OutputTextSensitiveContentDetected'],
        ...['OutputImageSensitiveContentDetected', 'OutputVideoSensitiveContentDetected'],
        ...['OutputAudioSensitiveContentDetected', 'ContentSecurityDetectionError'],
        ...['InputTextRiskDetection', 'OutputTextRiskDetection', 'InputImageRiskDetection'],
      ],
    },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf(
    'Volcengine Ark',
    'volcengine.com/docs/82379: Error codes',
    {
      caller: [
        ...['InvalidParameter', 'MissingParameter', 'InvalidImageURL', 'OutofContextError'],
        ...['InvalidArgumentError', 'InvalidAction'],
      ],
    },
    { is_general: true, statuses: [400, 409] },
  ),
  ...rulesOf(
    'fal',
    'docs.fal.ai: Model API errors; @fal-ai/client response.ts',
    {
      caller: [
        ...['image_too_small', 'image_too_large', 'image_load_error', 'file_download_error'],
        ...['face_detection_error', 'file_too_large', 'unsupported_image_format', 'one_of'],
        ...['unsupported_audio_format', 'unsupported_video_format', 'audio_duration_too_long'],
        ...['video_duration_too_long', 'audio_duration_too_short', 'video_duration_too_short'],
        ...['invalid_archive', 'archive_file_count_below_minimum', 'feature_not_supported'],
        ...['sequence_too_short', 'sequence_too_long', 'multiple_of', 'no_media_generated'],
      ],
    },
    { statuses: [400, 413, 415, 422] },
  ),
  ...rulesOf('fal', 'docs.fal.ai: Model API errors; Queue errors', {
    account: [
      /exhausted balance/i,
      /user is locked/i,
      /^cannot access application/i,
      /^no user found for key id and secret/i,
    ],
    throttle: ['concurrent_requests_limit', /concurrent requests limit/i],
    broken: [
      ...['downstream_service_error', 'downstream_service_unavailable', 'generation_timeout'],
      ...['runner_scheduling_failure', 'runner_connection_timeout', 'runner_disconnected'],
      ...['runner_connection_refused', 'runner_connection_error', 'runner_incomplete_response'],
      ...['runner_server_error', 'request_timeout', 'startup_timeout', 'internal_error'],
      /^application ["']?\S+["']? not found/i,
      /^path \/\S* not found/i,
    ],
    overload: ['client_disconnected_overload'],
  }),
  ...rulesOf('Replicate', 'replicate.com/docs: HTTP API; replicate/replicate-javascript', {
    account: [
      /insufficient credit/i,
      /^unauthenticated$/i,
      /free time limit reached/i,
      /monthly spend limit/i,
    ],
    throttle: [/^request was throttled/i],
    broken: [/invalid version or not permitted/i, /requested resource could not be found/i],
    caller: [/^(?:- )?input(?:\.\S*)?: /i, 'Input validation failed'],
  }),
  ...rulesOf('Runway', 'docs.dev.runwayml.com: API errors; @runwayml/sdk core/error.ts', {
    account: [
      /not have enough credits/i,
      /^invalid (?:api )?(?:key|token)/i,
      /^incorrect hostname for api key/i,
    ],
    throttle: [/daily task limit/i],
    broken: [/model variant .{0,60}is not available/i, /X-Runway-Version/],
    caller: [/^validation of body failed/i, /^invalid asset/i, /failed to fetch asset/i],
  }),
  ...rulesOf(
    'Stability AI',
    'platform.stability.ai: REST API v2beta, responses',
    { caller: ['content_moderation'] },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf('Stability AI', 'platform.stability.ai: REST API v2beta, responses', {
    account: [
      'unauthorized',
      'payment_required',
      'insufficient_balance',
      /lack sufficient credits/i,
    ],
    throttle: ['rate_limit_exceeded'],
    broken: ['not_found', 'internal_error'],
    // The header is not the client's.
    unclear: [/^content-type: must be/i],
  }),
  ...rulesOf('Black Forest Labs', 'docs.bfl.ai: Errors', {
    account: [/^insufficient credits/i, /^not authenticated/i],
    throttle: [/active tasks/i],
  }),
  ...rulesOf(
    'Ideogram',
    'developer.ideogram.ai: API reference',
    { caller: [/\b(?:prompt|image)\b.{0,40}\bfailed (?:the |to pass )?safety checks?/i] },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf(
    'Ideogram',
    'developer.ideogram.ai: API reference',
    { caller: [/^invalid (?:input|prompt)/i] },
    { statuses: [400, 422] },
  ),
  ...rulesOf('Ideogram', 'developer.ideogram.ai: API reference', {
    account: [/^not authorized/i, /insufficient (?:api )?credits/i],
  }),
  ...rulesOf(
    'MiniMax',
    'platform.minimax.io: Error codes',
    {
      account: ['1004', '1008', '2049', '2056'],
      throttle: ['1002', '1041', '2045'],
      broken: ['1000', '1001', '1013', '1024', '1033', '2153'],
      caller: ['2013', '20132', '2037', '2038', '2039', '2042'],
    },
    { at: 'base_resp.status_code' },
  ),
  ...rulesOf(
    'MiniMax',
    'platform.minimax.io: Error codes',
    { caller: ['1026', '1027'] },
    { at: 'base_resp.status_code', error_id: 'content_policy_violation' },
  ),
  ...rulesOf(
    'MiniMax',
    'platform.minimax.io: Error codes',
    { caller: ['1039'] },
    { at: 'base_resp.status_code', error_id: 'context_length_exceeded' },
  ),
  // MiniMax's language models have the protocols of OpenAI and Anthropic, and the code in the words.
  ...rulesOf(
    'MiniMax',
    'MiniMax-AI/MiniMax-M2#62; MiniMax-AI/MiniMax-M2.7#36; nearai/ironclaw#1742',
    {
      account: [
        'insufficient_balance_error',
        /insufficient balance \(1008\)/i,
        /usage limit exceeded.{0,200}\(2056\)/i,
        /login fail.{0,200}\(1004\)/i,
        /invalid api key.{0,80}\(2049\)/i,
      ],
      throttle: [/rate limit.{0,80}\(1002\)/i],
      broken: [/unknown model .{0,80}\(2013\)/i],
    },
  ),
  ...rulesOf(
    'MiniMax',
    'MiniMax-AI/MiniMax-M2#119',
    { caller: [/context window exceeds limit/i] },
    { error_id: 'context_length_exceeded', statuses: [400] },
  ),
  ...rulesOf(
    'MiniMax',
    'https://platform.minimax.io/docs/api-reference/errorcode',
    { caller: [/new_sensitive \(102[67]\)/i] },
    { error_id: 'content_policy_violation' },
  ),
];
