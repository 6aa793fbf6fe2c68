import { sent, type VendorErrors } from './payload.ts';

const _filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const _INVALID = 'invalid_request_error';
const _coded = (code: string, message = 'The call failed.') => ({ error: { code, message } });
const _inline = (code: string, message: string) => ({ code, message, request_id: 'r' });

export const DIRECT_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Cohere',
    source: 'docs.cohere.com: Errors; cohere-ai@8.1.0 errors',
    payloads: [
      sent(401, 'account', { message: 'no api key supplied' }, { protocol: 'cohere' }),
      sent(498, 'account', { message: 'invalid api token' }, { protocol: 'cohere' }),
      sent(
        402,
        'account',
        { message: 'Please add or update your payment method. Your billing is inactive.' },
        { protocol: 'cohere' },
      ),
      sent(
        429,
        'account',
        { message: 'You are using a Trial key, which is limited to 1000 API calls / month.' },
        { protocol: 'cohere' },
      ),
      sent(
        429,
        'throttle',
        { message: 'trial token rate limit exceeded, limit is 40 api calls per minute' },
        { protocol: 'cohere' },
      ),
      sent(
        404,
        'broken',
        { message: "model 'rerank-nope' not found, make sure the correct model ID was used" },
        { protocol: 'cohere' },
      ),
      sent(
        400,
        'caller',
        { message: 'invalid request: list of documents must not be empty' },
        { protocol: 'cohere' },
      ),
      sent(
        400,
        'caller',
        { message: 'invalid type: parameter documents is of type string' },
        { protocol: 'cohere' },
      ),
      sent(
        400,
        'caller',
        { message: 'too many tokens: total number of tokens in the prompt cannot exceed 4081' },
        { ...tooLong, protocol: 'cohere' },
      ),
      sent(499, 'unclear', { message: 'request cancelled' }, { protocol: 'cohere' }),
      sent(
        500,
        'broken',
        { message: 'internal server error, this has been reported to our developers.' },
        { protocol: 'cohere' },
      ),
    ],
  },
  {
    vendor: 'DeepL',
    source: 'developers.deepl.com: Error handling; deepl-node@1.28.0 errors',
    payloads: [
      sent(
        403,
        'account',
        { message: 'Authorization failure, check auth_key' },
        { protocol: 'deepl' },
      ),
      sent(456, 'account', { message: 'Quota Exceeded' }, { protocol: 'deepl' }),
      sent(
        456,
        'account',
        { message: 'Quota for this billing period has been exceeded.' },
        { protocol: 'deepl' },
      ),
      sent(429, 'throttle', { message: 'Too many requests' }, { protocol: 'deepl' }),
      sent(
        529,
        'throttle',
        { message: 'Too many requests' },
        { protocol: 'deepl', headers: { 'retry-after': '2' }, wait_ms: 2_000 },
      ),
      sent(
        400,
        'caller',
        { message: "Value for 'target_lang' not supported." },
        { protocol: 'deepl' },
      ),
      sent(
        400,
        'caller',
        { message: "Bad request. Reason: Value for 'formality' not supported." },
        { protocol: 'deepl' },
      ),
      sent(413, 'unclear', '', { protocol: 'deepl' }),
      sent(503, 'overload', { message: 'Resource temporarily unavailable' }, { protocol: 'deepl' }),
    ],
  },
  {
    vendor: 'ElevenLabs and Jina',
    source: 'elevenlabs.io/docs: Errors; jina.ai: API docs',
    payloads: [
      sent(401, 'account', {
        detail: { status: 'quota_exceeded', message: 'This request exceeds your quota of 10000.' },
      }),
      sent(401, 'account', { detail: { status: 'invalid_api_key', message: 'Invalid API key' } }),
      sent(401, 'account', {
        detail: {
          status: 'detected_unusual_activity',
          message: 'Unusual activity detected. Free Tier usage disabled.',
        },
      }),
      sent(429, 'throttle', {
        detail: {
          status: 'too_many_concurrent_requests',
          message: 'Too many concurrent requests.',
        },
      }),
      sent(429, 'overload', {
        detail: {
          status: 'system_busy',
          message: 'The system is experiencing heavy traffic, please try again.',
        },
      }),
      sent(400, 'caller', {
        detail: {
          status: 'max_character_limit_exceeded',
          message: 'A maximum of 5000 characters is allowed.',
        },
      }),
      sent(422, 'caller', {
        detail: [{ type: 'missing', loc: ['body', 'text'], msg: 'Field required' }],
      }),
      sent(402, 'account', {
        detail: 'Insufficient account balance. Please recharge your account.',
      }),
      sent(403, 'account', { detail: 'Insufficient balance.' }),
      sent(429, 'throttle', { detail: 'Rate limit exceeded.' }),
    ],
  },
];
