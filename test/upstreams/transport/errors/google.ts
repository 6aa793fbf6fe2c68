import { sent, type VendorErrors } from './payload.ts';

const INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const google = (code: number, status: string, message: string, ...details: object[]) => ({
  error: { code, message, status, ...(details.length > 0 ? { details } : {}) },
});
const info = (reason: string) => ({ '@type': INFO, reason, domain: 'googleapis.com' });
const retry = (retryDelay: string | object) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});
const tooLong = { error_id: 'context_length_exceeded' } as const;

export const GOOGLE_ERRORS: VendorErrors = {
  vendor: 'Google',
  source: 'Gemini API docs: Troubleshooting guide',
  payloads: [
    sent(
      400,
      'account',
      google(
        400,
        'INVALID_ARGUMENT',
        'API key not valid. Please pass a valid API key.',
        info('API_KEY_INVALID'),
      ),
      { source: 'cequence-io/openai-scala-client#109' },
    ),
    sent(
      400,
      'account',
      google(400, 'INVALID_ARGUMENT', 'API Key not found. Please pass a valid API key.', {
        reason: 'API_KEY_INVALID',
      }),
      { source: 'Wei-Shaw/sub2api#1709' },
    ),
    sent(
      400,
      'account',
      google(
        400,
        'INVALID_ARGUMENT',
        'API key expired. Please renew the API key.',
        info('API_KEY_INVALID'),
      ),
      { source: 'google-gemini/gemini-cli issues' },
    ),
    sent(
      400,
      'account',
      google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
      { source: 'google-gemini/generative-ai-js issues' },
    ),
    sent(
      400,
      'account',
      google(
        400,
        'FAILED_PRECONDITION',
        'Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio.',
      ),
    ),
    sent(
      403,
      'account',
      google(
        403,
        'PERMISSION_DENIED',
        'Your API key was reported as leaked. Please use another API key.',
      ),
    ),
    sent(
      403,
      'account',
      google(
        403,
        'PERMISSION_DENIED',
        'Generative Language API has not been used in project 1 before or it is disabled.',
        info('SERVICE_DISABLED'),
      ),
      { source: 'googleapis: google/api/error_reason.proto' },
    ),
    sent(
      403,
      'account',
      google(
        403,
        'PERMISSION_DENIED',
        'Requests from referer <empty> are blocked.',
        info('API_KEY_HTTP_REFERRER_BLOCKED'),
      ),
      { source: 'googleapis: google/api/error_reason.proto' },
    ),
    sent(
      403,
      'account',
      google(
        403,
        'PERMISSION_DENIED',
        'This API method requires billing to be enabled.',
        info('BILLING_DISABLED'),
      ),
      { source: 'googleapis: google/api/error_reason.proto' },
    ),
    sent(
      401,
      'account',
      google(
        401,
        'UNAUTHENTICATED',
        'Request had invalid authentication credentials.',
        info('ACCESS_TOKEN_EXPIRED'),
      ),
      { source: 'googleapis: google/api/error_reason.proto' },
    ),
    sent(
      403,
      'account',
      google(
        403,
        'PERMISSION_DENIED',
        "Permission 'aiplatform.endpoints.predict' denied on resource",
        info('IAM_PERMISSION_DENIED'),
      ),
      { source: 'Vertex AI docs: API errors' },
    ),
    sent(
      429,
      'throttle',
      google(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details.',
        retry('34s'),
      ),
      { wait_ms: 34_000, source: 'google-gemini/gemini-cli issues' },
    ),
    sent(
      429,
      'throttle',
      google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', retry('34.074824224s')),
      { wait_ms: 34_075, source: 'google-gemini/gemini-cli issues' },
    ),
    sent(
      429,
      'throttle',
      google(
        429,
        'RESOURCE_EXHAUSTED',
        'Quota exceeded.',
        retry({ seconds: '34', nanos: 500_000_000 }),
      ),
      { wait_ms: 34_500, source: 'googleapis: google/rpc/error_details.proto' },
    ),
    sent(
      429,
      'throttle',
      google(
        429,
        'RESOURCE_EXHAUSTED',
        'Quota exceeded for metric: generate_content_free_tier_requests, limit: 20. Please retry in 34.5s.',
      ),
      { wait_ms: 34_500, source: 'google-gemini/gemini-cli issues' },
    ),
    sent(
      429,
      'throttle',
      [google(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).')],
      { source: 'googleapis/js-genai issues: a list of one error' },
    ),
    sent(
      429,
      'overload',
      google(
        429,
        'RESOURCE_EXHAUSTED',
        'No capacity available for model gemini-2.5-pro on the server',
        info('MODEL_CAPACITY_EXHAUSTED'),
      ),
      { source: 'google-gemini/gemini-cli issues' },
    ),
    sent(
      503,
      'overload',
      google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    ),
    sent(
      503,
      'overload',
      google(
        503,
        'UNAVAILABLE',
        'This model is currently experiencing high demand. Spikes in demand are usually temporary.',
      ),
    ),
    sent(
      500,
      'broken',
      google(500, 'INTERNAL', 'An internal error has occurred. Please retry or report.'),
    ),
    sent(
      504,
      'broken',
      google(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'),
    ),
    sent(
      404,
      'broken',
      google(
        404,
        'NOT_FOUND',
        'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
      ),
    ),
    sent(
      404,
      'broken',
      google(
        404,
        'NOT_FOUND',
        'Publisher Model `projects/p/locations/l/publishers/google/models/m` was not found or your project does not have access to it.',
      ),
      { source: 'Vertex AI docs: API errors' },
    ),
    sent(
      404,
      'broken',
      google(
        404,
        'NOT_FOUND',
        'This model models/gemini-1.5-pro is no longer available to new users.',
      ),
    ),
    sent(
      400,
      'caller',
      google(
        400,
        'INVALID_ARGUMENT',
        '* GenerateContentRequest.contents: contents is not specified',
      ),
    ),
    sent(
      400,
      'caller',
      google(
        400,
        'INVALID_ARGUMENT',
        'Invalid JSON payload received. Unknown name "foo" at \'generation_config\': Cannot find field.',
      ),
      { source: 'langchain-ai/langchain-google issues' },
    ),
    sent(
      400,
      'caller',
      google(
        400,
        'INVALID_ARGUMENT',
        'Please ensure that function call turn comes immediately after a user turn.',
      ),
      { source: 'googleapis/js-genai issues' },
    ),
    sent(400, 'caller', google(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.')),
    sent(
      400,
      'caller',
      google(
        400,
        'FAILED_PRECONDITION',
        'The File abc-123 is not in an ACTIVE state and usage is not allowed.',
      ),
      { source: 'google-gemini/cookbook issues' },
    ),
    sent(
      403,
      'unclear',
      google(
        403,
        'PERMISSION_DENIED',
        'You do not have permission to access the File abc-123 or it may not exist.',
      ),
      { source: 'googleapis/python-genai issues' },
    ),
    sent(
      400,
      'caller',
      google(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      ),
      { ...tooLong, source: 'google-gemini/gemini-cli issues' },
    ),
    sent(
      400,
      'caller',
      google(
        400,
        'INVALID_ARGUMENT',
        'The input token count exceeds the maximum number of tokens allowed 1048575.',
      ),
      { ...tooLong, source: 'google-gemini/gemini-cli issues' },
    ),
    sent(
      400,
      'caller',
      google(
        400,
        'INVALID_ARGUMENT',
        'Unable to submit request because the input token count is 2000000 but model only supports up to 1048576.',
      ),
      { ...tooLong, source: 'Vertex AI docs: API errors' },
    ),
    sent(
      400,
      'caller',
      google(
        400,
        'INVALID_ARGUMENT',
        "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices.",
      ),
      { error_id: 'content_policy_violation', source: 'Vertex AI docs: Responsible AI for Imagen' },
    ),
    sent(400, 'unclear', google(400, 'FAILED_PRECONDITION', 'Precondition check failed.'), {
      source: 'google-gemini/gemini-cli issues',
    }),
  ],
};
