import type { BudgetPeriod } from '../../../db/budgets/calendar.ts';
import type { Tags } from '../../../db/budgets/tags.ts';
import type { InlineLine, UsageLine } from '../../../db/ledger/usage-line.ts';

/**
 * A command of the lane, the queue that commits ledger commands in groups. Amounts are in nano-USD.
 * Every command may be repeated: if the outcome of a COMMIT is unknown, the same batch runs again.
 */
export type LedgerCommand =
  | SettleCommand
  | GrantCommand
  | ReturnCommand
  | HoldCommand
  | ExtendHoldCommand
  | SettleHoldCommand
  | EndHoldCommand
  | DepositCommand
  | CreditCommand
  | ReapCommand;

/** Charges one call to the grant that covers it. */
export interface SettleCommand {
  type: 'SETTLE';
  line: InlineLine;
}

/**
 * Adds at least `need` and at most `want` nano-USD to a replica's grant of a key. Opens the grant
 * if it does not exist.
 */
export interface GrantCommand {
  type: 'GRANT';
  grant_id: string;
  key_id: string;
  organization_id: string;
  replica_id: string;
  /**
   * The amount of the grant's row that the sender last saw committed. If the row has another
   * amount, this command was applied before.
   */
  expected_granted: number;
  need: number;
  want: number;
  /**
   * The number of the recall that an earlier `contended` answer started; null = none. A recall asks
   * for the unused money of other grants.
   */
  recall_seq: number | null;
  /**
   * True if the money is for the charge of a call that has run. Then it is granted even if the key
   * may make no more calls.
   */
  for_overrun?: boolean;
  /**
   * True if the money is for a call that runs. Then it is granted even if the day of the grant has ended: it
   * counts in the budgets of that day, as the reservation of the call does.
   */
  in_flight?: boolean;
  /** The tags of the grant's calls that have budgets; missing = none. They never change. */
  tags?: Tags | undefined;
}

/** Returns unused money of a grant and acknowledges recalls. */
export interface ReturnCommand {
  type: 'RETURN';
  grant_id: string;
  key_id: string;
  organization_id: string;
  expected_granted: number;
  amount: number;
  /** All recalls up to this number are acknowledged. */
  recall_acked: number;
  /** True if no call of the key is in flight on this replica, so the row may be closed. */
  close: boolean;
}

/** Sets money aside for work that can outlive the process. */
export interface HoldCommand {
  type: 'HOLD';
  hold_id: string;
  key_id: string;
  organization_id: string;
  amount: number;
  reference: string;
  /** The time when the hold expires, ISO 8601. */
  expires_at: string;
  /** The recall that an earlier `contended` answer started; null = none. */
  recall_seq?: number | null;
  /** The tags of the work that have budgets; missing = none. */
  tags?: Tags | undefined;
  /** True if the hold must not be made if it exceeds a soft budget. Then the answer is `over_soft`. */
  stop_at_soft?: boolean;
}

/** Raises the amount of a hold. */
export interface ExtendHoldCommand {
  type: 'EXTEND_HOLD';
  hold_id: string;
  /** The new total of the hold. Because it is a total, a repeated command changes nothing. */
  amount: number;
}

/** Charges a hold and frees the rest. */
export interface SettleHoldCommand {
  type: 'SETTLE_HOLD';
  hold_id: string;
  /**
   * The usage line. Its `charged_nano_usd` is the full charge. The part above the hold is taken from
   * the free money of the key and the organization. What is not free becomes an overrun.
   */
  line: UsageLine;
}

/** Frees a hold without a charge. */
export interface EndHoldCommand {
  type: 'RELEASE_HOLD' | 'EXPIRE_HOLD';
  hold_id: string;
}

interface DepositCommand {
  type: 'DEPOSIT';
  deposit_id: string;
  organization_id: string;
  amount: number;
  reference?: string;
  note: string;
}

