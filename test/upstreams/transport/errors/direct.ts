import type { Fault } from '../../../../src/errors/fault.ts';
import { type ErrorPayload, sent, type VendorErrors } from './payload.ts';

const tooLong = { error_id: 'context_length_exceeded' } as const;
const COHERE_DOCS = 'https://docs.cohere.com/errors-reference';
const COHERE_401 = 'https://www.developersdigest.tech/errors/api/cohere-api/401-unauthorized';
const COHERE_429 = 'https://www.developersdigest.tech/errors/api/cohere-api/429-too-many-requests';
const DEEPL_NODE = 'deepl-node@1.28.0 dist/translator.js';
const ELEVENLABS_429 =
  'https://help.elevenlabs.io/hc/en-us/articles/19571824571921-API-Error-Code-429';
const ELEVENLABS_DOCS = 'https://elevenlabs.io/docs/eleven-api/resources/errors';
const ELEVENLABS_400 =
  'https://help.elevenlabs.io/hc/en-us/articles/19572237925521-API-Error-Code-400-or-401';

const cohere = (
  status: number,
  fault: Fault,
  message: string,
  more: Pick<ErrorPayload, 'source' | 'error_id'> = {},
): ErrorPayload => sent(status, fault, { message }, { protocol: 'cohere', ...more });
const deepl = (
  status: number,
  fault: Fault,
  body: object | string,
  more: Omit<ErrorPayload, 'status' | 'fault' | 'body' | 'protocol'> = {},
): ErrorPayload => sent(status, fault, body, { protocol: 'deepl', ...more });
const elevenLabs = (status: string, message: string): object => ({ detail: { status, message } });

