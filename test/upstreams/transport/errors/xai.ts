import { sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
const tooLong = { error_id: 'context_length_exceeded' } as const;
const ARGUMENT = 'Client specified an invalid argument';
const PERMISSION = 'The caller does not have permission to execute the specified operation';
const NOT_FOUND = 'Some requested entity was not found';
const EXHAUSTED =
  'Your team 1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.';

export const XAI_ERRORS: VendorErrors = {
  vendor: 'xAI',
  payloads: [
    sent(
      400,
      'account',
      {
        code: ARGUMENT,
        error:
          'Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai.',
      },
      { source: 'continuedev/continue#10778' },
    ),
    sent(429, 'account', { error: EXHAUSTED }, { source: 'continuedev/continue#10373' }),
    sent(
      403,
      'account',
      { code: 'permission-denied', error: EXHAUSTED },
      { source: 'Anantys-oss/koan#2412' },
    ),
    sent(
      403,
      'account',
      {
        error:
          'You have run out of credits or need a Grok subscription. Add credits at https://grok.com/?_s=usage or upgrade at https://grok.com/supergrok.',
      },
      { source: 'Wei-Shaw/sub2api#4069' },
    ),
    sent(
      403,
      'account',
      { code: 'permission-denied', error: 'Access to the chat endpoint is denied' },
      { source: 'Wei-Shaw/sub2api#5359' },
    ),
    sent(
      403,
      'caller',
      { code: 'permission-denied', error: 'Content violates usage guidelines. ' },
      { ...filtered, source: 'Wei-Shaw/sub2api#5359' },
    ),
    sent(
      403,
      'caller',
      {
        code: PERMISSION,
        error:
          'Content violates usage guidelines. Team: 1, API key ID: 1, Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO',
      },
      { ...filtered, source: 'UKGovernmentBEIS/inspect_ai#2267' },
    ),
    sent(
      403,
      'account',
      {
        code: PERMISSION,
        error:
          "Your newly created teams doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/1.",
      },
      { source: 'griptape-ai/griptape-nodes-engine#1079' },
    ),
    sent(
      403,
      'account',
      {
        error:
          "Your newly created team doesn't have any credits or licenses yet. You can purchase those on https://console.x.ai/team/1.",
      },
      { source: 'continuedev/continue#12670' },
    ),
    sent(401, 'account', {
      code: 'unauthenticated:bad-credentials',
      error: 'The OAuth2 access token could not be validated.',
    }),
    sent(
      429,
      'throttle',
      {
        error:
          "Too many tokens for team 1 and model grok-4-0709. Your team's rate limit is — Tokens per Minute (actual/limit): 65605/16000. You can view your team rate limits at https://console.x.ai.",
      },
      { source: 'cline/cline#4826' },
    ),
    sent(
      429,
      'throttle',
      {
        code: 'Some resource has been exhausted',
        error: 'Too many requests for team 00000000-0000-0000-0000-000000000016',
      },
      { source: 'chenyme/grok2api#926' },
    ),
    sent(
      404,
      'broken',
      {
        code: NOT_FOUND,
        error:
          "The model grok-beta does not exist or your team 1 does not have access to it. Please ensure you're using the correct API key. If you believe this is a mistake, please contact support and quote your team ID and the model name.",
      },
      { source: 'yihong0618/bilingual_book_maker#464' },
    ),
    sent(
      404,
      'broken',
      {
        code: NOT_FOUND,
        error:
          'No handler found on route. Please double check your URL and consult https://api.x.ai/docs for more information.',
      },
      { source: 'iniwap/AIWriteX#26' },
    ),
    sent(503, 'overload', {
      code: 'The service is currently unavailable',
      error: 'Service temporarily unavailable. The model is at capacity right now.',
    }),
    sent(
      400,
      'caller',
      { code: ARGUMENT, error: 'Argument not supported on this model: presencePenalty' },
      { source: 'Arize-ai/phoenix#7676' },
    ),
    sent(
      400,
      'caller',
      {
        code: ARGUMENT,
        error:
          'The arguments to a tool_call with ID \'initial_list_datasets\' are not a valid JSON string. Parsing error: Error("EOF while parsing a value", line: 1, column: 0)',
      },
      { source: 'spiceai/spiceai#4734' },
    ),
    sent(
      400,
      'caller',
      {
        code: ARGUMENT,
        error:
          "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
      },
      { ...tooLong, source: 'cline/cline#3120' },
    ),
    sent(
      422,
      'unclear',
      'Failed to deserialize the JSON body into the target type: input: data did not match any variant of untagged enum ModelInput at line 1 column 114032',
      { source: 'meangrinch/MangaTranslator#48' },
    ),
    sent(
      422,
      'unclear',
      "Failed to deserialize the JSON body into the target type: missing field 'prompt' at line 10 column 1",
      { source: 'CherryHQ/cherry-studio#4732' },
    ),
  ],
};
