import type { TransactionSql } from 'postgres';
import type { UsageLine } from './usage-line.ts';

/** Money that is added to an organization, or credit that is taken back. Amounts are in nano-USD. */
export interface NewDeposit {
  id: string;
  organization_id: string;
  kind: 'payment' | 'credit' | 'credit_return';
  /** Negative if credit is taken back. */
  amount: number;
  reference: string | null;
  note: string;
}

/** Inserts deposits and returns those that are new. A repeated deposit changes nothing. */
export async function insertDeposits(
  tx: TransactionSql,
  deposits: readonly NewDeposit[],
): Promise<{ organization_id: string; amount_nano_usd: number }[]> {
  if (deposits.length === 0) return [];
  return tx<{ organization_id: string; amount_nano_usd: number }[]>`
    insert into deposit (id, organization_id, kind, amount_nano_usd, reference, note, created_at)
    select id, organization_id, kind, amount, reference, note, weir_now()
    from json_to_recordset(${JSON.stringify(deposits)}::text::json) as input(
      id uuid, organization_id text, kind text, amount int8, reference text, note text)
    on conflict (id) do nothing
    returning organization_id, amount_nano_usd`;
}

/**
 * Inserts the usage lines of holds. A hold settles once, so no line can exist already. The date of a
 * line is the time when its hold was made.
 */
export async function insertHoldLines(
  tx: TransactionSql,
  lines: readonly (UsageLine & { hold_id: string })[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx`
    insert into usage_line (
      id, request_id, organization_id, key_id, hold_id, scene, access_channel, model,
      model_vendor, channel_id, outcome, input_tokens, cached_input_tokens, cache_write_tokens,
      output_tokens, estimated, charged_nano_usd, overrun_nano_usd, list_nano_usd,
      counted_nano_usd, created_at, at, protocol,
      program, authenticated_us, reserved_us, routed_us, first_token_ms, ended_ms, detail)
    select line.id, request_id, line.organization_id, line.key_id, hold_id, scene, access_channel,
      model, model_vendor, channel_id, outcome, input_tokens, cached_input_tokens,
      cache_write_tokens, output_tokens, estimated, line.charged_nano_usd, overrun_nano_usd, list_nano_usd,
      counted_nano_usd, weir_now(), date_trunc('milliseconds', hold.created_at), coalesce(protocol, ''),
      coalesce(program, ''), authenticated_us, reserved_us, routed_us, first_token_ms, ended_ms, detail
    from json_to_recordset(${JSON.stringify(lines)}::text::json) as line(
      id uuid, request_id uuid, organization_id text, key_id text, hold_id uuid, scene text,
      access_channel text, model text, model_vendor text, channel_id text, outcome text,
      input_tokens int, cached_input_tokens int, cache_write_tokens int, output_tokens int,
      estimated bool, charged_nano_usd int8, overrun_nano_usd int8, list_nano_usd int8,
      counted_nano_usd int8, record json)
    cross join json_to_record(coalesce(line.record, '{}')) as record(
      protocol text, program text, authenticated_us int, reserved_us int, routed_us int,
      first_token_ms int, ended_ms int, detail jsonb)
    join hold on hold.id = line.hold_id`;
}
