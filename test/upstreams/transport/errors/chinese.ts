import { openai, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
const coded = (code: string, message = 'The call failed.') => ({ error: { code, message } });
const inline = (code: string, message: string) => ({ code, message, request_id: 'r' });

export const CHINESE_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'DashScope',
    source: 'Alibaba Cloud docs: Model Studio error codes',
    payloads: [
      sent(
        400,
        'account',
        openai(
          'Access denied, please make sure your account is in good standing.',
          'Arrearage',
          'Arrearage',
        ),
        { source: 'hsliuping/TradingAgents-CN#170' },
      ),
      sent(
        400,
        'account',
        inline('Arrearage', 'Access denied, please make sure your account is in good standing.'),
        { source: 'tencentmusic/supersonic#1572' },
      ),
      sent(401, 'account', inline('InvalidApiKey', 'Invalid API-key provided.')),
      sent(401, 'account', openai('Incorrect API key provided.', INVALID, 'invalid_api_key')),
      sent(
        403,
        'account',
        inline(
          'AccessDenied.Unpurchased',
          'Access to model denied. Please make sure you are eligible for using the model.',
        ),
      ),
      sent(
        403,
        'account',
        inline('AllocationQuota.FreeTierOnly', 'The free tier of the model has been exhausted.'),
      ),
      sent(403, 'account', inline('Model.AccessDenied', 'Model access denied.')),
      sent(
        429,
        'throttle',
        inline('Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.'),
      ),
      sent(
        429,
        'throttle',
        inline(
          'Throttling.AllocationQuota',
          'Allocated quota exceeded, please increase your quota limit.',
        ),
      ),
      sent(
        429,
        'throttle',
        openai('You exceeded your current requests list.', 'limit_requests', 'limit_requests'),
      ),
      sent(
        400,
        'caller',
        inline('DataInspectionFailed', 'Input data may contain inappropriate content.'),
        filtered,
      ),
      sent(
        400,
        'caller',
        openai(
          'Output data may contain inappropriate content.',
          'data_inspection_failed',
          'data_inspection_failed',
        ),
        filtered,
      ),
      sent(
        400,
        'caller',
        inline('InvalidParameter', 'The thinking_budget parameter must be a positive integer.'),
      ),
      sent(
        400,
        'caller',
        inline('InvalidParameter.FileDownload', 'Download the media resource timed out.'),
      ),
      sent(
        400,
        'caller',
        openai(
          '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]',
          'invalid_parameter_error',
          'invalid_parameter_error',
        ),
        tooLong,
      ),
      sent(
        404,
        'broken',
        inline(
          'ModelNotFound',
          'The model qwen-nope does not exist or you do not have access to it.',
        ),
      ),
      sent(
        500,
        'broken',
        inline('InternalError.Algo', 'An internal error has occurred during algorithm execution.'),
      ),
      sent(
        503,
        'overload',
        inline('ModelUnavailable', 'Model is unavailable, please try again later.'),
      ),
      sent(500, 'broken', inline('RequestTimeOut', 'Request timed out, please try again later.')),
    ],
  },
  {
    vendor: 'Zhipu',
    source: 'docs.bigmodel.cn: Error codes; docs.z.ai: Error codes',
    payloads: [
      ...['1000', '1001', '1002', '1003', '1004'].map((code) => sent(401, 'account', coded(code))),
      ...['1110', '1111', '1112', '1113', '1121', '1309', '1310'].map((code) =>
        sent(429, 'account', coded(code)),
      ),
      sent(429, 'account', coded('1311', 'The plan does not include the model.')),
      sent(400, 'account', coded('1113', '您的账户已欠费,请充值后重试')),
      sent(403, 'account', coded('1220')),
      sent(429, 'throttle', coded('1302')),
      sent(429, 'throttle', coded('1303')),
      sent(429, 'overload', coded('1305')),
      sent(429, 'overload', coded('1312')),
      sent(400, 'broken', coded('1211', '模型不存在,请检查模型代码')),
      sent(500, 'broken', coded('1234')),
      sent(500, 'broken', coded('1230')),
      sent(400, 'caller', coded('1210')),
      sent(400, 'caller', coded('1213')),
      sent(
        400,
        'caller',
        coded('1214', 'The messages parameter is illegal. Please check the documentation.'),
      ),
      sent(400, 'caller', coded('1261', 'Prompt 超长'), tooLong),
      sent(400, 'caller', coded('1301'), filtered),
    ],
  },
  {
    vendor: 'Moonshot',
    source: 'platform.kimi.com: API errors',
    payloads: [
      sent(401, 'account', openai('Invalid Authentication', 'invalid_authentication_error')),
      sent(401, 'account', openai('Incorrect API key provided', 'incorrect_api_key_error')),
      sent(
        429,
        'account',
        openai(
          'Your account is suspended, please check your plan and billing details',
          'exceeded_current_quota_error',
        ),
      ),
      sent(
        403,
        'account',
        openai('The API you are accessing is not open', 'permission_denied_error'),
      ),
      sent(
        429,
        'throttle',
        openai('Your account request reached max concurrency: 3', 'rate_limit_reached_error'),
      ),
      sent(
        429,
        'overload',
        openai(
          'The engine is currently overloaded, please try again later',
          'engine_overloaded_error',
        ),
      ),
      sent(
        404,
        'broken',
        openai('Not found the model or Permission denied', 'resource_not_found_error'),
      ),
      sent(500, 'broken', openai('Failed to extract file', 'server_error')),
      sent(
        400,
        'caller',
        openai('The request was rejected because it was considered high risk', 'content_filter'),
        filtered,
      ),
      sent(400, 'caller', openai('Input token length too long', INVALID), tooLong),
      sent(
        400,
        'caller',
        openai('Your request exceeded model token limit : 8192', INVALID),
        tooLong,
      ),
      sent(400, 'caller', openai('Invalid request: temperature must be 1', INVALID)),
    ],
  },
  {
    vendor: 'DeepSeek',
    source: 'api-docs.deepseek.com: Error Codes',
    payloads: [
      sent(402, 'account', openai('Insufficient Balance', 'unknown_error', INVALID)),
      sent(
        401,
        'account',
        openai(
          'Authentication Fails, Your api key: ****abcd is invalid',
          'authentication_error',
          INVALID,
        ),
      ),
      sent(400, 'broken', openai('Model Not Exist', INVALID, INVALID)),
      sent(
        422,
        'caller',
        openai(
          'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`',
          INVALID,
          INVALID,
        ),
        { source: 'deepseek-ai/DeepSeek-V3 issues' },
      ),
      sent(
        400,
        'caller',
        openai(
          "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.",
          INVALID,
          INVALID,
        ),
        tooLong,
      ),
      sent(429, 'throttle', openai('Rate limit reached', 'rate_limit_error')),
      sent(
        503,
        'overload',
        openai('Service is too busy.', 'service_unavailable_error', 'service_unavailable_error'),
      ),
      sent(
        400,
        'caller',
        openai(
          'The `reasoning_content` in the thinking mode must be passed back to the API.',
          INVALID,
          INVALID,
        ),
        { source: 'anomalyco/opencode issues' },
      ),
    ],
  },
];
