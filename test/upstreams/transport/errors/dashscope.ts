import { openai, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
const inline = (code: string, message: string) => ({ code, message, request_id: 'r' });
/** DashScope with the protocol of OpenAI puts the code into `type` too. */
const compatible = (code: string, message: string, type = code) => ({
  ...openai(message, type, code),
  ...{ id: 'chatcmpl-1', request_id: '1' },
});

export const DASHSCOPE_ERRORS: VendorErrors = {
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
      compatible('Arrearage', 'Access denied, please make sure your account is in good standing.'),
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
      { source: 'langgenius/dify#12142' },
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
    // The inspection failed, not the content.
    sent(
      400,
      'caller',
      inline(
        'InvalidParameter.DataInspection',
        'The media format is not supported or incorrect for the data inspection.',
      ),
      { source: 'alibaba/spring-ai-alibaba#319' },
    ),
    sent(
      400,
      'caller',
      inline(
        'InvalidParameter.DataInspection',
        'Download the media resource timed out during the data inspection process.',
      ),
      { source: 'QwenLM/Qwen-VL#431' },
    ),
    sent(
      400,
      'caller',
      openai(
        '<400> InternalError.Algo.InvalidParameter: Download multimodal file timed out',
        INVALID,
        'invalid_parameter_error',
      ),
      { source: 'labring/FastGPT#4393' },
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
};
