import type { Sql } from 'postgres';
import type { Clock, Ids } from '../clock.ts';
import { GroupCommit } from '../group-commit.ts';
import type { DurableKind } from './kind.ts';
import type { Command, Committed, Tell, Told } from './tell.ts';
import { DurableBatch } from './tell-batch.ts';

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
