import { openai, sent, type VendorErrors } from './payload.ts';

const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
/** The body of Mistral's errors. */
const mistral = (message: string | object, type: string, code: string | null = null): object => ({
  object: 'error',
  ...{ message, type, param: null, code },
});
/** A parameter that Mistral does not know. */
const extra = (...loc: (string | number)[]): object => ({
  type: 'extra_forbidden',
  loc: ['body', ...loc],
  msg: 'Extra inputs are not permitted',
});

export const COMPATIBLE_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Groq',
    payloads: [
      sent(
        498,
        'overload',
        openai('Flex tier capacity exceeded', 'server_error', 'capacity_exceeded'),
        { source: 'https://console.groq.com/docs/flex-processing' },
      ),
      sent(401, 'account', openai('Invalid API Key', INVALID, 'invalid_api_key'), {
        source: 'nark/WiredSwift#44',
      }),
      sent(
        400,
        'account',
        openai(
          'Organization has been restricted. Please reach out to support if you believe this was in error.',
          INVALID,
          'organization_restricted',
        ),
        { source: 'NVIDIA-NeMo/Guardrails#563' },
      ),
      sent(
        429,
        'throttle',
        openai(
          'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` on tokens per minute (TPM): Limit 6000, Used 3513, Requested 3166. Please try again in 6.780999999s. Visit https://console.groq.com/docs/rate-limits for more information.',
          'tokens',
          'rate_limit_exceeded',
        ),
        { source: 'openinterpreter/openinterpreter#408', wait_ms: 6_781 },
      ),
      sent(
        429,
        'throttle',
        openai(
          'Rate limit reached for model `llama3-70b-8192` in organization `org_1` on tokens per minute (TPM): Limit 7000, Used 0, Requested ~12903. Please try again in 50.597142857s. Visit https://console.groq.com/docs/rate-limits for more information.',
          'tokens',
          'rate_limit_exceeded',
        ),
        { source: 'danielmiessler/Fabric#364', wait_ms: 50_598 },
      ),
      sent(
        413,
        'unclear',
        openai(
          'Request too large for model llama-3.1-8b-instant in organization org_1 service tier on_demand on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
          'tokens',
          'rate_limit_exceeded',
        ),
        { source: 'HunorLaczko/ha-groq-cloud-api#27' },
      ),
      sent(
        400,
        'broken',
        openai(
          'The model `qwen-qwq-32b` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.',
          INVALID,
          'model_decommissioned',
        ),
        { source: 'atiilla/sqlmap-ai#3' },
      ),
      sent(
        404,
        'broken',
        openai(
          'The model `llama3.1-405b` does not exist or you do not have access to it.',
          INVALID,
          'model_not_found',
        ),
        { source: 'continuedev/continue#10832' },
      ),
      sent(
        400,
        'unclear',
        openai(
          "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
          INVALID,
          'tool_use_failed',
        ),
        { source: 'groq/groq-typescript#103' },
      ),
      sent(
        400,
        'unclear',
        openai(
          'tool call validation failed: parameters for tool HassTurnOff did not match schema: errors: [`/domain`: expected array, but got string]',
          INVALID,
          'tool_use_failed',
          '',
        ),
        { source: 'HunorLaczko/ha-groq-cloud-api#20' },
      ),
      sent(
        400,
        'caller',
        openai(
          "'messages.0' : for 'role:system' the following must be satisfied[('messages.0' : property 'id' is unsupported, did you mean 'name'?)]",
          INVALID,
        ),
        { source: 'chatboxai/chatbox#2081' },
      ),
      sent(
        400,
        'caller',
        openai(
          'Please reduce the length of the messages or completion.',
          INVALID,
          'context_length_exceeded',
          'messages',
        ),
        { ...tooLong, source: 'thepersonalaicompany/amurex-backend#51' },
      ),
      sent(503, 'overload', openai('Service unavailable', 'internal_server_error')),
    ],
  },
  {
    vendor: 'Mistral',
    payloads: [
      sent(
        429,
        'throttle',
        { message: 'Requests rate limit exceeded' },
        { source: 'pydantic/pydantic-ai#1885' },
      ),
      sent(
        401,
        'account',
        { message: 'Unauthorized', request_id: '933f233947ff6d346065bb297e4a4d56' },
        { source: 'coolcline/CoolCline#36' },
      ),
      sent(401, 'account', { detail: 'Unauthorized' }, { source: 'agent0ai/agent-zero#539' }),
      sent(
        429,
        'throttle',
        { ...mistral('Rate limit exceeded', 'rate_limited', '1300'), raw_status_code: 429 },
        { source: 'raycast/extensions#31107' },
      ),
      sent(429, 'throttle', mistral('Service tier capacity exceeded for this model.', INVALID), {
        source: 'continuedev/continue#6185',
      }),
      sent(
        503,
        'overload',
        mistral(
          'Service tier capacity exceeded for this model.',
          'service_tier_capacity_exceeded',
          '3505',
        ),
        { source: 'BerriAI/litellm#25078' },
      ),
      sent(400, 'broken', mistral('Invalid model: ', 'invalid_model', '1500'), {
        source: 'tmc/langchaingo#1233',
      }),
      sent(
        422,
        'caller',
        {
          detail: [
            { ...extra('store'), input: false },
            { ...extra('max_completion_tokens'), input: 8192 },
          ],
        },
        { source: 'Gitlawb/openclaude#739' },
      ),
      sent(
        422,
        'caller',
        mistral({ detail: [{ ...extra('max_completion_tokens'), input: 32_000 }] }, INVALID),
        { source: 'editor-code-assistant/eca#231' },
      ),
      sent(
        422,
        'caller',
        mistral({ detail: [{ ...extra('messages', 0, 'user', 'name'), input: '' }] }, INVALID),
        { source: 'Gage-Technologies/mistral-go#2' },
      ),
      sent(
        422,
        'caller',
        mistral(
          JSON.stringify({ detail: [{ ...extra('frequency_penalty'), input: 0 }] }),
          'internal_error_proxy',
          '1000',
        ),
        { source: 'mistralai/platform-docs-public#7' },
      ),
      sent(
        400,
        'caller',
        mistral(
          "Unexpected role 'user' after role 'tool'",
          'invalid_request_message_order',
          '3230',
        ),
        { source: 'datapizza-labs/datapizza-ai#98' },
      ),
      sent(
        400,
        'caller',
        mistral(
          'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
          INVALID,
        ),
        { source: 'NEKOparapa/AiNiee#641' },
      ),
      sent(
        400,
        'caller',
        mistral('Assistant message must have either content or tool_calls, but not both.', INVALID),
        { source: 'Mobile-Artificial-Intelligence/maid#672' },
      ),
      sent(
        400,
        'caller',
        mistral(
          'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
          'invalid_request_prompt',
          '3051',
        ),
        tooLong,
      ),
      sent(500, 'broken', mistral('Internal server error', 'internal_server_error', '1000')),
      sent(503, 'overload', mistral('Service unavailable.', 'internal_server_error', '1100')),
    ],
  },
];
