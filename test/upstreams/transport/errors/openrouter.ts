import { sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const LIMITS = 'OpenRouterTeam/docs api_reference/limits.mdx';
const ERRORS = 'OpenRouterTeam/docs api_reference/errors-and-debugging.mdx';
const failed = (code: number, message: string, metadata?: object): object => ({
  error: { code, message, ...(metadata === undefined ? {} : { metadata }) },
});
/** A failure of OpenRouter's provider: the provider's answer is in `raw`. */
const raw = (code: number, text: string, provider_name: string): object =>
  failed(code, 'Provider returned error', { raw: text, provider_name });

export const OPENROUTER_ERRORS: VendorErrors = {
  vendor: 'OpenRouter',
  payloads: [
    sent(401, 'account', failed(401, 'No auth credentials found'), {
      source: 'musistudio/claude-code-router#227',
    }),
    sent(401, 'account', failed(401, 'No cookie auth credentials found'), {
      source: 'Gitlawb/openclaude#967',
    }),
    sent(401, 'account', failed(401, 'User not found.'), { source: 'Fosowl/agenticSeek#407' }),
    sent(
      402,
      'account',
      failed(402, 'Insufficient credits. Add more using https://openrouter.ai/settings/credits', {
        limit_source: 'openrouter_credits',
        remedy_hint:
          'Add credits at https://openrouter.ai/settings/credits, or lower max_tokens / prompt size to fit your remaining balance.',
      }),
      { source: 'open-assistant-org/open-assistant#80' },
    ),
    sent(
      402,
      'account',
      failed(
        402,
        'Insufficient credits. This account never purchased credits. Make sure your key is on the correct account or org, and if so, purchase more at https://openrouter.ai/settings/credits',
      ),
      { source: 'Gitlawb/openclaude#43' },
    ),
    sent(
      402,
      'account',
      failed(
        402,
        'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 10114. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account',
        { provider_name: null },
      ),
      { source: 'babikov/doka-site#7' },
    ),
    sent(
      402,
      'throttle',
      failed(
        402,
        'This request would exceed your available credits given your current in-flight requests. Retry after in-flight requests settle, or add credits.',
        {
          reason: 'in_flight_budget_exhausted',
          limit_source: 'openrouter_in_flight_budget',
          remedy_hint: 'Retry after your in-flight requests settle (see the Retry-After header).',
        },
      ),
      { source: LIMITS, headers: { 'retry-after': '5' }, wait_ms: 5_000 },
    ),
    sent(
      402,
      'account',
      failed(
        402,
        'Prompt tokens limit exceeded: 36163 > 29652. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account',
      ),
      { source: 'continuedev/continue#11540' },
    ),
    sent(
      402,
      'account',
      failed(402, 'This request would exceed your available credits.', {
        reason: 'weight_exceeds_budget',
        limit_source: 'openrouter_credits',
      }),
    ),
    sent(
      403,
      'account',
      failed(403, 'Key limit exceeded. Manage it using https://openrouter.ai/keys'),
      {
        source: 'RooCodeInc/Roo-Code#515',
      },
    ),
    sent(
      403,
      'caller',
      failed(
        403,
        'openai/gpt-4o requires moderation on Azure. Your input was flagged for "harassment".',
        {
          reasons: ['harassment'],
          flagged_input: 'x',
          provider_name: 'Azure',
        },
      ),
      filtered,
    ),
    sent(
      403,
      'unclear',
      failed(403, 'Request blocked: prompt injection patterns detected', {
        patterns: ['ignore all previous instructions'],
      }),
      { source: ERRORS },
    ),
    sent(
      404,
      'account',
      failed(
        404,
        'No endpoints found matching your data policy (Paid model training). Configure: https://openrouter.ai/settings/privacy',
      ),
      { source: 'unoplat/unoplat-code-confluence#1080' },
    ),
    sent(
      404,
      'account',
      failed(
        404,
        'No endpoints available matching your guardrail restrictions and data policy. Configure: https://openrouter.ai/settings/privacy',
      ),
      { source: 'truefoundry/models#826' },
    ),
    sent(
      404,
      'broken',
      failed(404, 'No allowed providers are available for the selected model.', {
        available_providers: ['z-ai'],
        requested_providers: ['anthropic'],
      }),
      { source: 'farion1231/cc-switch#995' },
    ),
    sent(404, 'broken', failed(404, 'No endpoints found for stepfun/step-3.5-flash:free.'), {
      source: 'Alishahryar1/free-claude-code#166',
    }),
    sent(404, 'broken', failed(404, 'No endpoints found for this model.'), {
      source: 'infiniflow/ragflow#2359',
    }),
    sent(
      404,
      'unclear',
      failed(
        404,
        'No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection',
      ),
      { source: 'Routstr/routstr-core#554' },
    ),
    sent(400, 'broken', failed(400, 'minimax-m2.5:free is not a valid model ID'), {
      source: 'sipeed/picoclaw#1790',
    }),
    sent(
      400,
      'caller',
      raw(
        400,
        '{\n  "error": {\n    "message": "Response input messages must contain the word \'json\' in some form to use \'text.format\' of type \'json_object\'.",\n    "type": "invalid_request_error",\n    "param": "input",\n    "code": null\n  }\n}',
        'OpenAI',
      ),
      { source: 'reVrost/go-openrouter#21' },
    ),
    sent(
      400,
      'caller',
      raw(
        400,
        '{"error":{"type":"invalid_request_error","code":"invalid_request_error","message":"Model \'moonshotai/kimi-k2.6\' supports at most 1 image per prompt.","request_id":"req_1"}}',
        'Crucible',
      ),
      { source: 'diegosouzapw/OmniRoute#3044' },
    ),
    sent(
      400,
      'caller',
      raw(
        400,
        '{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \\"text\\" at \'contents[1].parts[0]\': Proto field is not repeating, cannot start list.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"contents[1].parts[0]","description":"Invalid JSON payload received."}]}]}}',
        'Google AI Studio',
      ),
      { source: 'DanielEdrisian/AlexSideBar-Public#104' },
    ),
    sent(400, 'unclear', failed(400, "Unrecognized key(s) in object: 'Require_Parameters'"), {
      source: 'glibsonoran/Plush-for-ComfyUI#227',
    }),
    sent(
      400,
      'caller',
      raw(
        400,
        '{"object":"error","message":"Unexpected role \'tool\' after role \'user\'","type":"invalid_request_message_order","param":null,"code":"3230"}',
        'Mistral',
      ),
      { source: 'charmbracelet/crush#279' },
    ),
    sent(400, 'unclear', raw(400, 'ERROR', 'Stealth')),
    sent(
      429,
      'throttle',
      failed(429, 'Provider returned error', {
        raw: 'z-ai/glm-5.3-flash is temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate limits: ...',
        provider_name: 'BaseTen',
        limit_source: 'upstream_provider_shared_pool',
        remedy_hint: 'Retry shortly, add your own provider key, or route to another provider',
      }),
      { source: 'open-webui/computer#293' },
    ),
    sent(
      429,
      'throttle',
      raw(
        429,
        '{"error":{"message":"Number of concurrent connections for the account exceeded. https://platform.kluster.ai/billing","errorCode":13000,"type":"invalid_request_error"}}',
        'Kluster',
      ),
      { source: 'bespokelabsai/curator#470' },
    ),
    sent(429, 'throttle', raw(429, 'error code: 1015', 'Kluster'), {
      source: 'BerriAI/litellm#8448',
    }),
    sent(
      429,
      'throttle',
      failed(
        429,
        'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day',
        { headers: { 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '0' } },
      ),
      { source: 'Gitlawb/openclaude#936' },
    ),
    sent(
      429,
      'throttle',
      failed(429, 'Rate limit exceeded', { error_type: 'rate_limit_exceeded' }),
      {
        source: LIMITS,
      },
    ),
    sent(502, 'broken', failed(502, 'Provider returned error')),
    sent(
      502,
      'broken',
      failed(502, 'Network connection lost.', { error_type: 'provider_unavailable' }),
      { source: 'anomalyco/opencode#22448' },
    ),
    sent(
      502,
      'broken',
      failed(
        502,
        'Upstream error from AtlasCloud: Unexpected token 173781 while expecting start token 200006',
        {
          raw: {
            object: 'error',
            message: 'Unexpected token 173781 while expecting start token 200006',
            type: 'BadRequestError',
            param: null,
            code: 400,
          },
          provider_name: 'AtlasCloud',
        },
      ),
      { source: 'cline/cline#5449' },
    ),
    sent(
      503,
      'overload',
      failed(503, 'Provider returned error', {
        raw: {
          error: {
            type: 'Service Unavailable',
            code: 'no_available_workers',
            message: 'No available workers (all circuits open or unhealthy)',
          },
        },
        provider_name: 'Morph',
        is_byok: false,
      }),
      { source: 'truefoundry/models#868' },
    ),
    sent(503, 'overload', failed(503, 'No instances available (yet) for this model.')),
    sent(408, 'broken', failed(408, 'Request timed out')),
  ],
};
