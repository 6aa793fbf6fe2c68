import type { TransactionSql } from 'postgres';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { DueTimer } from '../../../db/actors/store.ts';
import type { MoneyCommand } from '../money/ledger.ts';
import type { LedgerAnswer } from '../money/ledger-commands.ts';

/** Says something to a durable actor. */
export interface ActorCommand {
  kind: string;
  id: string;
  event: AnyEventObject;
  /** Makes the actor if it does not exist; without it, nobody is told. */
  create?: boolean;
  /** The event is a timer's: it counts only if the timer still stands. */
  timer?: DueTimer;
  /** The event reports an effect: it counts only if the effect had not ended. */
  effect?: { id: string; status: 'done' | 'dead' };
  /**
   * Money that moves with this event and not without it: only if the machine takes the event. Of a
   * command that creates its actor, a refusal by the ledger undoes the command and nothing else.
   */
  money?: MoneyCommand;
  /** More that has to be true with this commit and not without it. Runs after the money moved. */
  inTransaction?: (tx: TransactionSql) => Promise<void>;
}

export type CommandResult =
  /** Committed; `taken` is false where the machine had no use for the event. */
  | { type: 'committed'; snapshot: AnyMachineSnapshot; seq: number; taken: boolean }
  /** The timer or the effect had been dealt with before. */
  | { type: 'stale' }
  | { type: 'not_found' }
  /** The ledger refused the money: nothing of the command is left. */
  | { type: 'refused'; answer: LedgerAnswer }
  /** This replica was declared dead: it may not write any more. */
  | { type: 'fenced' };

/** One committed event, for inspection and for live actors. */
export interface CommittedEvent {
  kind: string;
  id: string;
  seq: number;
  event: AnyEventObject;
  snapshot: AnyMachineSnapshot;
  taken: boolean;
}

export type IdentifiedCommand = ActorCommand & { command_id: string };
