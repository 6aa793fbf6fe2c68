import type { CommandResult } from '../../actors/durable/command.ts';
import type { LedgerAnswer, ReachedBudget } from '../../actors/money/ledger-commands.ts';
import {
  keyStatusError,
  ledgerUnavailableError,
  moneyInFlightError,
  moneySpentError,
} from '../../actors/money/quota-errors.ts';
import type { CallSignal } from '../../upstreams/contract.ts';

/**
 * Pause before a refused hold is sent again. Weir does not wait for a message that money was
 * returned, because messages may be lost.
 */
const RETRY_MS = 50;
/** Time limit for idle grants and calls in flight to return their money. */
const HOLD_WAIT_MS = 10_000;
/**
 * If only work in flight holds the money, the new task is refused after this time. Tasks in flight
 * take minutes, so a longer wait rarely helps.
 */
const IN_FLIGHT_WAIT_MS = 1_000;

/** A durable hold that a task needs. */
interface WantedHold {
  readonly signal: CallSignal;
  /** Nano-USD. */
  readonly amount: number;
  /**
   * Called if the hold exceeds soft budgets, so that it was not made. The next attempt must make it all the same.
   * May throw the error for the client.
   */
  readonly onReached: (reached: readonly ReachedBudget[]) => void;
}

/**
 * Sends a command with a durable hold until it is committed or refused for good. If other grants of
 * the key or the organization may have the missing money, the ledger sends a recall: the holders of
 * these grants must return what they do not use. Then the command is sent again. Each attempt
 * repeats the recall, because a recall may be lost. So a new task near the cap is never refused
 * falsely. `attempt` gets the sequence number of the recall that an earlier attempt started.
 *
 * Throws WeirError 402 if the money is spent, or held by work in flight. Throws the error of the
 * key's status, or `service_unavailable`. Throws the signal's reason if the signal is aborted.
 */
export async function withHold(
  { signal, amount, onReached }: WantedHold,
  attempt: (recall_seq: number | null) => Promise<CommandResult>,
): Promise<Extract<CommandResult, { type: 'committed' }>> {
  const started_ms = performance.now();
  let recall_seq: number | null = null;
  for (;;) {
    if (signal.aborted) throw signal.reason;
    const result = await attempt(recall_seq);
    if (result.type === 'committed') return result;
    if (result.type !== 'refused') throw ledgerUnavailableError();
    if (result.answer.type === 'over_soft') {
      onReached(result.answer.reached);
      continue;
    }
    const waited_ms = performance.now() - started_ms;
    recall_seq = nextRecall(result.answer, amount, waited_ms);
    await Bun.sleep(RETRY_MS);
  }
}

/**
 * Returns the sequence number of the recall for the next attempt; null if there is no recall.
 * Throws the error for the client if the hold is refused.
 */
function nextRecall(answer: LedgerAnswer, amount: number, waited_ms: number): number | null {
  switch (answer.type) {
    case 'contended':
      if (waited_ms > HOLD_WAIT_MS) throw ledgerUnavailableError();
      return answer.recall_seq;
    case 'short':
      if (answer.elsewhere === 0) throw moneySpentError(answer.bound, amount, answer.free);
      if (waited_ms > IN_FLIGHT_WAIT_MS) throw moneyInFlightError(answer.bound);
      return null;
    case 'key_unusable':
      throw keyStatusError(answer.status);
    default:
      throw new Error(`unexpected answer to a hold: ${answer.type}`);
  }
}
