import { openai, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
const ZHIPU = 'https://docs.bigmodel.cn/cn/faq/api-code.md';
const coded = (code: string, message: string) => ({ error: { code, message } });
const inline = (code: string, message: string) => ({ code, message, request_id: 'r' });
/** DashScope with the protocol of OpenAI puts the code into `type` too. */
const compatible = (code: string, message: string, type = code) => ({
  ...openai(message, type, code),
  ...{ id: 'chatcmpl-1', request_id: '1' },
});

export const CHINESE_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'DashScope',
    payloads: [
      sent(
        400,
        'account',
        inline('Arrearage', 'Access denied, please make sure your account is in good standing.'),
        { source: 'tencentmusic/supersonic#1572' },
      ),
      sent(
        400,
        'account',
        compatible(
          'Arrearage',
          'Access denied, please make sure your account is in good standing.',
        ),
        { source: 'hsliuping/TradingAgents-CN#170' },
      ),
      sent(401, 'account', inline('InvalidApiKey', 'Invalid API-key provided.'), {
        source: 'dinoanderson/qwen_cli_coder#1',
      }),
      sent(
        401,
        'account',
        openai(
          'Incorrect API key provided. For details, see: https://www.alibabacloud.com/help/en/model-studio/error-code#apikey-error',
          INVALID,
          'invalid_api_key',
        ),
        { source: 'Aider-AI/aider#4712' },
      ),
      sent(
        403,
        'account',
        inline(
          'AccessDenied.Unpurchased',
          'Access to model denied. Please make sure you are eligible for using the model.',
        ),
        { source: 'harry0703/MoneyPrinterTurbo#279' },
      ),
      sent(
        403,
        'account',
        compatible(
          'AccessDenied.Unpurchased',
          'Access to model denied. Please make sure you are eligible for using the model.',
        ),
        { source: 'earendil-works/pi#7588' },
      ),
      sent(
        403,
        'account',
        compatible(
          'AllocationQuota.FreeTierOnly',
          'The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the "use free tier only" mode in the management console.',
        ),
        { source: '666ghj/BettaFish#609' },
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
      // OpenAI's code of a spent account, for a limit of tokens a minute.
      sent(
        429,
        'throttle',
        compatible(
          'insufficient_quota',
          'You exceeded your current quota, please check your plan and billing details. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit',
        ),
        { source: 'hawkxtreme/mini-ai-1c#23' },
      ),
      sent(
        429,
        'throttle',
        openai('You exceeded your current requests list.', 'limit_requests', 'limit_requests'),
      ),
      sent(
        400,
        'caller',
        compatible(
          'data_inspection_failed',
          'Input data may contain inappropriate content. For details, see: https://help.aliyun.com/zh/model-studio/error-code#inappropriate-content',
        ),
        { ...filtered, source: '666ghj/BettaFish#449' },
      ),
      sent(
        400,
        'caller',
        openai(
          '<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.',
          INVALID,
        ),
        { ...filtered, source: 'QwenLM/qwen-code#2905' },
      ),
      sent(
        400,
        'caller',
        inline('DataInspectionFailed', 'Input or output data may contain inappropriate content.'),
        {
          ...filtered,
          source: 'https://alibabacloud.com/help/en/model-studio/developer-reference/error-code',
        },
      ),
      sent(
        400,
        'caller',
        inline(
          'InvalidParameter',
          'Required parameter(s) missing or invalid, please check the request parameters.',
        ),
        { source: 'https://alibabacloud.com/help/en/model-studio/developer-reference/error-code' },
      ),
      sent(
        400,
        'caller',
        inline('InvalidParameter.FileDownload', 'Download the media resource timed out.'),
      ),
      sent(
        400,
        'caller',
        {
          ...openai(
            '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]',
            INVALID,
            'invalid_parameter_error',
          ),
          request_id: '81a373d6',
        },
        { ...tooLong, source: 'agentscope-ai/QwenPaw#6255' },
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
