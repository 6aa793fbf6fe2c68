import { google, info, listed, quota, retry } from './google-body.ts';
import { sent, type VendorErrors } from './payload.ts';

const cli = (issue: number) => ({ source: `google-gemini/gemini-cli#${issue}` });
const EXHAUSTED = 'RESOURCE_EXHAUSTED';
const DENIED = 'PERMISSION_DENIED';
const QUOTA =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.';
const VERTEX_429 =
  'Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.';

/** Errors that are not the caller's. */
export const GOOGLE_ERRORS: VendorErrors = {
  vendor: 'Google',
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
      { source: 'continuedev/continue#10290' },
    ),
    sent(
      400,
      'account',
      google(
        400,
        'INVALID_ARGUMENT',
        'API Key not found. Please pass a valid API key.',
        info('API_KEY_INVALID'),
      ),
      cli(25198),
    ),
    sent(
      400,
      'account',
      google(400, 'INVALID_ARGUMENT', 'API Key not found. Please pass a valid API key.', {
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
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
      { source: 'continuedev/continue#11336' },
    ),
    sent(
      400,
      'account',
      google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
      { source: 'gemini-api-php/client#32' },
    ),
    sent(
      400,
      'account',
      google(
        400,
        'FAILED_PRECONDITION',
        'User location is not supported for the API use without a billing account linked.',
      ),
      { source: 'u14app/neo-chat#7' },
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
      google(403, DENIED, 'Your API key was reported as leaked. Please use another API key.'),
    ),
    sent(
      403,
      'account',
      google(
        403,
        DENIED,
        'Gemini for Google Cloud API has not been used in project test-395446 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/cloudaicompanion.googleapis.com/overview?project=test-395446 then retry.',
        info('SERVICE_DISABLED', 'cloudaicompanion.googleapis.com'),
      ),
      cli(1343),
    ),
    sent(
      403,
      'account',
      google(
        403,
        DENIED,
        'Generative Language API has not been used in project 411082643095 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/generativelanguage.googleapis.com/overview?project=411082643095 then retry.',
        info('SERVICE_DISABLED'),
      ),
      { source: 'google-gemini/deprecated-generative-ai-python#10' },
    ),
    sent(
      403,
      'account',
      google(
        403,
        DENIED,
        'Requests to this API generativelanguage.googleapis.com method google.ai.generativelanguage.v1beta.GenerativeService.StreamGenerateContent are blocked.',
        info('API_KEY_SERVICE_BLOCKED'),
      ),
      { source: 'continuedev/continue#12781' },
    ),
    sent(403, 'account', google(403, DENIED, 'Requests from referer <empty> are blocked.'), {
      source: 'google-gemini/deprecated-generative-ai-dart#219',
    }),
    sent(
      403,
      'account',
      listed(
        403,
        DENIED,
        'This service has been disabled in this account for violation of Terms of\n\t\tService. If you believe this is an error, contact [gemini-code-assist-user-feedback@google.com](mailto:gemini-code-assist-user-feedback@google.com).',
        'forbidden',
      ),
      cli(19501),
    ),
    sent(
      403,
      'account',
      google(
        403,
        DENIED,
        'Gemini has been disabled in this account for violation of Terms of\n\t\tService. If you believe this is an error, please contact Google Cloud Support, or email\n\t\tgemini-code-assist-user-feedback@google.com.',
      ),
      { source: 'lbjlaq/Antigravity-Manager#1653' },
    ),
    sent(
      403,
      'account',
      google(
        403,
        DENIED,
        "Permission 'cloudaicompanion.companions.generateChat' denied on resource '//cloudaicompanion.googleapis.com/projects/p/locations/global' (or it may not exist).",
        info('IAM_PERMISSION_DENIED', 'cloudaicompanion.googleapis.com'),
      ),
      cli(10440),
    ),
    sent(
      403,
      'account',
      google(
        403,
        DENIED,
        'This API method requires billing to be enabled.',
        info('BILLING_DISABLED'),
      ),
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
    ),
    sent(
      429,
      'throttle',
      google(
        429,
        EXHAUSTED,
        QUOTA,
        quota(
          'GenerateContentInputTokensPerModelPerMinute-FreeTier',
          'GenerateRequestsPerMinutePerProjectPerModel-FreeTier',
          'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
        ),
      ),
      cli(8437),
    ),
    sent(
      429,
      'throttle',
      google(429, EXHAUSTED, QUOTA, quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier')),
      cli(3324),
    ),
    sent(
      429,
      'throttle',
      google(
        429,
        EXHAUSTED,
        `${QUOTA}\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count, limit: 10000\nPlease retry in 40.025771073s.`,
        quota('GenerateContentPaidTierInputTokensPerModelPerMinute'),
        retry('40s'),
      ),
      {
        wait_ms: 40_000,
        source: 'google-gemini/gemini-cli packages/core/src/utils/googleErrors.test.ts',
      },
    ),
    sent(429, 'throttle', listed(429, EXHAUSTED, VERTEX_429, 'rateLimitExceeded'), cli(14811)),
    sent(
      429,
      'throttle',
      google(429, EXHAUSTED, 'Resource has been exhausted (e.g. check quota).'),
      cli(1800),
    ),
    sent(
      429,
      'throttle',
      google(429, EXHAUSTED, 'Quota exceeded.', retry({ seconds: '34', nanos: 500_000_000 })),
      { wait_ms: 34_500 },
    ),
    sent(
      429,
      'overload',
      google(
        429,
        EXHAUSTED,
        'No capacity available for model gemini-2.5-pro on the server',
        info('MODEL_CAPACITY_EXHAUSTED'),
      ),
    ),
    sent(
      503,
      'overload',
      google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
      cli(4360),
    ),
    sent(
      503,
      'overload',
      google(
        503,
        'UNAVAILABLE',
        'This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later.',
      ),
      { source: 'continuedev/continue#10639' },
    ),
    sent(
      500,
      'broken',
      google(
        500,
        'INTERNAL',
        'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
      ),
      { source: 'PublicAffairs/openai-gemini#15' },
    ),
    sent(500, 'broken', google(500, 'INTERNAL', 'Internal error encountered.'), {
      source: 'justlovemaki/AIClient2API#392',
    }),
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
        'models/gemini-pro is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.',
      ),
      { source: 'wwardaww/gnome-gemini-ai#22' },
    ),
    sent(
      404,
      'broken',
      google(
        404,
        'NOT_FOUND',
        'Publisher Model `projects/generativelanguage-ga/locations/us-central1/publishers/google/models/gemini-1.5-flash-002` was not found or your project does not have access to it. Please ensure you are using a valid model version.',
      ),
      { source: 'NUVoize/wan22-brkn-prompt-helper#6' },
    ),
    sent(
      404,
      'broken',
      google(
        404,
        'NOT_FOUND',
        'Publisher Model `projects/alanblount-sandbox/locations/us-central1/publishers/google/models/gemini-2.5-pro-preview-06-05` not found.',
      ),
      cli(1053),
    ),
    sent(
      404,
      'broken',
      google(
        404,
        'NOT_FOUND',
        'Publisher Model `publishers/google/models/text-bison` is not found.',
      ),
      { source: 'GoogleCloudPlatform/genai-for-marketing#72' },
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
  ],
};