/** Errors of Cohere, DeepL, ElevenLabs and Jina, which have protocols of their own. */
export const DIRECT_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Cohere',
    payloads: [
      cohere(401, 'account', 'no api key supplied', { source: COHERE_401 }),
      cohere(401, 'account', 'invalid api token', { source: COHERE_401 }),
      cohere(
        401,
        'account',
        'Your API key has expired. Please create a production key at dashboard.cohere.com or reach out to your contact at Cohere to continue usage.',
        { source: COHERE_401 },
      ),
      cohere(402, 'account', 'Please add or update your payment method. Your billing is inactive.'),
      cohere(
        429,
        'account',
        'You are using a Trial key, which is limited to 1000 API calls / month.',
        { source: 'diegosouzapw/OmniRoute#12252' },
      ),
      cohere(
        429,
        'throttle',
        'You are using a Trial key, which is limited to 40 API calls / minute.',
        { source: COHERE_429 },
      ),
      cohere(
        429,
        'throttle',
        'You are past the per minute request limit, please wait and try again later.',
        { source: COHERE_429 },
      ),
      cohere(
        429,
        'throttle',
        'trial token rate limit exceeded, limit is 100000 tokens per minute',
        { source: COHERE_429 },
      ),
      cohere(
        404,
        'broken',
        "model 'packed-embed-multilingual-light-v3.0-bulkjob' not found, make sure the correct model ID was used and that you have access to the model.",
        { source: 'cohere-ai/cohere-python#590' },
      ),
      ...[
        'invalid request: list of documents must not be empty',
        'invalid request: prompt must be at least 1 token long.',
        'invalid request: valid input_type must be provided with the provided model',
        'invalid request: query must not be empty or be only whitespace',
        'invalid request: response_format is not supported with RAG.',
        'message must not be empty in a turn',
        'system turn must be the first in the list',
      ].map((message) => cohere(400, 'caller', message, { source: COHERE_DOCS })),
      cohere(400, 'caller', 'invalid type: parameter documents is of type string'),
      ...[
        'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt, or enabling prompt truncating. See https://docs.cohere.com/reference/generate for more details.',
        'too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.',
      ].map((message) => cohere(400, 'caller', message, { source: COHERE_DOCS, ...tooLong })),
      cohere(499, 'unclear', 'request cancelled', {
        source: 'https://www.developersdigest.tech/errors/api/cohere-api/499-request-cancelled',
      }),
      cohere(500, 'broken', 'internal server error, this has been reported to our developers.'),
    ],
  },
  {
    vendor: 'DeepL',
    payloads: [
      // The status decides, whatever the body says.
      deepl(403, 'account', '', { source: DEEPL_NODE }),
      deepl(456, 'account', '', { source: DEEPL_NODE }),
      deepl(456, 'account', { message: 'Quota Exceeded' }, { source: DEEPL_NODE }),
      deepl(429, 'throttle', { message: 'Too many requests' }, { source: 'DeepL/deepl-python#49' }),
      deepl(
        529,
        'throttle',
        { message: 'Too many requests' },
        { headers: { 'retry-after': '2' }, wait_ms: 2_000 },
      ),
      deepl(
        400,
        'caller',
        { message: "Value for 'target_lang' not supported." },
        { source: 'web-vision/deepltranslate-core#32' },
      ),
      deepl(413, 'unclear', ''),
      deepl(503, 'overload', '', { source: DEEPL_NODE }),
    ],
  },
  {
    vendor: 'ElevenLabs',
    payloads: [
      sent(
        401,
        'account',
        elevenLabs(
          'quota_exceeded',
          'This request exceeds your quota of 10000. You have 0 credits remaining, while 91 credits are required for this request.',
        ),
        { source: 'home-assistant/core#160414' },
      ),
      sent(
        401,
        'account',
        elevenLabs(
          'detected_unusual_activity',
          'Unusual activity detected. Free Tier usage disabled. If you are using a proxy/VPN you might need to purchase a Paid Plan to not trigger our abuse detectors.',
        ),
        { source: 'OWASP/Nest#3861' },
      ),
      sent(401, 'account', elevenLabs('invalid_api_key', 'Invalid API key'), {
        source: ELEVENLABS_400,
      }),
      sent(
        429,
        'throttle',
        elevenLabs('too_many_concurrent_requests', 'Too many concurrent requests.'),
        { source: ELEVENLABS_429 },
      ),
      sent(
        429,
        'overload',
        elevenLabs('system_busy', 'The system is experiencing heavy traffic, please try again.'),
        { source: ELEVENLABS_429 },
      ),
      // The client names the voice, but not in the body of its request.
      sent(
        400,
        'unclear',
        elevenLabs('voice_not_found', 'A voice for the voice_id 876MHA6EtWKaHTEGz was not found.'),
        { source: 'skapadia3214/groq-voice#1' },
      ),
      sent(
        404,
        'unclear',
        elevenLabs('voice_not_found', 'A voice with the voice_id foo was not found.'),
        { source: 'elevenlabs/elevenlabs-docs#1317' },
      ),
      sent(
        400,
        'unclear',
        elevenLabs(
          'voice_does_not_exist',
          'A voice with voice_id TqZ039H4XqpiGTowubpy does not exist.',
        ),
        { source: 'elevenlabs/elevenlabs-python#293' },
      ),
      // The client asks for more than the plan of the account has.
      sent(
        400,
        'unclear',
        elevenLabs(
          'watermark_not_allowed',
          'Dubbing without a watermark is only available for Creator+ users.',
        ),
        { source: 'larsdpeder/ElevenlabsDubbingGradio#1' },
      ),
      sent(
        403,
        'unclear',
        elevenLabs(
          'output_format_not_allowed',
          "Output format 'pcm_44100' is only available on the Pro tier and above",
        ),
        { source: 'ENTERPILOT/GoModel#787' },
      ),
      // Seen for the same format; the thread does not show the message.
      sent(403, 'unclear', elevenLabs('subscription_required', ''), {
        source: 'openclaw/openclaw#30885',
      }),
      sent(
        400,
        'caller',
        elevenLabs(
          'bad_prompt',
          'Your prompt appears to have violated our Terms of Service. Please try again with a different prompt.',
        ),
        { error_id: 'content_policy_violation', source: 'receptron/mulmocast-app#1410' },
      ),
      // The newer form of an error has `code` instead of `status`.
      ...['rate_limit_exceeded', 'concurrent_limit_exceeded'].map((code) =>
        sent(
          429,
          'throttle',
          { detail: { code, message: '', request_id: 'r' } },
          { source: ELEVENLABS_DOCS },
        ),
      ),
      sent(
        400,
        'caller',
        elevenLabs(
          'max_character_limit_exceeded',
          "This request's text has 627 characters and exceeds the character limit of 333 characters for non signed in accounts.",
        ),
        { source: ELEVENLABS_400 },
      ),
      sent(422, 'caller', {
        detail: [{ type: 'missing', loc: ['body', 'text'], msg: 'Field required' }],
      }),
    ],
  },
  {
    vendor: 'Jina',
    payloads: [
      sent(
        400,
        'caller',
        {
          detail:
            "[RID: ec422fa8b74c3c20b493406ac1388555] Validation error: 'body -> jina-embeddings-v4' Each input list can contain at most 512 items.. Field errors: : Invalid value",
        },
        { source: 'langgenius/dify-official-plugins#1997' },
      ),
      // The thread shows only the message.
      sent(
        402,
        'account',
        { detail: 'Account balance not enough to run this query, please recharge' },
        { source: 'jina-ai/node-DeepResearch#21' },
      ),
      sent(403, 'account', { detail: 'Insufficient balance.' }),
      sent(429, 'throttle', { detail: 'Rate limit exceeded.' }),
    ],
  },
];
