import { rulesOf } from '../rule.ts';

/** Anthropic, and Claude on other clouds. */
export const ANTHROPIC_RULES = [
  ...rulesOf('Anthropic', 'Anthropic docs: Errors; @anthropic-ai/sdk resources/beta/beta.d.ts', {
    account: [
      /credit balance is too low/i,
      /reached your specified (?:workspace |api )*usage limits/i,
      /organization has been disabled/i,
      /only authorized for use with/i,
    ],
    overload: ['overloaded_error'],
    broken: ['timeout_error'],
  }),
  ...rulesOf('Anthropic', '@anthropic-ai/sdk: resources/shared.d.ts, resources/beta/beta.d.ts', {
    account: [
      ...['organization_not_enrolled_in_beta', 'organization_on_hold', 'cmek_key_disabled'],
      ...['organization_type_not_supported', 'parent_organization_required'],
      ...['claude_code_key_creator_not_member', 'cmek_key_network_blocked'],
      ...['enforced_spend_limit_reached', 'contract_spend_limit_reached'],
      ...['linked_organization_billing_unavailable', 'linked_organization_spend_limit_reached'],
      'sandbox_egress_restricted',
    ],
    throttle: ['ramp_limit_exceeded'],
    overload: ['compaction_unavailable', 'cmek_context_unavailable', 'cmek_key_unreachable'],
    // Weir itself encodes the body and sets its content type.
    broken: [
      ...['request_body_encoding_invalid', 'request_body_encoding_unsupported'],
      'unsupported_charset',
    ],
    unclear: ['request_body_timeout'],
  }),
  ...rulesOf(
    'Anthropic',
    '@anthropic-ai/sdk: resources/files.d.ts, resources/skills/skills.d.ts',
    { account: ['storage_quota_exceeded', 'skill_read_blocked_undecryptable'] },
    // Requests without files and skills work.
    { health: 'none' },
  ),
  ...rulesOf(
    'Anthropic',
    '@anthropic-ai/sdk: resources/messages/messages.d.ts, resources/files.d.ts',
    {
      caller: [
        ...['thread_already_continued', 'thread_continue_in_flight', 'thread_not_found'],
        ...['thread_fingerprint_mismatch', 'thread_unsupported_request', 'tool_name_conflict'],
        ...['compaction_block_ambiguous', 'compaction_block_misplaced'],
        ...['compaction_content_mismatch', 'compaction_incomplete_turn'],
        ...['compaction_nothing_to_summarize', 'compaction_signature_invalid'],
        ...['compaction_too_many_tool_references', 'compaction_tool_changes_mismatch'],
        ...['available_tools_limit_exceeded', 'tool_reference_unresolved'],
        ...['claude_code_version_too_old', 'file_not_downloadable', 'file_expired'],
      ],
    },
    { statuses: [400, 404] },
  ),
  ...rulesOf(
    'Anthropic',
    '@anthropic-ai/sdk: resources/shared.d.ts',
    { caller: ['request_body_too_large_after_decoding'] },
    { error_id: 'payload_too_large' },
  ),
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
        /exceeds? (?:the )?(?:model(?:'s)? )?(?:maximum )?context (?:window|limit|length)/i,
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
    'anthropics/claude-code#58367',
    { caller: [/output blocked by content filtering policy/i] },
    { error_id: 'content_policy_violation' },
  ),
];
