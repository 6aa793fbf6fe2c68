import { sent, type VendorErrors } from './payload.ts';

const AZURE_FILTER = {
  error: {
    message:
      "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
    ...{ type: null, param: 'prompt', code: 'content_filter', status: 400 },
    innererror: {
      code: 'ResponsibleAIPolicyViolation',
      content_filter_result: { hate: { filtered: true, severity: 'high' } },
    },
  },
};
const azure = (code: string, message: string) => ({ error: { code, message } });

export const AZURE_ERRORS: VendorErrors = {
  vendor: 'Azure OpenAI',
  source: 'Azure docs: Azure OpenAI REST API reference; Content filtering; Quotas and limits',
  payloads: [
    sent(400, 'caller', AZURE_FILTER, { error_id: 'content_policy_violation' }),
    sent(
      400,
      'caller',
      azure('contentFilter', 'Your task failed as a result of our safety system.'),
      { error_id: 'content_policy_violation' },
    ),
    sent(
      401,
      'account',
      azure('401', 'Access denied due to invalid subscription key or wrong API endpoint.'),
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
    ),
    sent(403, 'account', azure('403', 'Access denied due to Virtual Network/Firewall rules.')),
    sent(
      404,
      'broken',
      azure('DeploymentNotFound', 'The API deployment for this resource does not exist.'),
    ),
    sent(404, 'unclear', azure('404', 'Resource not found')),
    sent(
      400,
      'broken',
      azure(
        'OperationNotSupported',
        'The chatCompletion operation does not work with the specified model, text-embedding-3-small.',
      ),
    ),
    sent(
      429,
      'throttle',
      azure(
        '429',
        'Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds.',
      ),
      { headers: { 'retry-after': '6' }, wait_ms: 6_000 },
    ),
    sent(
      429,
      'throttle',
      azure('TooManyRequests', 'Rate limit is exceeded. Try again in 3 seconds.'),
    ),
    sent(
      429,
      'overload',
      azure(
        'NoCapacity',
        'The system is currently experiencing high demand and cannot process your request.',
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
    sent(408, 'broken', azure('Timeout', 'The operation was timeout.')),
    sent(400, 'broken', azure('UnavailableModel', 'Unavailable model: gpt-4.')),
  ],
};