/**
 * Sets the credit line of an organization. A higher line is a deposit of credit. A lower line takes back
 * the credit above it, as far as it is free, and the rest as soon as it becomes free.
 */
interface CreditCommand {
  type: 'CREDIT';
  organization_id: string;
  limit: number;
}

/** Declares a replica dead, closes its grants, and returns the uncharged money of these grants. */
interface ReapCommand {
  type: 'REAP';
  replica_id: string;
}

/** Why a key may make no calls. */
export type UnusableStatus =
  | 'inactive'
  | 'suspended'
  | 'revoked'
  | 'expired'
  | 'organization_suspended'
  | 'organization_closed';

/** A budget whose window has too little money. */
export interface RefusingBudget {
  id: string;
  period: BudgetPeriod;
  /** The key that the budget limits; null = the organization, or a tag. */
  key_id: string | null;
  /** The tag that the budget limits; null = none. */
  tag: { readonly name: string; readonly value: string } | null;
  /** The time until the next window begins, ms. */
  resets_in_ms: number;
}

/** A soft budget whose window has more used and held money than its limit. */
export interface ReachedBudget extends RefusingBudget {
  when_reached: 'warn' | 'move';
  /** The model to which calls move; null unless `when_reached` is `move`. */
  move_to: string | null;
  /** True if the used money alone has reached the limit, so that no return of held money frees any. */
  is_spent: boolean;
}

/** The limit that is too low. */
export type LimitedBy = 'key' | 'organization' | RefusingBudget;

/** The answer to a ledger command. Amounts are in nano-USD. */
export type LedgerAnswer =
  /**
   * `charged` and `overrun` are the amounts of the usage line. `grant_settled` is the sum of all
   * charges in the grant's row. The ledger sends this sum only if it did not charge a line of the
   * batch as requested, because the line was repeated or its grant is closed. It is in the batch's
   * last answer about the grant. The receiver must use this sum instead of its own.
   */
  | { type: 'settled'; charged: number; overrun: number; grant_settled?: number | undefined }
  /**
   * `granted` is the amount of the grant now. `exact` is true if only `need` was given although
   * `want` was more, or if the command was applied before. `ends_in_ms` is the time until the day of the grant
   * ends; 0 = it has ended, and the grant gets money only for calls that run.
   */
  | {
      type: 'granted';
      granted: number;
      exact: boolean;
      ends_in_ms: number;
      /** The soft budgets that are exceeded with this grant. Missing if there are none. */
      reached?: readonly ReachedBudget[];
    }
  | { type: 'returned'; granted: number; closed: boolean }
  /**
   * `free` is too little, but other grants may have unused money and were recalled. Send the command
   * again with this `recall_seq`.
   */
  | { type: 'contended'; recall_seq: number; free: number }
  /**
   * The free money is too little. `bound` is the limit that is too low. `elsewhere` is the nano-USD
   * of other grants and holds, which may become free. `ends_in_ms` is the time until the present day ends.
   */
  | {
      type: 'short';
      bound: LimitedBy;
      free: number;
      elsewhere: number;
      ends_in_ms: number;
    }
  | { type: 'key_unusable'; status: UnusableStatus }
  /** The replica was declared dead, or the grant of the command is closed. */
  | { type: 'fenced' }
  | { type: 'held' }
  /** Nothing was set aside, because the hold would exceed these soft budgets. */
  | { type: 'over_soft'; reached: readonly ReachedBudget[] }
  /**
   * `charged` and `released` are the two parts of the hold's amount. `added` is the part of the
   * amount that this command added, because the charge exceeded the hold.
   */
  | {
      type: 'hold_ended';
      status: 'settled' | 'released' | 'expired';
      charged: number;
      released: number;
      added?: number;
    }
  | { type: 'not_found' }
  | { type: 'done' }
  /** If `more` is true, the replica still has open grants. Then send the command again. */
  | { type: 'reaped'; grants: number; more: boolean };
