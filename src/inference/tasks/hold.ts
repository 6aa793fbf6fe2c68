import type { CommandResult } from '../../actors/durable/command.ts';
import type { LedgerAnswer } from '../../actors/money/ledger-commands.ts';
import {
  ledgerUnavailableError,
  moneyInFlightError,
  moneySpentError,
  quotaError,
} from '../../actors/money/quota-errors.ts';
import type { Quotas } from '../../actors/money/quotas.ts';
import type { CallSignal } from '../../upstreams/contract.ts';
import type { Caller } from '../call.ts';

/**
 * Pause before a refused hold is sent again. The hold does not wait for hints that money was
 * returned, because hints may be lost.
 */
const RETRY_MS = 50;
/** Time limit for idle grants and calls in flight to return their money. */
const HOLD_WAIT_MS = 10_000;
/**
 * If only work in flight holds the money, the create is refused after this time. Tasks in flight
 * take minutes, so a longer wait rarely helps.
 */
const IN_FLIGHT_WAIT_MS = 1_000;

/**
 * Sends a command with a durable hold until it is committed or refused for good. Idle grants may
 * have unused money of the same organization. A recall asks their holders to return this money, and
 * meanwhile the command is repeated. So a create near the cap is never refused falsely. `attempt`
 * gets the sequence number of the recall that an earlier attempt started. Throws WeirError 402 if
 * the money is gone or held by work in flight. Throws the error of the key's status, or
 * `service_unavailable`. Throws the signal's reason if the signal is aborted.
 */
export async function withHold(
  quotas: Quotas,
  key: Pick<Caller, 'id' | 'organization_id'>,
  signal: CallSignal,
  attempt: (recall_seq: number | null) => Promise<CommandResult>,
): Promise<Extract<CommandResult, { type: 'committed' }>> {
  const started_ms = performance.now();
  let recall_seq: number | null = null;
  for (;;) {
    if (signal.aborted) throw signal.reason;
    const result = await attempt(recall_seq);
    if (result.type === 'committed') return result;
    if (result.type !== 'refused') throw ledgerUnavailableError();
    const waited_ms = performance.now() - started_ms;
    recall_seq = nextRecall(result.answer, waited_ms);
    if (recall_seq !== null) {
      // NOTIFY carries the recall to the other replicas. This replica does not wait for NOTIFY.
      quotas.onRecall(recall_seq, { organization_id: key.organization_id, key_id: null });
    }
    await Bun.sleep(RETRY_MS);
  }
}

/**
 * Returns the sequence number of the recall for the next attempt; null if there is no recall.
 * Throws the error for the client if the hold is refused.
 */
function nextRecall(answer: LedgerAnswer, waited_ms: number): number | null {
  switch (answer.type) {
    case 'contended':
      if (waited_ms > HOLD_WAIT_MS) throw ledgerUnavailableError();
      return answer.recall_seq;
    case 'short':
      if (answer.elsewhere === 0) throw moneySpentError(answer.bound);
      if (waited_ms > IN_FLIGHT_WAIT_MS) throw moneyInFlightError(answer.bound);
      return null;
    case 'key_unusable':
      throw quotaError(answer.status, 'key');
    default:
      throw new Error(`unexpected answer to a hold: ${answer.type}`);
  }
}
