import { google, info, listed, quota, retry } from './google-body.ts';
import { sent, type VendorErrors } from './payload.ts';

const cli = (issue: number) => ({ source: `google-gemini/gemini-cli#${issue}` });
const EXHAUSTED = 'RESOURCE_EXHAUSTED';
const QUOTA =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.';
const VERTEX_429 =
  'Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.';

/** Errors of quotas, of capacity and of the channel's configuration. */
export const GOOGLE_CAPACITY_ERRORS: VendorErrors = {
  vendor: 'Google',
  payloads: [
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
