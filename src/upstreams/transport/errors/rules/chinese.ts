import { rulesOf } from '../rule.ts';

/** Providers from China that are called with the protocol of OpenAI. */
export const CHINESE_RULES = [
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
];
