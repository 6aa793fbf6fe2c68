import type { TransactionSql } from 'postgres';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { EventMoney } from '../../../db/actors/history.ts';
import type { DueTimer } from '../../../db/actors/store.ts';
import type { MoneyCommand } from '../money/ledger.ts';
import type { LedgerAnswer } from '../money/ledger-commands.ts';

/**
 * An event for a durable actor, and the money and the rows that must be committed in the same
 * transaction.
 */
export interface ActorCommand {
  kind: string;
  id: string;
  event: AnyEventObject;
  /** If true, a missing actor is created. Otherwise the result is `not_found`. */
  create?: boolean;
  /** The organization to which a created actor belongs; default: none. */
  organization_id?: string;
  /** The timer that sent the event. The event is applied only if the timer still exists. */
  timer?: DueTimer;
  /**
   * The effect whose outcome the event reports. The event is applied only if the effect has not
   * ended before.
   */
  effect?: { id: string; status: 'done' | 'dead' };
  /**
   * A ledger command of the same transaction. It is executed only if the machine takes the event.
   * If the ledger refuses the money, nothing of this actor command is committed.
   */
  money?: MoneyCommand;
  /** Makes further writes in the same transaction, after the money moved. */
  inTransaction?: (tx: TransactionSql) => Promise<void>;
}

/** The result of a command. */
export type CommandResult =
  /**
   * The command is committed. `taken` is false if no transition took the event. It is always true if
   * an earlier run had already committed the command.
   */
  | { type: 'committed'; snapshot: AnyMachineSnapshot; seq: number; taken: boolean }
  /** Nothing was done, because the timer had fired or was canceled, or the effect had ended. */
  | { type: 'stale' }
  /** The actor does not exist. */
  | { type: 'not_found' }
  /** The ledger refused the money, so nothing of the command was committed. */
  | { type: 'refused'; answer: LedgerAnswer }
  /** This replica was declared dead, so it may not write. */
  | { type: 'fenced' };

/** One committed event. The live actors receive it. */
export interface CommittedEvent {
  kind: string;
  id: string;
  /** The organization to which the actor belongs; null = none, or not known. */
  organization_id: string | null;
  seq: number;
  event: AnyEventObject;
  before: AnyMachineSnapshot;
  /** The snapshot after the event. */
  snapshot: AnyMachineSnapshot;
  /** The actions of the transition, as data. */
  actions: readonly { type: string; params?: unknown }[];
  taken: boolean;
  /** The state of `snapshot` as a path, e.g. `processing.polling`. */
  state: string;
  /** The version of the machine that got the event. */
  machine_version: number;
  /** The hash of state and context after the event (`hashSnapshot`). */
  context_hash: string;
  /** What the ledger did to the actor's hold in the same transaction; null = nothing. */
  money: EventMoney | null;
  /** The replica that owns the actor. */
  owner: string | null;
}

/**
 * A command that was not executed again, because an earlier run of the same group of commands had
 * committed it. `seq` is the number of the last event of the command's actor.
 */
export interface RepeatedCommand {
  readonly kind: string;
  readonly id: string;
  readonly seq: number;
  /** The replica that owns the actor. */
  readonly owner: string | null;
}

/**
 * A command with its id. Commands are committed in groups. If a group runs again because the
 * outcome of its first run is unknown, the id shows whether the first run committed the command.
 */
export type IdentifiedCommand = ActorCommand & { command_id: string };
