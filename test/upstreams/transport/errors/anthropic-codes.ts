import type { Fault } from '../../../../src/errors/fault.ts';
import { type ErrorPayload, sent, type VendorErrors } from './payload.ts';

const SDK = '@anthropic-ai/sdk@1.11.0';
/** The `type` that goes with a status. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'api_error',
  529: 'overloaded_error',
};

/** Errors with one of the `codes` that the SDK's file declares. Their wording is not stable. */
const declared = (
  path: string,
  status: number,
  fault: Fault,
  codes: readonly string[],
  more: Partial<ErrorPayload> = {},
) =>
  codes.map((error_code) => {
    const error = { type: TYPES[status], message: 'Refused.', details: { error_code } };
    const source = `${SDK} resources/${path}`;
    return sent(status, fault, { type: 'error', error, request_id: null }, { source, ...more });
  });

const SHARED = 'shared.d.ts';
const BETA = 'beta/beta.d.ts';
const MESSAGES = 'messages/messages.d.ts';
const FILES = 'files.d.ts';

/** Errors with a code in `error.details`, as the vendor's SDK declares them. */
export const ANTHROPIC_CODES: VendorErrors = {
  vendor: 'Anthropic',
  payloads: [
    ...declared(SHARED, 400, 'account', [
      ...['claude_code_key_creator_not_member', 'cmek_key_disabled', 'cmek_key_network_blocked'],
      ...['organization_on_hold', 'organization_type_not_supported'],
      'parent_organization_required',
    ]),
    ...declared(SHARED, 400, 'caller', ['claude_code_version_too_old']),
    ...declared(SHARED, 400, 'broken', [
      ...['request_body_encoding_invalid', 'request_body_encoding_unsupported'],
    ]),
    ...declared(SHARED, 402, 'account', [
      ...['linked_organization_billing_unavailable', 'linked_organization_spend_limit_reached'],
    ]),
    ...declared(SHARED, 403, 'account', ['sandbox_egress_restricted']),
    ...declared(SHARED, 413, 'caller', ['request_body_too_large_after_decoding'], {
      error_id: 'payload_too_large',
    }),
    ...declared(SHARED, 429, 'account', [
      ...['contract_spend_limit_reached', 'enforced_spend_limit_reached'],
    ]),
    ...declared(SHARED, 429, 'throttle', ['ramp_limit_exceeded'], {
      headers: { 'retry-after': '30' },
      wait_ms: 30_000,
    }),
    ...declared(SHARED, 503, 'overload', ['cmek_context_unavailable', 'cmek_key_unreachable']),
    ...declared(BETA, 400, 'account', ['organization_not_enrolled_in_beta']),
    ...declared(BETA, 400, 'unclear', ['request_body_timeout']),
    ...declared(BETA, 400, 'broken', ['unsupported_charset']),
    ...declared(MESSAGES, 400, 'caller', [
      ...['available_tools_limit_exceeded', 'compaction_block_ambiguous'],
      ...['compaction_block_misplaced', 'compaction_content_mismatch'],
      ...['compaction_incomplete_turn', 'compaction_nothing_to_summarize'],
      ...['compaction_signature_invalid', 'compaction_too_many_tool_references'],
      ...['compaction_tool_changes_mismatch', 'thread_already_continued'],
      ...['thread_continue_in_flight', 'thread_fingerprint_mismatch'],
      ...['thread_unsupported_request', 'tool_name_conflict', 'tool_reference_unresolved'],
    ]),
    ...declared(MESSAGES, 404, 'caller', ['thread_not_found']),
    ...declared(MESSAGES, 529, 'overload', ['compaction_unavailable']),
    ...declared(FILES, 400, 'caller', ['file_not_downloadable']),
    ...declared(FILES, 400, 'account', ['storage_quota_exceeded']),
    ...declared(FILES, 404, 'caller', ['file_expired']),
    ...declared('skills/skills.d.ts', 409, 'account', ['skill_read_blocked_undecryptable']),
  ],
};
