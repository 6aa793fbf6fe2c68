import { google, info, listed } from './google-body.ts';
import { sent, type VendorErrors } from './payload.ts';

const cli = (issue: number) => ({ source: `google-gemini/gemini-cli#${issue}` });
const DENIED = 'PERMISSION_DENIED';

/** Errors of the operator's account. */
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
      listed(403, DENIED, 'The caller does not have permission', 'forbidden'),
      cli(25607),
    ),
    sent(
      403,
      'account',
      google(
        403,
        DENIED,
        'Permission denied on resource project default.',
        info('CONSUMER_INVALID', 'cloudaicompanion.googleapis.com'),
      ),
      { source: 'Kilo-Org/kilocode#2525' },
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
  ],
};
