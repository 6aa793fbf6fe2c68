/**
 * Answers in which providers tell what they bill, as their documentation shows them. Times and names
 * are those of the documents.
 */
import type OpenAI from 'openai';

type Costs = OpenAI.Admin.Organization.UsageCostsResponse;
type Completions = OpenAI.Admin.Organization.UsageCompletionsResponse;

/** OpenAI API reference, Costs (share.apidog.com/apidoc/docs-site/370474/api-12405880). */
export const OPENAI_COSTS = {
  object: 'page',
  data: [
    {
      object: 'bucket',
      start_time: 1_730_419_200,
      end_time: 1_730_505_600,
      results: [
        {
          object: 'organization.costs.result',
          amount: { value: 0.06, currency: 'usd' },
          line_item: null,
          project_id: null,
        },
      ],
    },
  ],
  has_more: false,
  next_page: null,
} as unknown as Costs;

/** The members of the types of the openai package, `UsageCompletionsResponse`, by model. */
export const OPENAI_USAGE = {
  object: 'page',
  data: [
    {
      object: 'bucket',
      start_time: 1_730_419_200,
      end_time: 1_730_505_600,
      results: [
        {
          ...{ object: 'organization.usage.completions.result', model: 'gpt-4o-mini-2024-07-18' },
          ...{ input_tokens: 1_000, output_tokens: 500, input_cached_tokens: 800 },
          ...{ input_audio_tokens: 0, output_audio_tokens: 0, num_model_requests: 5 },
          ...{ project_id: null, user_id: null, api_key_id: null, batch: null },
        },
      ],
    },
  ],
  has_more: true,
  next_page: 'page_AAAAAGdGxdEiJdKOAAAAAGcqsYA=',
} as unknown as Completions;

/** Claude API reference, Get Cost Report (platform.claude.com/docs/en/api/admin/cost_report). */
export const ANTHROPIC_COSTS = {
  data: [
    {
      starting_at: '2025-08-01T00:00:00Z',
      ending_at: '2025-08-02T00:00:00Z',
      results: [
        {
          currency: 'USD',
          amount: '123.78912',
          workspace_id: 'wrkspc_01JwQvzr7rXLA5AGx3HKfFUJ',
          description: 'Claude Sonnet 4 Usage - Input Tokens',
          cost_type: 'tokens',
          context_window: '0-200k',
          model: 'claude-sonnet-4-20250514',
          service_tier: 'standard',
          token_type: 'uncached_input_tokens',
        },
      ],
    },
  ],
  has_more: true,
  next_page: 'page_MjAyNS0wNS0xNFQwMDowMDowMFo=',
};

/** OpenRouter docs, ActivityResponse (openrouter.ai/docs/client-sdks/typescript/models). */
export const OPENROUTER_ACTIVITY = {
  data: [
    {
      ...{ byok_usage_inference: 0.012, completion_tokens: 125, date: '2025-08-24' },
      endpoint_id: '550e8400-e29b-41d4-a716-446655440000',
      ...{ model: 'openai/gpt-4.1', model_permaslug: 'openai/gpt-4.1-2025-04-14' },
      ...{ prompt_tokens: 50, provider_name: 'OpenAI', reasoning_tokens: 25 },
      ...{ requests: 5, usage: 0.015 },
    },
  ],
};

/** The members of `usage` in which providers tell the price of an answer, and the price in nano-USD. */
export const TOLD_PRICES: readonly [source: string, usage: object, nano_usd: number][] = [
  [
    'openrouter.ai/docs/use-cases/usage-accounting',
    { cost: 0.95, cost_details: { upstream_inference_cost: 19 } },
    950_000_000,
  ],
  ['docs.x.ai/developers/cost-tracking', { cost_in_usd_ticks: 37_756_000 }, 3_775_600],
  [
    "schemas of Perplexity's API: ResponsesCost",
    {
      cost: { currency: 'USD', input_cost: 0.000_01, output_cost: 0.000_2, total_cost: 0.000_21 },
    },
    210_000,
  ],
];
