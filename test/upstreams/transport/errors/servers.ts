import { openai, sent, type VendorErrors } from './payload.ts';

const tooLong = { error_id: 'context_length_exceeded' } as const;
const INVALID = 'invalid_request_error';
const vllm = (code: number, message: string, type: string): object => ({
  object: 'error',
  ...{ message, type, param: null, code },
});

/** Errors of servers of open models, and of the hosts that run them. */
export const SERVER_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Hugging Face',
    payloads: [
      sent(
        402,
        'account',
        {
          error:
            'You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more monthly included credits.',
        },
        { source: 'huggingface/agents-course#386' },
      ),
      sent(
        503,
        'overload',
        {
          error: 'Model distilbert-base-cased-distilled-squad is currently loading',
          estimated_time: 20,
        },
        { source: 'huggingface/unity-api#18' },
      ),
      sent(
        400,
        'broken',
        openai(
          "The requested model 'moonshotai/Kimi-K2-Instruct' is not supported by any provider you have enabled.",
          INVALID,
          'model_not_supported',
          'model',
        ),
        { source: 'cline/cline#5098' },
      ),
      sent(
        400,
        'broken',
        { error: 'Model not supported by provider together' },
        { source: 'huggingface/huggingface.js#2225' },
      ),
      sent(
        422,
        'caller',
        {
          error:
            'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 `inputs` tokens and 1024 `max_new_tokens`',
          error_type: 'validation',
        },
        { ...tooLong, source: 'huggingface/chat-ui#340' },
      ),
      sent(
        422,
        'caller',
        {
          error: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1168',
          error_type: 'validation',
        },
        { ...tooLong, source: 'huggingface/text-generation-inference#695' },
      ),
    ],
  },
  {
    vendor: 'Ollama',
    payloads: [
      sent(404, 'broken', openai('model "ollama" not found, try pulling it first', 'api_error'), {
        source: 'netease-youdao/QAnything#555',
      }),
      sent(
        404,
        'broken',
        { error: "model 'custom-phi3-32k-Q4_K_M' not found" },
        { source: 'TheBlewish/Automated-AI-Web-Researcher-Ollama#42' },
      ),
      sent(
        403,
        'account',
        openai(
          'your subscription payment is past due. update your payment method: https://ollama.com/settings/billing (ref: 56727837)',
          'api_error',
        ),
        { source: 'continuedev/continue#13195' },
      ),
      sent(
        429,
        'account',
        {
          error:
            'you (keshavpandey462) have reached your session usage limit, please wait or upgrade to continue',
        },
        { source: 'continuedev/continue#10579' },
      ),
    ],
  },
  {
    vendor: 'vLLM',
    payloads: [
      sent(
        400,
        'caller',
        vllm(
          400,
          "This model's maximum context length is 32768 tokens. However, you requested 41648 tokens (37552 in the messages, 4096 in the completion). Please reduce the length of the messages or completion. None",
          'BadRequestError',
        ),
        { ...tooLong, source: 'HKUSTDial/Alpha-SQL#5' },
      ),
      sent(
        400,
        'caller',
        vllm(400, 'max_tokens must be at least 1, got -186.', 'BadRequestError'),
        { source: 'vllm-project/vllm#4667' },
      ),
      sent(
        404,
        'broken',
        vllm(404, 'The model `Qwen1.5-14B-Chat-GPTQ-Int8` does not exist.', 'NotFoundError'),
        { source: 'vllm-project/vllm#3485' },
      ),
    ],
  },
  {
    vendor: 'NVIDIA',
    payloads: [
      sent(
        400,
        'broken',
        {
          status: 400,
          title: 'Bad Request',
          detail:
            "Function id '87ea0ddc-cff1-4bca-bf8b-3bd98a35ddd0': DEGRADED function cannot be invoked",
        },
        { source: 'decolua/9router#2527' },
      ),
      sent(
        404,
        'broken',
        {
          status: 404,
          title: 'Not Found',
          detail: "Function '23d4f03a-b8a6-4adb-a183-7daa083a09cc': Not found for account 'a1'",
        },
        { source: 'Alishahryar1/free-claude-code#1021' },
      ),
    ],
  },
];
