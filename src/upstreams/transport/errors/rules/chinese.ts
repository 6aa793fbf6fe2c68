import { rulesOf } from '../rule.ts';

/** Zhipu's codes. The route with the protocol of Anthropic has them in `error.type`. */
const ZHIPU_RULES = ['error.code', 'error.type'].flatMap((at) => [
  ...rulesOf(
    'Zhipu',
    'https://docs.bigmodel.cn/cn/faq/api-code.md; anthropics/claude-code#11345',
    {
      account: [
        ...['1000', '1001', '1002', '1003', '1004', '1005', '1100', '1110', '1111', '1112', '1113'],
        ...['1121', '1220', '1304', '1308', '1309', '1310', '1313', '1314', '1315', '1316', '1317'],
        ...['1318', '1319', '1320', '1321'],
      ],
      throttle: ['1302', '1303'],
      overload: ['1305', '1312'],
      broken: ['1120', '1200', '1211', '1221', '1222', '1230', '1234'],
      caller: ['1210', '1212', '1213', '1214', '1215'],
    },
    { at },
  ),
  ...rulesOf(
    'Zhipu',
    'docs.bigmodel.cn: Error codes',
    { account: ['1311'] },
    { at, health: 'model' },
  ),
  ...rulesOf(
    'Zhipu',
    'docs.bigmodel.cn: Error codes',
    { caller: ['1261'] },
    { at, error_id: 'context_length_exceeded' },
  ),
  ...rulesOf(
    'Zhipu',
    'docs.bigmodel.cn: Error codes',
    { caller: ['1300', '1301'] },
    { at, error_id: 'content_policy_violation' },
  ),
]);

/** Providers from China that are called with the protocol of OpenAI. */
export const CHINESE_RULES = [
  ...rulesOf('DashScope', 'Alibaba Cloud docs: Model Studio error codes', {
    account: [
      ...['Arrearage', 'InvalidApiKey', 'AccessDenied', 'Workspace.AccessDenied'],
      ...['AllocationQuota', 'CommodityNotPurchased', 'PrepaidBillOverdue', 'PostpaidBillOverdue'],
      ...['QuotaExceeded', 'InvalidSecurityToken', 'App.AccessDenied'],
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
    'Alibaba Cloud docs: Model Studio error codes; 666ghj/BettaFish#609',
    {
      account: [
        ...['AllocationQuota.FreeTierOnly', 'AccessDenied.Unpurchased', 'Model.AccessDenied'],
        ...['access_denied.unpurchased', 'free_tier_only'],
      ],
    },
    // Every model has a free quota and an access of its own.
    { health: 'model' },
  ),
  ...rulesOf(
    'DashScope',
    'Alibaba Cloud docs: Model Studio error codes; QwenLM/qwen-code#2905',
    {
      caller: [
        ...['DataInspectionFailed', 'data_inspection_failed', 'IPInfringementSuspect'],
        /InternalError\.Algo\.DataInspectionFailed/,
        /data may contain inappropriate content/i,
      ],
    },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf(
    'DashScope',
    'hawkxtreme/mini-ai-1c#23',
    // The code is OpenAI's code of a spent account, but the limit is one of tokens a minute.
    { throttle: [/error-code#token-limit/] },
    { statuses: [429], overrules: true },
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
  ...ZHIPU_RULES,
  ...rulesOf('Moonshot', 'platform.kimi.com: API errors', {
    account: [
      ...[
        'invalid_authentication_error',
        'incorrect_api_key_error',
        'exceeded_current_quota_error',
      ],
      ...['permission_denied_error', 'access_terminated_error'],
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
  ...rulesOf(
    'Moonshot',
    'www.kimi.com: Kimi Code, Error Reference',
    {
      account: [/^you've reached (?:your|kimi) .{0,20}\busage limit\b/i],
      // Also with Anthropic's code of a rate limit.
      overload: [/^the engine is currently overloaded\b/i],
    },
    { statuses: [403, 429] },
  ),
  ...rulesOf('DeepSeek', 'api-docs.deepseek.com: Error Codes', {
    account: [/^insufficient balance$/i, /^authentication fails/i, /user balance is not enough/i],
    broken: [/^model not exist$/i],
  }),
  ...rulesOf(
    'DeepSeek',
    '666ghj/BettaFish#541; deepseek-ai/DeepSeek-V2#30',
    { caller: [/^content exists risk$/i] },
    { error_id: 'content_policy_violation' },
  ),
];
