import { rulesOf } from '../rule.ts';

/** Cohere, DeepL, ElevenLabs and Jina, which have protocols of their own. */
export const DIRECT_RULES = [
  ...rulesOf(
    'Cohere',
    'docs.cohere.com: Errors',
    {
      account: [
        /^invalid api token/i,
        /^no api key supplied/i,
        /billing is inactive|maximum billing limit/i,
        /using a trial key, which is limited to [\d,]+ api calls ?\/ ?month/i,
      ],
      throttle: [/rate limit/i, /using a trial key, which is limited to/i],
      broken: [/^model ['"`]?\S+['"`]? (?:not found|was removed)/i, /^unknown model/i],
      caller: [
        /^invalid (?:request|type): /i,
        /^message must not be empty/i,
        /^system turn must be the first/i,
      ],
    },
    { protocols: ['cohere', 'openai'] },
  ),
  ...rulesOf(
    'Cohere',
    'docs.cohere.com: Errors',
    { caller: [/^too many tokens: /i] },
    { error_id: 'context_length_exceeded', statuses: [400] },
  ),
  ...rulesOf(
    'DeepL',
    'developers.deepl.com: Error handling; deepl-node errors',
    { account: [/^quota (?:for this billing period )?(?:has been )?exceeded/i] },
    { statuses: [456] },
  ),
  ...rulesOf(
    'DeepL',
    'developers.deepl.com: Error handling; deepl-node errors',
    {
      account: [/^authorization fail/i],
      throttle: [/^too many requests/i],
      caller: [
        /^value for '\w+' not supported/i,
        /^bad request\. reason: /i,
        /'\w+' (?:is )?(?:required|missing|not supported)/i,
      ],
    },
    { protocols: ['deepl'] },
  ),
  ...rulesOf('ElevenLabs', 'elevenlabs.io/docs: Errors', {
    account: [
      ...['quota_exceeded', 'invalid_api_key', 'missing_permissions', 'needs_authorization'],
      'detected_unusual_activity',
    ],
    throttle: ['too_many_concurrent_requests', 'concurrent_limit_exceeded'],
    overload: ['system_busy'],
    broken: ['model_not_found'],
    // The client asks for an output that the plan lacks.
    unclear: [
      ...['only_for_creator+', 'subscription_required'],
      ...['output_format_not_allowed', 'watermark_not_allowed'],
    ],
    caller: ['max_character_limit_exceeded', 'invalid_uid'],
  }),
  ...rulesOf(
    'ElevenLabs',
    'receptron/mulmocast-app#1410',
    { caller: ['bad_prompt'] },
    { error_id: 'content_policy_violation' },
  ),
  ...rulesOf('Jina', 'jina.ai: API docs', {
    account: [
      /insufficient (?:account )?balance/i,
      'AUTHZ_INSUFFICIENT_BALANCE',
      'AUTH_INVALID_API_KEY',
    ],
    throttle: [/rate limit (?:has been )?exceeded/i, 'RATE_TOKEN_LIMIT_EXCEEDED'],
  }),
  ...rulesOf(
    'Jina',
    'langgenius/dify-official-plugins#1997',
    { caller: [/^\[RID: \w+\] validation error: /i] },
    { statuses: [400, 422] },
  ),
];
