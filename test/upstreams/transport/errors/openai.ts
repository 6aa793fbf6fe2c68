import { openai, sent, type VendorErrors } from './payload.ts';

const INVALID = 'invalid_request_error';
const QUOTA = 'insufficient_quota';
const RATE = 'rate_limit_exceeded';
/** The vendor's page of error codes. It gives statuses and sentences, no bodies. */
const DOCS = { source: 'https://developers.openai.com/docs/guides/error-codes' };
/** The page of Microsoft's Dev Proxy about the vendor's codes of quota. */
const PROXY = {
  source:
    'https://learn.microsoft.com/zh-cn/microsoft-cloud/dev/dev-proxy/concepts/openai-insufficient-quota',
};
const noMoney = (code: string, message: string) =>
  sent(429, 'account', openai(message, QUOTA, code), PROXY);
const rate = (type: string, message: string, wait_ms: number, source?: string) =>
  sent(429, 'throttle', openai(message, type, RATE), { wait_ms, ...(source ? { source } : {}) });

/** Errors that are not the caller's. */
export const OPENAI_ERRORS: VendorErrors = {
  vendor: 'OpenAI',
  payloads: [
    sent(
      401,
      'account',
      openai(
        'Incorrect API key provided: sk-ab***. You can find your API key at https://platform.openai.com/account/api-keys.',
        INVALID,
        'invalid_api_key',
      ),
      { source: 'popjane/free_chatgpt_api#3' },
    ),
    sent(
      401,
      'account',
      openai(
        'You must be a member of an organization to use the API. Please contact us through our help center at help.openai.com.',
        INVALID,
        'no_organization',
      ),
      { source: 'abi/screenshot-to-code#9' },
    ),
    sent(
      401,
      'account',
      openai(
        'OpenAI-Organization header should match organization for API key',
        INVALID,
        'mismatched_organization',
      ),
      { source: 'microsoft/foundry-dev-tools#262' },
    ),
    sent(401, 'account', openai('IP not authorized', INVALID), DOCS),
    sent(401, 'account', openai('No such organization: org-x', INVALID, 'invalid_organization')),
    sent(
      401,
      'account',
      openai(
        "You have insufficient permissions for this operation. Missing scopes: model.request. Check that you have the correct role in your organization (Reader, Writer, Owner) and project (Member, Owner), and if you're using a restricted API key, that it has the necessary scopes.",
        INVALID,
      ),
      { source: 'microsoft/PowerToys#32989' },
    ),
    sent(
      401,
      'account',
      {
        message:
          "You have insufficient permissions for this operation. Missing scopes: api.responses.write. Check that you have the correct role in your organization (Reader, Writer, Owner) and project (Member, Owner), and if you're using a restricted API key, that it has the necessary scopes.",
        ...{ type: INVALID, param: null, code: null },
      },
      { source: 'continuedev/continue#10059' },
    ),
    sent(
      403,
      'account',
      openai(
        'Country, region, or territory not supported',
        'request_forbidden',
        'unsupported_country_region_territory',
      ),
      { source: 'home-assistant/core#120072' },
    ),
    sent(
      401,
      'account',
      openai(
        'The OpenAI account associated with this API key has been deactivated. If you are the developer for this OpenAI app, please check your email for more information. If you are seeing this error while using another app or site, please reach out to them for more help.',
        INVALID,
        'account_deactivated',
      ),
      { source: 'ChatGPTNextWeb/NextChat#4176' },
    ),
    sent(
      401,
      'account',
      openai(
        'This key is associated with a deactivated account. If you feel this is an error, contact us through our help center at help.openai.com.',
        INVALID,
        'account_deactivated',
      ),
      { source: 'Zero6992/chatGPT-discord-bot#442' },
    ),
    sent(
      429,
      'account',
      openai(
        'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
        QUOTA,
        QUOTA,
      ),
      { source: 'langchain-ai/chat-langchain#428' },
    ),
    noMoney('credit_balance_exhausted', 'No prepaid credits remain.'),
    noMoney('organization_spend_limit_exceeded', 'The spend limit of the month is reached.'),
    noMoney('project_spend_limit_exceeded', 'The spend limit of the project is reached.'),
    noMoney('organization_usage_limit_exceeded', 'The usage limit of the month is reached.'),
    sent(
      429,
      'account',
      openai(
        'Your account is not active, please check your billing details on our website.',
        'billing_not_active',
        'billing_not_active',
      ),
      { source: 'lifan0127/ai-research-assistant#174' },
    ),
    sent(
      400,
      'account',
      openai('Billing hard limit has been reached', INVALID, 'billing_hard_limit_reached'),
    ),
    rate(
      'tokens',
      'Rate limit reached for gpt-4o in organization org-uOtiSEwvUnroadaOnJJquBEC on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. Please try again in 644ms.',
      644,
      'BuilderIO/micro-agent#86',
    ),
    rate(
      'tokens',
      'Rate limit reached for gpt-4.1 in organization org-vyUrKHsIdLcZGKR3zqCqllrS on tokens per min (TPM): Limit 30000, Used 28039, Requested 3906. Please try again in 3.89s. Visit https://platform.openai.com/account/rate-limits to learn more.',
      3_890,
      'continuedev/continue#10502',
    ),
    rate(
      'tokens',
      'Rate limit reached for gpt-4 in organization ***** on tokens per min. Limit: 10000 / min. Please try again in 6ms. Visit https://platform.openai.com/account/rate-limits to learn more.',
      6,
      'jorge-menjivar/unsaged#53',
    ),
    rate(
      'requests',
      'Rate limit reached for gpt-4o on requests per day (RPD): Limit 200. Please try again in 7m12s.',
      432_000,
    ),
    // To wait does not help: the request alone is larger than the account's limit.
    sent(
      429,
      'unclear',
      openai(
        'Request too large for gpt-4o in organization org-VDAWofJASuLH0vVz8o9tiQZr on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.',
        'tokens',
        RATE,
      ),
      { source: 'DrShushen/climb#13' },
    ),
    sent(429, 'throttle', openai('Slow down', 'rate_limit_error', 'slow_down'), {
      source: 'https://www.developersdigest.tech/errors/api/openai-api',
    }),
    sent(503, 'overload', openai('Slow down', 'slow_down', 'slow_down')),
    sent(
      503,
      'overload',
      openai('The model is overloaded.', 'service_unavailable_error', 'server_is_overloaded'),
      {
        source: 'https://www.developersdigest.tech/errors/api/openai-api/503-server-is-overloaded',
      },
    ),
    sent(
      500,
      'broken',
      openai(
        'The server experienced an error while processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if the error persists.',
        'server_error',
      ),
      { source: 'acheong08/ChatGPT#607' },
    ),
    sent(
      503,
      'overload',
      openai(
        'That model is currently overloaded with other requests. You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID 500d9fff2057e4af93a280f67002c342 in your message.)',
        'server_error',
      ),
      { source: 'ikechan8370/chatgpt-plugin#125' },
    ),
    sent(
      404,
      'broken',
      openai(
        'The model `gpt-4o-2024-05-13` does not exist or you do not have access to it.',
        INVALID,
        'model_not_found',
      ),
      { source: 'abi/screenshot-to-code#332' },
    ),
    sent(
      404,
      'broken',
      openai('The model gpt-4-preview does not exist', INVALID, 'model_not_found'),
      {
        source: 'enjalot/latent-scope#18',
      },
    ),
    sent(404, 'broken', openai('That model does not exist', INVALID), {
      source: 'waylaidwanderer/node-chatgpt-api#131',
    }),
    sent(
      404,
      'broken',
      openai(
        'The model `gpt-4-32k` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations',
        INVALID,
        'model_not_found',
      ),
    ),
    sent(404, 'broken', openai('Invalid URL (POST /v1/v1/chat/completions)', INVALID)),
    sent(
      400,
      'account',
      openai(
        'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.',
        INVALID,
        'unsupported_value',
        'stream',
      ),
      { source: 'Lamb-Project/lamb#54' },
    ),
    sent(
      403,
      'account',
      openai(
        'Your organization must be verified to use the model `gpt-image-1`. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.',
        INVALID,
      ),
      { source: 'openai-php/client#565' },
    ),
    sent(413, 'unclear', '<html><head><title>413 Request Entity Too Large</title></head></html>'),
    sent(
      502,
      'broken',
      '<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>',
    ),
    sent(403, 'unclear', '<!DOCTYPE html><title>Attention Required! | Cloudflare</title>'),
    sent(520, 'broken', 'error code: 520'),
    sent(524, 'broken', 'error code: 524'),
  ],
};
