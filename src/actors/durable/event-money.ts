import type { EventMoney } from '../../../db/actors/history.ts';
import type { MoneyCommand } from '../money/ledger.ts';
import type { LedgerAnswer } from '../money/ledger-commands.ts';

/** True if the ledger's `answer` says that it executed the command `money`, now or earlier. */
export function isAccepted(money: MoneyCommand, answer: LedgerAnswer): boolean {
  if (answer.type !== 'hold_ended') return answer.type === 'held';
  if (money.type === 'SETTLE_HOLD') return answer.status === 'settled';
  return money.type === 'RELEASE_HOLD' && answer.status !== 'settled';
}

/**
 * Returns what an accepted ledger command did to a hold, nano-USD. Null if the command did nothing,
 * because the hold had already expired. If the charge exceeds the hold, the ledger may first add
 * money to the hold: then `held` is the added amount.
 */
export function moneyOf(money: MoneyCommand, answer: LedgerAnswer): EventMoney | null {
  if (answer.type === 'held' && money.type === 'HOLD') return { held: money.amount };
  if (answer.type !== 'hold_ended' || answer.status === 'expired') return null;
  const ended = { settled: answer.charged, released: answer.released };
  return answer.added ? { held: answer.added, ...ended } : ended;
}
