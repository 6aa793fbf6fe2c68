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
    'unoplat/unoplat-code-confluence#1080; truefoundry/models#826',
    { account: [/data policy/i] },
    // Other models have endpoints that the account's policy allows.
    { health: 'model' },
  ),
  ...rulesOf(
    'OpenRouter',
    'openrouter.ai/docs: Errors; OpenRouterTeam/docs api_reference/limits.mdx',
    {
      account: [
        /requires? more credits, or fewer max_tokens/i,
        /^prompt tokens limit exceeded/i,
        'weight_exceeds_budget',
      ],
    },
    // A smaller request may still be affordable.
    { health: 'none' },
  ),
  // Calls that still run have reserved the credits.
  ...rulesOf('OpenRouter', 'OpenRouterTeam/docs api_reference/limits.mdx', {
    throttle: ['in_flight_budget_exhausted'],
  }),
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
  ...rulesOf(
    'Together',
    'togethercomputer/MoA#27',
    // The type is `credit_limit`.
    { throttle: [/^you have been rate limited/i] },
    { statuses: [429], overrules: true },
  ),
  ...rulesOf(
    'Hugging Face',
    'Hugging Face docs: Inference Providers; huggingface/huggingface.js#2225',
    {
      account: [/exceeded your monthly included credits/i],
      overload: [/is currently loading/i],
      broken: [
        /is not supported by any provider you have enabled/i,
        /^model not supported by provider/i,
      ],
    },
  ),
  ...rulesOf('NVIDIA', 'decolua/9router#2527; Alishahryar1/free-claude-code#1021', {
    broken: [/DEGRADED function cannot be invoked/i, /^function '[\w-]+': not found for account/i],
  }),
  ...rulesOf('Ollama', 'continuedev/continue#13195; continuedev/continue#10579', {
    account: [/subscription payment is past due/i, /reached your \w+ usage limit/i],
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
  ...rulesOf('Relay', 'QuantumNous/new-api: types/error.go; service/error.go', {
    account: [
      ...['insufficient_user_quota', 'pre_consume_token_quota_failed', 'user_quota_exceeded'],
      ...['channel:invalid_key', 'channel:no_available_key', 'new_api_error.account'],
      ...['unauthorized', 'token_quota_exhausted', 'quota_not_enough'],
      /用户额度不足|令牌额度已用尽|无效的令牌|token quota is not enough/,
    ],
    overload: ['get_channel_failed'],
    broken: [
      ...['do_request_failed', 'read_response_body_failed', 'bad_response', 'empty_response'],
      'channel:model_mapped_error',
      /无可用渠道|no available channels? for model/i,
    ],
  }),
  ...rulesOf(
    'Relay',
    'songquanpeng/one-api#330; 666ghj/BettaFish#535',
    // The code is the one of the provider behind the relay.
    { overload: [/当前分组.*负载已饱和/] },
    { statuses: [429, 503], overrules: true },
  ),
  ...rulesOf(
    'Relay',
    'QuantumNous/new-api#954; WEIFENG2333/VideoCaptioner#1120',
    { broken: ['bad_response_status_code'] },
    // The relay passes the status on. At 400 and 422, the client's request may be the reason.
    { is_general: true, statuses: [401, 402, 403, 404, 408, 500, 502, 503, 504] },
  ),
  ...rulesOf(
    'Relay',
    'skye-harris/hass_local_openai_llm#89',
    { unclear: [/^error from provider .{1,80}: upstream request failed/i] },
    { statuses: [400, 422] },
  ),
  ...rulesOf(
    'Relay',
    'QuantumNous/new-api: types/error.go',
    { caller: ['sensitive_words_detected', 'prompt_blocked'] },
    { error_id: 'content_policy_violation' },
  ),
];
