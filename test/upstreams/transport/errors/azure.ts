import { sent, type VendorErrors } from './payload.ts';

const FILTERED =
  "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. To learn more about our content filtering policies please read our documentation: https://go.microsoft.com/fwlink/?linkid=2198766";
const safe = { filtered: false, severity: 'safe' };
const filter = (message: string, innererror?: object) => ({
  error: {
    ...{ message, type: null, param: 'prompt', code: 'content_filter', status: 400 },
    ...(innererror ? { innererror } : {}),
  },
});
const azure = (code: string, message: string) => ({ error: { code, message } });
const blocked = { error_id: 'content_policy_violation' } as const;

export const AZURE_ERRORS: VendorErrors = {
  vendor: 'Azure OpenAI',
  payloads: [
    sent(
      400,
      'caller',
      filter(FILTERED, {
        code: 'ResponsibleAIPolicyViolation',
        content_filter_result: {
          ...{ hate: safe, self_harm: safe, sexual: safe, violence: safe },
          jailbreak: { filtered: true, detected: true },
        },
      }),
      { ...blocked, source: 'Gitlawb/openclaude#273' },
    ),
    sent(400, 'caller', filter(FILTERED.replace("'", '’')), {
      ...blocked,
      source: 'openai/openai-python#331',
    }),
    sent(
      400,
      'caller',
      azure('contentFilter', 'Your task failed as a result of our safety system.'),
      blocked,
    ),
    sent(
      401,
      'account',
      azure(
        '401',
        'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
      ),
      { source: 'SciSharp/BotSharp#386' },
    ),
    sent(
      401,
      'account',
      azure(
        'Unauthorized',
        'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
      ),
      { source: 'vercel/chatbot#588' },
    ),
    sent(
      401,
      'account',
      azure('PermissionDenied', 'Principal does not have access to API/Operation.'),
    ),
    sent(
      403,
      'account',
      azure(
        'AuthenticationTypeDisabled',
        'Key based authentication is disabled for this resource.',
      ),
      { source: 'browser-use/browser-use#1295' },
    ),
    sent(403, 'account', azure('403', 'Access denied due to Virtual Network/Firewall rules.'), {
      source: 'Azure-Samples/azure-sql-db-chatbot#3',
    }),
    sent(
      403,
      'account',
      {
        code: '403',
        message:
          'A Virtual Network is configured for this resource. Please use the correct endpoint for making requests. Check https://aka.ms/cogsvc-vnet for more details.',
      },
      { source: 'continuedev/continue#12547' },
    ),
    sent(
      403,
      'account',
      azure(
        'Forbidden',
        'Your resource has been temporarily blocked because we detected behavior that may violate our content policy. For more details on Azure OpenAI service content policy, please visit https://aka.ms/aoaicodeofconduct',
      ),
      { source: 'pollinations/pollinations#9707' },
    ),
    sent(
      404,
      'broken',
      azure(
        'DeploymentNotFound',
        'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
      ),
      { source: 'OpenBMB/AgentVerse#140' },
    ),
    sent(404, 'unclear', azure('404', 'Resource not found'), { source: 'rusiaaman/chat.md#2' }),
    sent(
      400,
      'broken',
      azure(
        'OperationNotSupported',
        'The chatCompletion operation does not work with the specified model, gpt-4o-mini. Please choose different model and try again. You can learn more about which models can be used with each operation here: https://go.microsoft.com/fwlink/?linkid=2197993.',
      ),
      { source: 'run-llama/llama_index#16503' },
    ),
    sent(
      429,
      'throttle',
      azure(
        '429',
        'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-08-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 86400 seconds. Please go here: https://aka.ms/oai/quotaincrease if you would like to further increase the default rate limit.',
      ),
      { source: 'vanderschaarlab/climb#1', wait_ms: 86_400_000 },
    ),
    sent(
      429,
      'throttle',
      azure(
        '429',
        'Requests to the Creates a completion for the chat message Operation under Azure OpenAI API version 2023-03-15-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 7 seconds. Please go here: https://aka.ms/oai/quotaincrease if you would like to further increase the default rate limit.',
      ),
      { source: 'microsoft/sample-app-aoai-chatGPT#131', wait_ms: 7_000 },
    ),
    sent(429, 'throttle', azure('429', 'Rate limit is exceeded. Try again in 30 seconds.'), {
      source: 'Azure-Samples/azure-search-openai-demo#177',
      wait_ms: 30_000,
    }),
    sent(
      429,
      'overload',
      azure(
        'NoCapacity',
        'The system is currently experiencing high demand and cannot process your request. Your request exceeds the maximum usage size allowed during peak load. Please retry after 20 seconds. For improved latency reliability, consider switching to Provisioned Throughput.',
      ),
    ),
    sent(
      503,
      'overload',
      azure('ServiceUnavailable', 'The service is temporarily unable to process your request.'),
    ),
    sent(
      500,
      'broken',
      azure('InternalServerError', 'The server had an error while processing your request.'),
    ),
    sent(408, 'broken', azure('Timeout', 'The operation was timeout.'), {
      source: 'langgenius/dify-official-plugins#2199',
    }),
    sent(400, 'broken', azure('UnavailableModel', 'Unavailable model: gpt-4.')),
  ],
};
