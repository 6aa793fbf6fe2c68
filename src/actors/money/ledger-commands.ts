import type { InlineLine, UsageLine } from '../../../db/ledger/settle.ts';

/**
 * What the lane is asked to do with money (design 4). Amounts in nano-USD. Every command may be
 * repeated: after a COMMIT whose outcome is unknown the same batch simply runs again.
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
  | ReapCommand;

/** Books one inline call against its grant. */
export interface SettleCommand {
  type: 'SETTLE';
  line: InlineLine;
}

/** Asks for `need` to `want` more in a replica's grant of a key. Opens the grant if it is new. */
export interface GrantCommand {
  type: 'GRANT';
  grant_id: string;
  key_id: string;
  organization_id: string;
  replica_id: string;
  /** What the asker believes is granted: a row with another amount was already changed by this ask. */
  expected_granted: number;
  need: number;
  want: number;
  /** The recall that an earlier, contended ask started. */
  recall_seq: number | null;
}

/** Gives idle money of a grant back and answers a recall. */
export interface ReturnCommand {
  type: 'RETURN';
  grant_id: string;
  key_id: string;
  organization_id: string;
  expected_granted: number;
  amount: number;
  recall_acked: number;
  /** The key fell idle: nothing is in flight, the row may close. */
  close: boolean;
}

/** Sets money aside for work that outlives the process. */
export interface HoldCommand {
  type: 'HOLD';
  hold_id: string;
  key_id: string;
  organization_id: string;
  amount: number;
  reference: string;
  /** ISO 8601. */
  expires_at: string;
  /** The recall that an earlier, contended ask started. */
  recall_seq?: number | null;
}

export interface ExtendHoldCommand {
  type: 'EXTEND_HOLD';
  hold_id: string;
  /** The new total, not the difference: so repeating it is harmless. */
  amount: number;
}

export interface SettleHoldCommand {
  type: 'SETTLE_HOLD';
  hold_id: string;
  /** `charged_nano_usd` is the price; what exceeds the hold becomes an overrun. */
  line: UsageLine;
}

export interface EndHoldCommand {
  type: 'RELEASE_HOLD' | 'EXPIRE_HOLD';
  hold_id: string;
}

interface DepositCommand {
  type: 'DEPOSIT';
  deposit_id: string;
  organization_id: string;
  amount: number;
  note: string;
}

/** Gives up a dead replica: its grants are closed, what they did not settle returns. */
interface ReapCommand {
  type: 'REAP';
  replica_id: string;
}

export type LedgerAnswer =
  /** The charge as its row says it. */
  | { type: 'settled'; charged: number; overrun: number }
  | { type: 'granted'; granted: number; exact: boolean }
  | { type: 'returned'; granted: number; closed: boolean }
  /** Others hold idle money: they were asked to give it back; ask again with this number. */
  | { type: 'contended'; recall_seq: number }
  /** Not there. `elsewhere` is what others have in flight and may come back. */
  | { type: 'short'; bound: 'key' | 'organization'; free: number; elsewhere: number }
  | { type: 'key_unusable'; status: 'inactive' | 'suspended' | 'revoked' | 'expired' }
  /** This replica was declared dead; its grants are closed. */
  | { type: 'fenced' }
  | { type: 'held' }
  | { type: 'hold_ended'; status: 'settled' | 'released' | 'expired'; charged: number }
  | { type: 'not_found' }
  | { type: 'done' }
  /** `more`: the replica has grants left; ask again. */
  | { type: 'reaped'; grants: number; more: boolean };
