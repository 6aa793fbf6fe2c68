import type { CommandResult } from '../../actors/durable/command.ts';
import type { LedgerAnswer } from '../../actors/money/ledger-commands.ts';
import {
  ledgerUnavailableError,
  moneyGoneError,
  moneyInFlightError,
  quotaError,
} from '../../actors/money/quota-errors.ts';
import type { Quotas } from '../../actors/money/quotas.ts';
import type { Caller } from '../call.ts';

/** A refused hold asks again this often: hints that money came back may be lost. */
const ASK_AGAIN_MS = 50;
/** It waits this long for idle money elsewhere, and for calls in flight, to come back. */
const HOLD_WAIT_MS = 10_000;
/** Tasks in flight take minutes: where only they and their like hold the money, that is soon said. */
const IN_FLIGHT_WAIT_MS = 1_000;

/**
 * Creates with a durable hold, again and again while idle grants are being called back, this
 * replica's own among them: so a create near the cap is never falsely refused (design 4). `attempt`
 * gets the recall that an earlier one started. Throws WeirError 402 when the money is gone or only
 * held by work in flight, the key's status, `service_unavailable`; the signal's reason when the
 * client left.
 */
export async function withHold(
  quotas: Quotas,
  key: Pick<Caller, 'id' | 'organization_id'>,
  signal: AbortSignal,
  attempt: (recall_seq: number | null) => Promise<CommandResult>,
): Promise<Extract<CommandResult, { type: 'committed' }>> {
  const started = performance.now();
  let recall_seq: number | null = null;
  for (;;) {
    signal.throwIfAborted();
    const told = await attempt(recall_seq);
    if (told.type === 'committed') return told;
    if (told.type !== 'refused') throw ledgerUnavailableError();
    const waited = performance.now() - started;
    recall_seq = nextAsk(told.answer, waited);
    if (recall_seq !== null) {
      // The announcement reaches the other replicas; this one need not wait for it.
      quotas.onRecall(recall_seq, { organization_id: key.organization_id, key_id: null });
    }
    await Bun.sleep(ASK_AGAIN_MS);
  }
}

/** The recall to ask with next; throws what the client is told. */
function nextAsk(answer: LedgerAnswer, waited_ms: number): number | null {
  switch (answer.type) {
    case 'contended':
      if (waited_ms > HOLD_WAIT_MS) throw ledgerUnavailableError();
      return answer.recall_seq;
    case 'short':
      if (answer.elsewhere === 0) throw moneyGoneError(answer.bound);
      if (waited_ms > IN_FLIGHT_WAIT_MS) throw moneyInFlightError(answer.bound);
      return null;
    case 'key_unusable':
      throw quotaError(answer.status, 'key');
    default:
      throw new Error(`a hold was answered with ${answer.type}`);
  }
}
