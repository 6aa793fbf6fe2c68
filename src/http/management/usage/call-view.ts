import type { CallRow } from '../../../../db/usage/calls.ts';
import { requestIdOf, withoutDashes } from '../../../errors/request-id.ts';
import { type Moment, momentsOf } from '../../../inference/records/stages.ts';
import { usd } from '../../../json/usd.ts';

/** What each outcome means, in words. */
const OUTCOMES: Readonly<Record<string, string>> = {
  completed: 'The answer was complete.',
  partial: 'A part of the answer was delivered, and charged.',
  refused: 'The call was refused.',
  failed: 'The call failed.',
  canceled: 'The client left before it received anything.',
  repeated: 'The answer of an earlier call with the same Idempotency-Key was sent again.',
  cached: 'An earlier answer to the same request was sent again, from the cache.',
  accepted: 'The call created a task or a batch.',
  free: 'The call costs nothing.',
};

/** Returns a call as its organization sees it: nothing names a channel (P5). Amounts are in USD. */
export function callView(row: CallRow) {
  const { detail, billing_id, task_id } = row;
  return {
    object: 'call',
    request_id: requestIdOf(row.id),
    ...(billing_id === null ? {} : { billing_transaction_id: `txn_${withoutDashes(billing_id)}` }),
    ...(task_id === null ? {} : { task_id }),
    ...(detail?.batch_id === undefined ? {} : { message_batch_id: detail.batch_id }),
    api_key_id: row.key_id,
    date: row.at.toISOString(),
    outcome: row.outcome,
    outcome_text: OUTCOMES[row.outcome] ?? null,
    status: row.status,
    error_code: row.error_code,
    fault: publicFault(row.fault),
    scene: row.scene || null,
    logical_model: row.model || null,
    model_vendor: row.model_vendor || null,
    access_channel: row.access_channel,
    protocol: row.protocol || null,
    program: row.program || null,
    stream: detail?.stream === true,
    usage: {
      input_tokens: row.input_tokens,
      cached_input_tokens: row.cached_input_tokens,
      cache_write_tokens: row.cache_write_tokens,
      output_tokens: row.output_tokens,
      reasoning_tokens: row.reasoning_tokens,
      audio_tokens: row.audio_tokens,
      units: detail?.units ?? {},
      estimated: row.estimated,
    },
    list_price: usd(row.list_nano_usd),
    amount: usd(row.charged_nano_usd),
    counted: usd(row.counted_nano_usd),
    currency: 'USD',
    cache: row.outcome === 'cached' ? 'hit' : row.looked_up ? 'miss' : null,
    ...(detail?.saved_nano_usd === undefined
      ? {}
      : {
          cache_entry_id: detail.cache_entry_id,
          cache_age_s: detail.cache_age_s,
          saved: usd(detail.saved_nano_usd),
        }),
    attempts: detail?.attempts?.length ?? (row.routed_us === null ? 0 : 1),
    time_to_first_token_ms: row.first_token_ms,
    duration_ms: row.ended_ms,
    ...(detail?.moved_from === undefined ? {} : { moved_from: detail.moved_from }),
    ...(detail?.reached === undefined ? {} : { warnings: detail.reached }),
    user: detail?.end_user ?? null,
    metadata: detail?.tags ?? {},
  };
}

/** The operator's key is the operator's business; for its clients, the provider failed. */
function publicFault(fault: string | null): string | null {
  return fault === 'account' ? 'provider' : fault;
}

/** Returns the moments of a call in order, with the commit of its charge (`momentsOf`). */
export function timelineOf(row: CallRow): Moment[] {
  const { settled_at, reserved_us, at } = row;
  const isSettled = settled_at && reserved_us !== null;
  return momentsOf(
    row,
    isSettled ? settled_at.getTime() - at.getTime() + reserved_us / 1_000 : null,
  );
}
