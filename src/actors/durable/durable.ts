import type { Sql } from 'postgres';
import type { Clock, IdSource } from '../clock.ts';
import { type Gathering, GroupCommit } from '../group-commit.ts';
import type { MoneyHintPublisher } from '../money/money-hints.ts';
import type {
  ActorCommand,
  CommandResult,
  CommittedEvent,
  IdentifiedCommand,
  RepeatedCommand,
} from './command.ts';
import { CommandBatch } from './command-batch.ts';
import type { DurableKind } from './kind.ts';

/**
 * The reports of effects arrive one by one. Without a pause each transaction would have a few of
 * them, and a dozen statements for these few. No client notices such a pause in the steps of a task.
 */
const GATHERING: readonly Gathering[] = [
  { size: 16, pause_ms: 50 },
  { size: 4, pause_ms: 20 },
];

export interface DurableDeps {
  sql: Sql;
  clock: Clock;
  ids: IdSource;
  kinds: readonly DurableKind[];
  replica_id: () => string;
  hints: MoneyHintPublisher;
  /** Called after each commit, in the order of commits. Must not throw. */
  onCommitted: (commit: Commit) => void;
  onError: (error: unknown) => void;
}

/** What one transaction committed. */
export interface Commit {
  readonly events: readonly CommittedEvent[];
  /**
   * Commands that an earlier run of the same batch committed. The database's response to that commit
   * was lost, so no live actor got their events.
   */
  readonly repeated: readonly RepeatedCommand[];
  /** The number of new effects. */
  readonly effects: number;
}

/**
 * Durable actors: the state of each is stored in a row. The transaction of a command locks the row,
 * runs the pure machine, and writes snapshot, event, timers and outbox together. `onCommitted` is
 * called only after the commit.
 */
export class DurableActors {
  private readonly lane: GroupCommit<IdentifiedCommand, CommandResult>;
  readonly kinds: ReadonlyMap<string, DurableKind>;

  constructor(private readonly deps: DurableDeps) {
    this.kinds = new Map(deps.kinds.map((kind) => [kind.kind, kind]));
    this.lane = new GroupCommit<IdentifiedCommand, CommandResult>({
      clock: deps.clock,
      onError: deps.onError,
      commit: (commands) => this.commit(commands),
      gathering: GATHERING,
      onOutcomeUnknown: () => deps.hints.publishUnknown(),
      // The outcome of an effect is a fact that must not be lost.
      mustCommit: (command) => command.effect !== undefined,
    });
  }

  /**
   * Sends a command and resolves after its commit. If `send` is called twice with the same command,
   * the event is applied twice. The machine must allow that.
   */
  send(command: ActorCommand): Promise<CommandResult> {
    return this.lane.submit({ ...command, command_id: this.deps.ids.uuid() });
  }

  drain(): Promise<void> {
    return this.lane.drain();
  }

  private async commit(commands: IdentifiedCommand[]): Promise<CommandResult[]> {
    const batch = await this.deps.sql.begin(async (tx) => {
      const work = new CommandBatch(tx, this.kinds, this.deps.ids, this.deps.replica_id());
      await work.run(commands);
      return work;
    });
    const { answers, committed: events, repeated, outbox, hints } = batch as CommandBatch;
    this.deps.hints.publish(hints);
    this.deps.onCommitted({ events, repeated, effects: outbox.length });
    return answers;
  }
}
