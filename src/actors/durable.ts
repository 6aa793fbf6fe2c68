import type { Sql, TransactionSql } from 'postgres';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { DueTimer } from '../../db/actors/store.ts';
import type { Clock, Ids } from './clock.ts';
import { DurableBatch } from './durable-batch.ts';
import type { DurableKind } from './durable-kind.ts';
import { GroupCommit } from './group-commit.ts';
import type { MoneyCommand } from './ledger.ts';
import type { LedgerAnswer } from './ledger-commands.ts';

/** Says something to a durable actor. */
export interface Tell {
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
  also?: (tx: TransactionSql) => Promise<void>;
}

export type Told =
  /** Committed; `taken` is false where the machine had no use for the event. */
  | { type: 'told'; snapshot: AnyMachineSnapshot; seq: number; taken: boolean }
  /** The timer or the effect had been dealt with before. */
  | { type: 'stale' }
  | { type: 'not_found' }
  /** The ledger refused the money: nothing of the command is left. */
  | { type: 'refused'; answer: LedgerAnswer }
  /** This replica was declared dead: it may not write any more. */
  | { type: 'fenced' };

/** One committed event, for inspection and for live actors. */
export interface Committed {
  kind: string;
  id: string;
  seq: number;
  event: AnyEventObject;
  snapshot: AnyMachineSnapshot;
  taken: boolean;
}

export interface DurableDeps {
  sql: Sql;
  clock: Clock;
  ids: Ids;
  kinds: readonly DurableKind[];
  replicaId: () => string;
  /** Called after the commit, in its order; must not throw. */
  onCommitted: (events: Committed[], effects: number) => void;
  onError: (error: unknown) => void;
}

export type Command = Tell & { command_id: string };

/**
 * Durable actors: their truth is a row (design 3). Telling one something is a transaction that
 * locks the row, asks the pure machine, and writes snapshot, event, timers and outbox together;
 * only after the commit does anybody hear of it.
 */
export class DurableActors {
  private readonly lane: GroupCommit<Command, Told>;
  readonly kinds: ReadonlyMap<string, DurableKind>;

  constructor(private readonly deps: DurableDeps) {
    this.kinds = new Map(deps.kinds.map((kind) => [kind.kind, kind]));
    this.lane = new GroupCommit<Command, Told>({
      clock: deps.clock,
      onError: deps.onError,
      commit: (commands) => this.commit(commands),
      // What an effect brought back is a fact.
      mustCommit: (command) => command.effect !== undefined,
    });
  }

  /** Resolves when what the actor made of it is committed. Repeating it is up to the machine. */
  tell(tell: Tell): Promise<Told> {
    return this.lane.submit({ ...tell, command_id: this.deps.ids.uuid() });
  }

  drain(): Promise<void> {
    return this.lane.drain();
  }

  private async commit(commands: Command[]): Promise<Told[]> {
    const batch = await this.deps.sql.begin(async (tx) => {
      const work = new DurableBatch(tx, this.kinds, this.deps.ids, this.deps.replicaId());
      await work.run(commands);
      return work;
    });
    const { answers, committed, outbox } = batch as DurableBatch;
    this.deps.onCommitted(committed, outbox.length);
    return answers;
  }
}
