import type { CallFacts } from '../records/record.ts';

/** The usage line of a settled charge (spec: Management, usage). Amounts are in nano-USD. */
export interface UsageLine {
  /**
   * The UUID of the billing transaction, which the API shows as `txn_…`. If a line with this id is
   * sent again, it charges nothing.
   */
  id: string;
  request_id: string;
  organization_id: string;
  key_id: string;
  scene: string;
  access_channel: 'platform' | 'byok';
  model: string;
  model_vendor: string;
  channel_id: string;
  outcome: 'completed' | 'partial' | 'cached';
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  /** The part of `output_tokens` that is reasoning. */
  reasoning_tokens?: number;
  /** The part of the input tokens that is audio. */
  audio_tokens?: number;
  estimated: boolean;
  charged_nano_usd: number;
  overrun_nano_usd: number;
  /** The list price, if it is not the charge and the overrun: for a call on an own key. */
  list_nano_usd?: number;
  /** What the key's cap counts, if it is not the charge. */
  counted_nano_usd?: number;
  /** How the call went. Without it, the line's date is the time of the settlement. */
  record?: CallFacts | undefined;
}

/** A usage line that a grant pays. */
export interface InlineLine extends UsageLine {
  grant_id: string;
}
