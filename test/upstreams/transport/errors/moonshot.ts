import { openai, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
const DOCS = 'https://platform.kimi.ai/docs/api/errors';
/** Only statuses and words. */
const CODING_DOCS = 'https://www.kimi.com/code/docs/en/kimi-code/error-reference.html';
const moonshot = (type: string, message: string) => ({ error: { message, type } });

/** Errors of Moonshot and DeepSeek. */
export const MOONSHOT_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Moonshot',
    payloads: [
      sent(401, 'account', moonshot('invalid_authentication_error', 'Invalid Authentication'), {
        source: 'continuedev/continue#10559',
      }),
      sent(401, 'account', moonshot('incorrect_api_key_error', 'Incorrect API key provided'), {
        source: DOCS,
      }),
      sent(
        403,
        'account',
        moonshot(
          'exceeded_current_quota_error',
          'Your account org-1<ak-1> is not active, organization <org-1> exceeded current quota, please check your plan and billing details',
        ),
        { source: 'MoonshotAI/Kimi-K2#5' },
      ),
      sent(
        429,
        'account',
        moonshot(
          'exceeded_current_quota_error',
          'Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
        ),
        { source: 'continuedev/continue#11443' },
      ),
      sent(
        403,
        'account',
        moonshot(
          'access_terminated_error',
          'Access terminated. Review our Community Guidelines (https://www.kimi.com/code/docs/kimi-code/community-guidelines.html) or contact support@moonshot.cn for assistance.',
        ),
        { source: 'clacky-ai/openclacky#192' },
      ),
      sent(
        403,
        'account',
        {
          error: {
            type: 'permission_error',
            message:
              "You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle. To continue now, purchase extra usage or upgrade your plan: https://www.kimi.com/code/#pricing",
          },
          type: 'error',
        },
        { source: 'NanmiCoder/cc-haha#1208' },
      ),
      sent(
        403,
        'account',
        moonshot(
          'access_terminated_error',
          "You've reached your weekly (7-day) usage limit. Your quota will reset when the current 7-day window ends. To continue now, purchase extra usage or upgrade your plan: https://www.kimi.com/membership/subscription?tab=quota",
        ),
        { source: 'openclaw/openclaw#142656' },
      ),
      sent(
        403,
        'account',
        moonshot(
          'access_terminated_error',
          'Kimi For Coding is currently only available for Coding Agents such as Kimi CLI, Claude Code, Roo Code, Kilo Code, etc.',
        ),
        { source: 'MoonshotAI/kimi-code#414' },
      ),
      sent(
        402,
        'account',
        moonshot(
          '',
          "We're unable to verify your membership benefits at this time. Please ensure your membership is active.",
        ),
        { source: 'MoonshotAI/kimi-code#2624' },
      ),
      // The limits of 5 hours and of a month.
      ...[
        "You've reached your usage limit for this period. Your quota will be refreshed in the next period. Upgrade to get more: https://www.kimi.com/code/console?from=limit-upgrade",
        "You've reached kimi monthly usage limit for this billing cycle. Your quota will be refreshed in the next cycle.",
      ].map((message) =>
        sent(429, 'account', moonshot('rate_limit_reached_error', message), {
          source: CODING_DOCS,
        }),
      ),
      sent(
        429,
        'throttle',
        moonshot(
          'rate_limit_reached_error',
          "We're receiving too many requests at the moment. Please wait a moment and try again.",
        ),
        { source: 'MoonshotAI/kimi-cli#901' },
      ),
      sent(
        429,
        'overload',
        {
          error: {
            type: 'rate_limit_error',
            message: 'The engine is currently overloaded, please try again later',
          },
          type: 'error',
        },
        { source: 'earendil-works/pi#3494' },
      ),
      sent(
        403,
        'account',
        moonshot('permission_denied_error', 'The API you are accessing is not open'),
      ),
      sent(
        429,
        'throttle',
        moonshot(
          'rate_limit_reached_error',
          'Organization Rate limit exceeded, please try again after 1 seconds',
        ),
        { source: 'LLM-Red-Team/kimi-cc#16', wait_ms: 1_000 },
      ),
      sent(
        429,
        'throttle',
        moonshot(
          'rate_limit_reached_error',
          'Rate limit exceeded, please try again after 1 seconds',
        ),
        { source: 'CherryHQ/cherry-studio#2959', wait_ms: 1_000 },
      ),
      sent(
        429,
        'throttle',
        moonshot(
          'rate_limit_reached_error',
          'Your account org-1<ak-1> request reached max organization concurrency: 1, please try again after 1 seconds',
        ),
        { source: 'LLM-Red-Team/kimi-cc#16', wait_ms: 1_000 },
      ),
      sent(
        429,
        'throttle',
        moonshot(
          'rate_limit_reached_error',
          'Your account 1 / proj-1 <ak-1> request reached project TPM rate limit, current: 1410, limit: 100, see https://platform.moonshot.cn/docs/pricing/limits',
        ),
        { source: 'LLM-Red-Team/kimi-cc#41' },
      ),
      sent(
        429,
        'throttle',
        moonshot(
          'rate_limit_reached_error',
          'Your account org-1 / proj-1 <ak-1> request reached organization TPD rate limit, current: 1526210, limit: 1500000',
        ),
        { source: 'MoonshotAI/kimi-cli#1599' },
      ),
      sent(
        429,
        'overload',
        moonshot(
          'engine_overloaded_error',
          'The engine is currently overloaded, please try again later',
        ),
        { source: 'MoonshotAI/MoonshotAI-Cookbook#16' },
      ),
      sent(
        404,
        'broken',
        moonshot(
          'resource_not_found_error',
          'Not found the model kimi-k2-0711-preview or Permission denied',
        ),
        { source: 'langgenius/dify#39778' },
      ),
      sent(
        404,
        'broken',
        moonshot('resource_not_found_error', 'not found the model or permission denied'),
        { source: 'chatchat-space/Langchain-Chatchat#3767' },
      ),
      sent(500, 'broken', moonshot('server_error', 'Failed to extract file')),
      sent(
        400,
        'caller',
        openai(
          'The request was rejected because it was considered high risk',
          'content_filter',
          400,
          'prompt',
        ),
        { ...filtered, source: 'MoonshotAI/kimi-cli#1002' },
      ),
      sent(400, 'caller', moonshot(INVALID, 'Input token length too long'), {
        ...tooLong,
        source: DOCS,
      }),
      sent(
        400,
        'caller',
        moonshot('content_filter', 'The request was rejected because it was considered high risk'),
        { ...filtered, source: DOCS },
      ),
      sent(
        400,
        'caller',
        moonshot(
          INVALID,
          'File size is too large, max file size is 100MB, please confirm and re-upload the file',
        ),
        { source: DOCS },
      ),
      sent(
        400,
        'caller',
        moonshot(INVALID, 'File size is zero, please confirm and re-upload the file'),
        { source: DOCS },
      ),
      sent(
        400,
        'caller',
        moonshot(
          INVALID,
          'Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)',
        ),
        { ...tooLong, source: 'MoonshotAI/kimi-cli#2011' },
      ),
      sent(
        400,
        'caller',
        moonshot(
          INVALID,
          'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
        ),
        { source: 'continuedev/continue#11600' },
      ),
      sent(400, 'caller', moonshot(INVALID, 'Your request exceeded model token limit : 8192'), {
        ...tooLong,
        source: DOCS,
      }),
      sent(
        400,
        'caller',
        moonshot(INVALID, 'invalid temperature: only 1 is allowed for this model'),
        { source: 'opencyvis/opencyvis-phone#12' },
      ),
      sent(
        400,
        'caller',
        moonshot(INVALID, 'invalid presence_penalty: only 0 is allowed for this model'),
        { source: 'cecli-dev/cecli#484' },
      ),
    ],
  },
  {
    vendor: 'DeepSeek',
    payloads: [
      sent(402, 'account', openai('Insufficient Balance', 'unknown_error', INVALID), {
        source: 'danilofalcao/jarvis#62',
      }),
      sent(
        401,
        'account',
        openai(
          'Authentication Fails, Your api key: ****_KEY is invalid',
          'authentication_error',
          INVALID,
        ),
        { source: 'FullStackPlayer/claude-code-launcher#3' },
      ),
      sent(
        401,
        'account',
        openai('Authentication Fails (no such user)', 'authentication_error', INVALID),
        { source: 'nextcloud/integration_openai#182' },
      ),
      sent(
        402,
        'account',
        { detail: 'Insufficient Balance' },
        { source: 'harry0703/MoneyPrinterTurbo#425' },
      ),
      sent(400, 'broken', openai('Model Not Exist', INVALID, INVALID), {
        source: 'deepwn/addi#13',
      }),
      sent(
        400,
        'caller',
        openai(
          'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
          INVALID,
          INVALID,
        ),
        { source: 'HELPMEEADICE/doge-code#5' },
      ),
      sent(400, 'caller', openai('Content Exists Risk', INVALID, INVALID), {
        ...filtered,
        source: '666ghj/BettaFish#541',
      }),
      sent(
        400,
        'caller',
        { detail: 'Content Exists Risk' },
        { ...filtered, source: 'deepseek-ai/DeepSeek-V2#30' },
      ),
      sent(
        422,
        'unclear',
        'Failed to deserialize the JSON body into the target type: messages[2]: invalid type: sequence, expected a string at line 1 column 325',
        { source: 'deepseek-ai/awesome-deepseek-integration#57' },
      ),
      sent(
        400,
        'caller',
        openai(
          "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
          INVALID,
          INVALID,
        ),
        { ...tooLong, source: 'evalstate/fast-agent#621' },
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
        { source: 'mnfst/modelparams.dev#29' },
      ),
    ],
  },
];
