import { rulesOf } from '../rule.ts';

/** Hosts of models of others, and relays. */
export const HOST_RULES = [
  ...rulesOf('OpenRouter', 'openrouter.ai/docs: Errors', {
    account: [
      /^insufficient credits/i,
      /^no auth credentials found/i,
      /no cookie auth credentials found/i,
      /^key limit exceeded/i,
      /^user not found\.?$/i,
      /data policy/i,
    ],
    overload: [/no instances available/i],
    broken: [
      /is not a valid model id/i,
      /^no endpoints found for /i,
      /no allowed providers are available/i,
    ],
  }),
  ...rulesOf(
    'OpenRouter',
    'openrouter.ai/docs: Errors; FAQ on credits and max_tokens',
    { account: [/requires? more credits, or fewer max_tokens/i] },
    // A smaller request may still be affordable.
    { health: 'none' },
  ),
  ...rulesOf('OpenRouter', 'openrouter.ai/docs: Provider routing', {
    unclear: [/^no endpoints found that (?:support|can handle)/i],
  }),
  ...rulesOf(
    'OpenRouter',
    'openrouter.ai/docs: Errors',
    { caller: [/requires moderation on .{1,300} your input was flagged/i] },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf('Fireworks', 'docs.fireworks.ai: Inference error codes', {
    account: [/account .{0,80}is suspended/i, 'account_suspended'],
    broken: [/^model not found, inaccessible, and\/or not deployed/i],
  }),
  ...rulesOf('Together', 'docs.together.ai: Error codes', {
    account: ['credit_limit_exceeded', 'credit_limit', /credit limit exceeded/i],
    overload: ['service_unavailable', 'engine_overloaded'],
    broken: ['model_not_available', /unable to access (?:non-serverless )?model/i],
  }),
  ...rulesOf('Hugging Face', 'Hugging Face docs: Inference Providers', {
    account: [/exceeded your monthly included credits/i],
    overload: [/is currently loading/i],
    broken: [/is not supported by any provider you have enabled/i],
  }),
  ...rulesOf('Ollama', 'ollama/ollama: api/types.go, server/routes.go', {
    broken: [/^model ["']?\S+["']? not found(?:, try pulling it first)?$/i],
  }),
  ...rulesOf(
    'SiliconFlow',
    'docs.siliconflow.cn: Error handling',
    {
      account: ['30001', '30011'],
      overload: ['50505', '50603'],
      broken: ['20012'],
      caller: ['20015'],
    },
    { at: 'code' },
  ),
  ...rulesOf(
    'Relay of Suno and Midjourney',
    'QuantumNous/new-api: types/error.go; service/error.go',
    {
      account: [
        ...['insufficient_user_quota', 'pre_consume_token_quota_failed', 'user_quota_exceeded'],
        ...['channel:invalid_key', 'channel:no_available_key', 'new_api_error.account'],
        ...['unauthorized', 'token_quota_exhausted', 'quota_not_enough'],
        /用户额度不足|令牌额度已用尽|无效的令牌|token quota is not enough/,
      ],
      overload: [/当前分组.*负载已饱和/, 'get_channel_failed'],
      broken: [
        ...['do_request_failed', 'read_response_body_failed', 'bad_response_status_code'],
        ...['bad_response', 'empty_response', 'channel:model_mapped_error'],
        /无可用渠道|no available channels? for model/i,
      ],
    },
  ),
  ...rulesOf(
    'Relay of Suno and Midjourney',
    'QuantumNous/new-api: types/error.go',
    { caller: ['sensitive_words_detected', 'prompt_blocked'] },
    { error_id: 'content_policy_violation' },
  ),
];
