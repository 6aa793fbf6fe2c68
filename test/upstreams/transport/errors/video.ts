import { sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const kling = (code: number, message: string) => ({ code, message, request_id: 'r' });
const ON_KLING = { protocol: 'kling' } as const;
const ark = (code: string, message: string) => ({ error: { code, message, param: '', type: '' } });
const _detail = (type: string, msg: string, ...loc: string[]) => ({
  detail: [{ loc: ['body', ...loc], msg, type }],
});
const _stability = (name: string, ...errors: string[]) => ({ id: 'a1', name, errors });
const minimax = (status_code: number, status_msg: string) => ({
  base_resp: { status_code, status_msg },
});

export const VIDEO_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Kling',
    source: 'app.klingai.com: API documentation, Error codes',
    payloads: [
      sent(401, 'account', kling(1000, 'Authentication failed'), ON_KLING),
      sent(401, 'account', kling(1002, 'Authorization is invalid'), ON_KLING),
      sent(401, 'account', kling(1004, 'Authorization has expired'), ON_KLING),
      sent(429, 'account', kling(1100, 'Account exception'), ON_KLING),
      sent(429, 'account', kling(1101, 'Account in arrears (postpaid scenario)'), ON_KLING),
      sent(429, 'account', kling(1102, 'Resource pack depleted or expired'), ON_KLING),
      sent(403, 'account', kling(1103, 'Unauthorized access to requested resource'), ON_KLING),
      sent(429, 'account', kling(1304, 'Triggered the IP whitelisting policy'), ON_KLING),
      sent(
        429,
        'throttle',
        kling(1302, 'The API request is too fast, exceeding the platform rate limit'),
        ON_KLING,
      ),
      sent(
        429,
        'throttle',
        kling(1303, 'Concurrency or QPS exceeds the prepaid resource package limit'),
        ON_KLING,
      ),
      sent(400, 'caller', kling(1200, 'Invalid request parameters'), ON_KLING),
      sent(
        400,
        'caller',
        kling(1201, 'Invalid parameters, such as incorrect key or illegal value'),
        ON_KLING,
      ),
      sent(404, 'broken', kling(1202, 'The requested method is invalid'), ON_KLING),
      sent(
        404,
        'broken',
        kling(1203, 'The requested resource does not exist, such as the model'),
        ON_KLING,
      ),
      sent(400, 'caller', kling(1300, 'Trigger the platform strategy'), {
        ...ON_KLING,
        ...filtered,
      }),
      sent(400, 'caller', kling(1301, 'Trigger the content security policy of the platform'), {
        ...ON_KLING,
        ...filtered,
      }),
      sent(500, 'broken', kling(5000, 'Server internal error'), ON_KLING),
      sent(
        503,
        'overload',
        kling(5001, 'Server temporarily unavailable, usually due to maintenance'),
        ON_KLING,
      ),
      sent(
        504,
        'broken',
        kling(5002, 'Server internal timeout, usually due to a backlog'),
        ON_KLING,
      ),
      sent(
        400,
        'unclear',
        kling(1201, 'The number means nothing at a channel of another protocol'),
      ),
    ],
  },
  {
    vendor: 'Volcengine Ark',
    source: 'volcengine.com/docs/82379: Error codes',
    payloads: [
      sent(
        401,
        'account',
        ark('AuthenticationError', 'The API key or AK/SK in the request is missing or invalid.'),
      ),
      sent(403, 'account', ark('AccountOverdueError', 'The account has an overdue balance.')),
      sent(403, 'account', ark('AccessDenied', 'Access denied.')),
      sent(
        429,
        'account',
        ark('SetLimitExceeded', 'Your account has reached the set inference limit for the model.'),
      ),
      sent(
        429,
        'account',
        ark('QuotaExceeded', 'Your account has exhausted its free trial quota for the model.'),
      ),
      sent(404, 'broken', ark('ModelNotOpen', 'Your account has not activated the model.')),
      sent(
        404,
        'broken',
        ark(
          'InvalidEndpointOrModel.NotFound',
          'The model or endpoint does not exist or you do not have access to it.',
        ),
      ),
      sent(
        429,
        'throttle',
        ark(
          'RateLimitExceeded.EndpointRPMExceeded',
          'The Requests Per Minute limit of the endpoint has been exceeded.',
        ),
      ),
      sent(
        429,
        'throttle',
        ark('ModelAccountTpmRateLimitExceeded', 'The Tokens Per Minute limit has been exceeded.'),
      ),
      sent(
        429,
        'throttle',
        ark('AccountRateLimitExceeded', 'The account has exceeded the rate limit.'),
      ),
      sent(
        429,
        'overload',
        ark('ServerOverloaded', 'The service is currently unable to handle additional requests.'),
      ),
      sent(
        400,
        'caller',
        ark('InvalidParameter', 'A parameter specified in the request is not valid: content.'),
      ),
      sent(400, 'caller', ark('MissingParameter', 'The request is missing the parameter content.')),
      sent(
        400,
        'caller',
        ark('InvalidParameter.UnsupportedParameter', 'The parameter ratio is not supported.'),
      ),
      sent(
        400,
        'caller',
        ark('SensitiveContentDetected', 'The input text may contain sensitive information.'),
        filtered,
      ),
      sent(
        400,
        'caller',
        ark(
          'InputTextSensitiveContentDetected',
          'The input text may contain sensitive information.',
        ),
        filtered,
      ),
      sent(
        400,
        'caller',
        ark(
          'InputImageSensitiveContentDetected.PrivacyInformation',
          'The input image may contain a real person.',
        ),
        filtered,
      ),
      sent(
        400,
        'caller',
        ark(
          'OutputVideoSensitiveContentDetected',
          'The output video may contain sensitive information.',
        ),
        filtered,
      ),
      sent(
        500,
        'broken',
        ark('InternalServiceError', 'The service encountered an unexpected internal error.'),
      ),
      sent(401, 'account', {
        ResponseMetadata: { RequestId: 'r', Error: { Code: 'InvalidSignature', Message: 'wrong' } },
      }),
    ],
  },
  {
    vendor: 'Relay of Suno and Midjourney',
    source: 'QuantumNous/new-api: types/error.go; issues',
    payloads: [
      sent(403, 'account', {
        error: {
          code: 'insufficient_user_quota',
          message: '用户额度不足, 剩余额度: $0.1',
          type: 'new_api_error',
          param: '',
        },
      }),
      sent(401, 'account', {
        error: { code: '', message: '无效的令牌 (request id: 2025)', type: 'new_api_error' },
      }),
      sent(403, 'account', {
        error: {
          code: 'pre_consume_token_quota_failed',
          message: 'token quota is not enough',
          type: 'new_api_error',
        },
      }),
      sent(503, 'broken', {
        error: {
          code: 'model_not_found',
          message: 'No available channel for model suno under group default',
          type: 'new_api_error',
        },
      }),
      sent(
        400,
        'caller',
        {
          error: {
            code: 'sensitive_words_detected',
            message: 'user sensitive words detected',
            type: 'new_api_error',
          },
        },
        filtered,
      ),
      sent(500, 'broken', {
        error: {
          code: 'do_request_failed',
          message: 'upstream error: do request failed',
          type: 'new_api_error',
        },
      }),
      sent(429, 'overload', {
        error: { message: '当前分组上游负载已饱和，请稍后再试', type: 'new_api_error', code: '' },
      }),
    ],
  },
  {
    vendor: 'MiniMax',
    source: 'platform.minimax.io: Error codes',
    payloads: [
      sent(400, 'account', minimax(1004, 'not authorized')),
      sent(400, 'account', minimax(1008, 'insufficient balance')),
      sent(400, 'account', minimax(2049, 'invalid api key')),
      sent(400, 'throttle', minimax(1002, 'rate limit')),
      sent(400, 'throttle', minimax(2045, 'rate growth limit')),
      sent(400, 'broken', minimax(1000, 'unknown error')),
      sent(400, 'broken', minimax(1001, 'request timeout')),
      sent(400, 'caller', minimax(1026, 'input new_sensitive'), filtered),
      sent(400, 'caller', minimax(1027, 'output new_sensitive'), filtered),
      sent(400, 'caller', minimax(1039, 'token limit'), { error_id: 'context_length_exceeded' }),
      sent(400, 'caller', minimax(2013, 'invalid params')),
    ],
  },
];
