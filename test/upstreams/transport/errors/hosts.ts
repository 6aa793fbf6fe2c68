import { openai, sent, type VendorErrors } from './payload.ts';

const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
const siliconFlow = (code: number, message: string): object => ({ code, message, data: null });

/** Errors of the hosts of open models. */
export const HOST_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Fireworks',
    payloads: [
      sent(
        412,
        'account',
        {
          error: {
            message:
              'Account pollinations is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices. Please go to https://fireworks.ai/account/billing for more information.',
            param: null,
            code: 'PRECONDITION_FAILED',
            type: 'error',
          },
          request_id: '11650e2f',
        },
        { source: 'pollinations/pollinations#12136' },
      ),
      sent(
        404,
        'broken',
        {
          message: 'Model not found, inaccessible, and/or not deployed',
          param: 'model',
          code: 'NOT_FOUND',
          type: 'error',
        },
        { source: 'warpdotdev/warp#15107' },
      ),
      sent(
        400,
        'caller',
        {
          error: {
            object: 'error',
            type: INVALID,
            message: 'The prompt is too long: 9000, model maximum context length: 8192',
          },
        },
        tooLong,
      ),
    ],
  },
  {
    vendor: 'Together',
    payloads: [
      sent(
        400,
        'broken',
        {
          id: 'okk',
          ...openai(
            'Unable to access non-serverless model NousResearch/Nous-Hermes-2-Mixtral-8x7B-DPO. Please visit https://api.together.ai/models/NousResearch/Nous-Hermes-2-Mixtral-8x7B-DPO to create and start a new dedicated endpoint for the model.',
            INVALID,
            'model_not_available',
          ),
        },
        { source: 'HeyPuter/puter#3168' },
      ),
      // The type is about credits, but the limit is one of requests.
      sent(
        429,
        'throttle',
        openai(
          'You have been rate limited. Your rate limit is 60 queries per minute. Please navigate to https://api.together.xyz/settings/billing to upgrade to a paid plan.',
          'credit_limit',
        ),
        { source: 'togethercomputer/MoA#27' },
      ),
      sent(
        402,
        'account',
        {
          id: 'o1',
          ...openai(
            'Credit limit exceeded. Please navigate to https://api.together.xyz/settings/billing to add credit or upgrade your plan.',
            'credit_limit',
          ),
        },
        { source: 'expectedparrot/edsl#2098' },
      ),
      sent(
        503,
        'overload',
        openai('The server is overloaded or not ready yet.', 'service_unavailable'),
      ),
    ],
  },
  {
    vendor: 'Cerebras',
    payloads: [
      sent(
        429,
        'throttle',
        { message: 'Tokens per minute limit exceeded - too many tokens processed.' },
        { source: 'continuedev/continue#9800' },
      ),
      sent(
        400,
        'caller',
        {
          message:
            'Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000',
        },
        { ...tooLong, source: 'cline/cline#5140' },
      ),
    ],
  },
  {
    vendor: 'SiliconFlow',
    payloads: [
      sent(
        429,
        'throttle',
        {
          message: 'Request was rejected due to rate limiting. Details: TPM limit reached.',
          data: null,
        },
        { source: 'AIDotNet/OpenDeepWiki#269' },
      ),
      sent(
        403,
        'account',
        siliconFlow(
          30_011,
          'The selected model requires paid balance. Your paid balance is insufficient. Please top up and try again.',
        ),
        { source: 'FoundationAgents/OpenManus#438' },
      ),
      sent(400, 'broken', siliconFlow(20_012, 'Model does not exist. Please check it carefully.'), {
        source: 'ErlichLiu/DeepClaude#111',
      }),
      sent(
        503,
        'overload',
        siliconFlow(50_505, 'Model service overloaded. Please try again later.'),
      ),
    ],
  },
  {
    vendor: 'Xiaomi MiMo',
    payloads: [
      sent(
        400,
        'caller',
        openai(
          'Moderation Block',
          'content_filter',
          '421',
          'The request was rejected because it was considered high risk',
        ),
        { error_id: 'content_policy_violation', source: 'XiaomiMiMo/MiMo-V2-Flash#18' },
      ),
    ],
  },
  {
    vendor: 'ModelScope',
    payloads: [
      sent(
        429,
        'throttle',
        { errors: { message: 'Request limit exceeded.', request_id: 'r' } },
        { source: 'musistudio/claude-code-router#692' },
      ),
    ],
  },
  {
    vendor: 'Huawei Cloud',
    payloads: [
      sent(
        429,
        'throttle',
        {
          error_msg:
            'The throttling threshold has been reached: policy ip over ratelimit,limit:5,time:1 minute',
          error_code: 'APIG.0308',
          request_id: '914a39d6',
        },
        { source: 'langgenius/dify#18378' },
      ),
    ],
  },
];
