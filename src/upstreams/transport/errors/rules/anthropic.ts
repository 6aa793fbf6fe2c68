import { rulesOf } from '../rule.ts';

/** Anthropic, and Claude on other clouds. */
export const ANTHROPIC_RULES = [
  ...rulesOf('Anthropic', 'Anthropic docs: Errors; @anthropic-ai/sdk resources/beta/beta.d.ts', {
    account: [
      /credit balance is too low/i,
      /reached your specified (?:workspace |api )*usage limits/i,
      /organization has been disabled/i,
      /only authorized for use with/i,
      'organization_not_enrolled_in_beta',
      'enforced_spend_limit',
    ],
    overload: ['overloaded_error'],
    broken: ['timeout_error'],
  }),
  ...rulesOf(
    'Anthropic',
    'Anthropic docs: Errors',
    { broken: ['api_error'] },
    { is_general: true },
  ),
  ...rulesOf(
    'Anthropic',
    'Anthropic docs: Errors',
    { caller: ['conflict_error'] },
    { is_general: true, statuses: [409] },
  ),
  ...rulesOf(
    'Anthropic',
    'Anthropic docs: Errors; Context windows',
    {
      caller: [
        /prompt is too long/i,
        /input length and `?max_tokens`? exceed context limit/i,
        /exceeds? (?:the )?(?:model's )?(?:maximum )?context (?:window|limit|length)/i,
        /the long context beta is not yet available/i,
        /input is too long for requested model/i,
      ],
    },
    { error_id: 'context_length_exceeded', statuses: [400, 413, 422] },
  ),
  ...rulesOf(
    'Anthropic',
    'Anthropic docs: Errors',
    { caller: ['request_too_large'] },
    { error_id: 'payload_too_large' },
  ),
  ...rulesOf(
    'Anthropic',
    'Anthropic docs: Errors; anthropics/claude-code issues',
    { caller: [/output blocked by content filtering policy/i] },
    { error_id: 'content_policy_violation' },
  ),
];
