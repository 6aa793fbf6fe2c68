import { openai, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
const _coded = (code: string, message = 'The call failed.') => ({ error: { code, message } });
const _inline = (code: string, message: string) => ({ code, message, request_id: 'r' });

export const COMPATIBLE_MORE_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'OpenRouter',
    source: 'openrouter.ai/docs: Errors',
    payloads: [
      sent(401, 'account', { error: { code: 401, message: 'No auth credentials found' } }),
      sent(401, 'account', { error: { code: 401, message: 'User not found.' } }),
      sent(402, 'account', {
        error: {
          code: 402,
          message: 'Insufficient credits. Add more using https://openrouter.ai/settings/credits',
        },
      }),
      sent(402, 'account', {
        error: {
          code: 402,
          message:
            'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1234.',
        },
      }),
      sent(403, 'account', { error: { code: 403, message: 'Key limit exceeded (total limit).' } }),
      sent(
        403,
        'caller',
        {
          error: {
            code: 403,
            message:
              'openai/gpt-4o requires moderation on Azure. Your input was flagged for "harassment".',
            metadata: { reasons: ['harassment'], flagged_input: 'x', provider_name: 'Azure' },
          },
        },
        filtered,
      ),
      sent(404, 'account', {
        error: {
          code: 404,
          message:
            'No endpoints found matching your data policy. Enable prompt training here: https://openrouter.ai/settings/privacy',
        },
      }),
      sent(404, 'broken', { error: { code: 404, message: 'No endpoints found for a/b.' } }),
      sent(404, 'unclear', {
        error: { code: 404, message: 'No endpoints found that support tool use.' },
      }),
      sent(400, 'broken', { error: { code: 400, message: 'a/b is not a valid model ID' } }),
      sent(
        400,
        'caller',
        {
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: {
              raw: '{"error":{"message":"Response input messages must contain the word json","type":"invalid_request_error","param":"input","code":null}}',
              provider_name: 'OpenAI',
            },
          },
        },
        { source: 'reVrost/go-openrouter#21' },
      ),
      sent(
        400,
        'caller',
        {
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: {
              raw: '{"error":{"type":"invalid_request_error","code":"invalid_request_error","message":"Model supports at most 1 image per prompt."}}',
              provider_name: 'Crucible',
            },
          },
        },
        { source: 'diegosouzapw/OmniRoute#3044' },
      ),
      sent(400, 'unclear', {
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: { raw: 'ERROR', provider_name: 'Stealth' },
        },
      }),
      sent(
        429,
        'throttle',
        {
          error: {
            message: 'Provider returned error',
            code: 429,
            metadata: {
              raw: 'z-ai/glm-5.3-flash is temporarily rate-limited upstream.',
              provider_name: 'BaseTen',
            },
          },
        },
        { source: 'open-webui/computer#293' },
      ),
      sent(
        429,
        'throttle',
        {
          error: {
            message: 'Provider returned error',
            code: 429,
            metadata: { raw: 'error code: 1015', provider_name: 'Kluster' },
          },
        },
        { source: 'BerriAI/litellm#8448' },
      ),
      sent(502, 'broken', { error: { code: 502, message: 'Provider returned error' } }),
      sent(503, 'overload', {
        error: { code: 503, message: 'No instances available (yet) for this model.' },
      }),
      sent(408, 'broken', { error: { code: 408, message: 'Request timed out' } }),
    ],
  },
  {
    vendor: 'Fireworks, Together, Hugging Face, Ollama, vLLM',
    source: 'docs.fireworks.ai: Inference error codes; docs.together.ai: Error codes',
    payloads: [
      sent(412, 'account', {
        error: {
          object: 'error',
          type: 'invalid_request_error',
          message: 'Account a is suspended, possibly due to reaching the monthly spending limit.',
        },
      }),
      sent(404, 'broken', {
        error: {
          object: 'error',
          type: 'invalid_request_error',
          code: 'NOT_FOUND',
          message: 'Model not found, inaccessible, and/or not deployed',
        },
      }),
      sent(
        400,
        'caller',
        {
          error: {
            object: 'error',
            type: 'invalid_request_error',
            message: 'The prompt is too long: 9000, model maximum context length: 8192',
          },
        },
        tooLong,
      ),
      sent(
        402,
        'account',
        openai('Credit limit exceeded, please navigate to billing', 'credit_limit', null),
      ),
      sent(401, 'account', openai('Invalid API key provided.', INVALID, 'invalid_api_key')),
      sent(
        404,
        'broken',
        openai(
          'Unable to access model a/b. Please visit the model page',
          INVALID,
          'model_not_available',
        ),
      ),
      sent(
        422,
        'caller',
        openai(
          '`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 10 `max_new_tokens`',
          INVALID,
          null,
        ),
        tooLong,
      ),
      sent(
        503,
        'overload',
        openai('The server is overloaded or not ready yet.', 'service_unavailable', null),
      ),
      sent(
        402,
        'account',
        { error: 'You have exceeded your monthly included credits for Inference Providers.' },
        { source: 'huggingface/huggingface_hub issues' },
      ),
      sent(
        503,
        'overload',
        { error: 'Model a/b is currently loading', estimated_time: 20 },
        { source: 'huggingface/huggingface_hub issues' },
      ),
      sent(
        400,
        'broken',
        openai(
          "The requested model 'a/b' is not supported by any provider you have enabled.",
          INVALID,
          'model_not_supported',
          'model',
        ),
        { source: 'huggingface/huggingface_hub issues' },
      ),
      sent(
        404,
        'broken',
        {
          error: {
            message: 'model "llama9" not found, try pulling it first',
            type: 'api_error',
            param: null,
            code: null,
          },
        },
        { source: 'ollama/ollama: server/routes.go' },
      ),
      sent(
        400,
        'caller',
        {
          object: 'error',
          message:
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
          type: 'BadRequestError',
          param: null,
          code: 400,
        },
        { ...tooLong, source: 'vllm-project/vllm issues' },
      ),
      sent(
        400,
        'caller',
        {
          error: {
            message: '1 validation error for ChatCompletionRequest',
            type: 'BadRequestError',
            param: null,
            code: 400,
          },
        },
        { source: 'vllm-project/vllm issues' },
      ),
      sent(
        404,
        'broken',
        {
          object: 'error',
          message: 'The model `m` does not exist.',
          type: 'NotFoundError',
          param: null,
          code: 404,
        },
        { source: 'vllm-project/vllm issues' },
      ),
      sent(
        403,
        'account',
        { code: 30011, message: 'Paid balance is insufficient', data: null },
        { source: 'docs.siliconflow.cn: Error handling' },
      ),
      sent(
        400,
        'broken',
        { code: 20012, message: 'Model does not exist. Please check it carefully.', data: null },
        { source: 'docs.siliconflow.cn: Error handling' },
      ),
      sent(
        503,
        'overload',
        { code: 50505, message: 'Model service overloaded. Please try again later.', data: null },
        { source: 'docs.siliconflow.cn: Error handling' },
      ),
    ],
  },
];
