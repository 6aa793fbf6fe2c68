import { sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const ZHIPU = 'https://docs.bigmodel.cn/cn/faq/api-code.md';
const coded = (code: string, message: string) => ({ error: { code, message } });

/** Errors of both routes of Zhipu. */
export const ZHIPU_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Zhipu',
    source: ZHIPU,
    payloads: [
      sent(401, 'account', coded('1000', '身份验证失败')),
      sent(401, 'account', coded('1001', 'Header 中未收到 Authentication 参数，无法进行身份验证')),
      sent(401, 'account', coded('1003', 'Authentication Token 已过期，请重新生成/获取')),
      sent(401, 'account', coded('1005', '已开启二次认证保护，需要二次认证登录。')),
      sent(401, 'account', coded('401', '令牌已过期或验证不正确！'), {
        source: 'zhipuai/zhipuai-sdk-python#25',
      }),
      sent(429, 'account', coded('1113', '您的账户已欠费，请充值后重试')),
      sent(
        429,
        'account',
        {
          ...coded('1113', 'Insufficient balance or no resource package. Please recharge.'),
          request_id: '202603142338501da90b7ebe1d473d',
        },
        { source: '7836246/cursor2api#30' },
      ),
      sent(
        429,
        'account',
        {
          type: 'error',
          error: {
            type: '1113',
            message: 'Insufficient balance or no resource package. Please recharge.',
          },
          request_id: '2025111018552386057cb666f04003',
        },
        { source: 'anthropics/claude-code#11345' },
      ),
      sent(500, 'broken', coded('1200', 'API 调用失败')),
      sent(400, 'caller', coded('1210', 'API 调用参数有误，请检查文档')),
      sent(400, 'broken', coded('1211', '模型不存在，请检查模型代码')),
      sent(400, 'caller', coded('1212', '当前模型不支持 stream 调用方式')),
      sent(400, 'caller', coded('1213', '未正常接收到 messages 参数')),
      sent(400, 'caller', coded('1214', 'messages 参数非法。请检查文档')),
      sent(
        400,
        'caller',
        coded('1214', 'The messages parameter is illegal. Please check the documentation.'),
        { source: 'continuedev/continue#13259' },
      ),
      sent(400, 'caller', coded('1215', 'a 与 b 不能同时设置，请检查文档')),
      sent(403, 'account', coded('1220', '您无权访问 chat')),
      sent(400, 'broken', coded('1221', 'API chat 已下线')),
      sent(400, 'broken', coded('1222', 'API chat 不存在')),
      sent(500, 'broken', coded('1230', 'API 调用流程出错')),
      sent(500, 'broken', coded('1234', '网络错误，错误id：1，请联系客服')),
      sent(400, 'caller', coded('1261', 'Prompt 超长'), tooLong),
      sent(400, 'caller', coded('1261', 'Prompt exceeds max length'), {
        ...tooLong,
        source: 'zeroclaw-labs/zeroclaw#4124',
      }),
      sent(
        400,
        'caller',
        coded(
          '1301',
          '系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。',
        ),
        { ...filtered, source: 'langchain4j/langchain4j#1079' },
      ),
      sent(429, 'throttle', coded('1302', '您的账户已达到速率限制，请您控制请求频率')),
      sent(
        429,
        'throttle',
        coded(
          '1302',
          'High concurrency usage of this API, please reduce concurrency or contact customer service to increase limits',
        ),
        { source: 'kaitranntt/ccs#402' },
      ),
      sent(429, 'overload', coded('1305', '该模型当前访问量过大，请您稍后再试')),
      sent(
        429,
        'account',
        coded(
          '1308',
          'Usage limit reached for 5 hour. Your limit will reset at 2026-08-27 21:31:39',
        ),
        { source: 'continuedev/continue#13195' },
      ),
      sent(429, 'account', coded('1309', '您的 GLM Coding Plan 套餐已到期，暂无法使用')),
      sent(429, 'account', coded('1310', '您已达到每周/每月使用上限')),
      sent(429, 'account', coded('1311', '当前订阅套餐暂未开放glm-5权限')),
      sent(429, 'account', coded('1313', '您的账户当前使用模式不符合公平使用策略')),
      sent(429, 'account', coded('1314', '您的企业套餐已失效，请联系企业管理员。')),
      sent(
        429,
        'account',
        coded('1315', '该 API Key 仅限企业编程套餐场景使用，请到官网更换对应产品类型的 API Key'),
      ),
      sent(
        429,
        'account',
        coded('1316', '已达到 5 小时使用上限。主账号余额不足，无法使用超额按量付费。'),
      ),
      sent(
        429,
        'account',
        coded('1321', '已达到 7 天使用上限，且已达企业级月消费上限，无法使用超额按量付费'),
      ),
    ],
  },
  {
    vendor: 'Zhipu, route for Anthropic',
    payloads: [
      sent(429, 'account', {
        type: 'error',
        error: { type: '1308', message: 'Usage limit reached for 5 hour.' },
      }),
      sent(429, 'overload', {
        type: 'error',
        error: { type: '1305', message: '该模型当前访问量过大，请您稍后再试' },
      }),
    ],
  },
];
