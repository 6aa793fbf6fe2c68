/**
 * Replicas with live actors on a real database. Their clock stands still until the test moves it.
 * The test can delay or fail the database reads that create live actors and bring them up to date.
 */
import { adoptActors } from '../../db/actors/store.ts';
import { connectDatabase, type Sql } from '../../db/client.ts';
import { retireReplica } from '../../db/replicas.ts';
import { systemClock, systemIdSource } from '../../src/actors/clock.ts';
import type { Commit } from '../../src/actors/durable/durable.ts';
import { DurableActors } from '../../src/actors/durable/durable.ts';
import { InspectionFeed, type Observation } from '../../src/actors/durable/inspection.ts';
import type { DurableKind } from '../../src/actors/durable/kind.ts';
import type { ActorChange, Watcher } from '../../src/actors/durable/live-actor.ts';
import { Registry, type Watch } from '../../src/actors/durable/registry.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { noHints } from './money-hints.ts';
import { createTestDatabase } from './postgres.ts';
import { until } from './until.ts';
import { walkerKind } from './walker.ts';

export interface LiveWorld {
  sql: Sql;
  replica(options?: { kind?: DurableKind }): Promise<LiveReplica>;
  /** The committed state and the number of the last event. */
  row(id: string): Promise<{ value: unknown; context: unknown; seq: number; live: boolean }>;
  close(): Promise<void>;
}

export async function startLiveWorld(): Promise<LiveWorld> {
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'background' });
  const { sql } = database;
  const replicas: LiveReplica[] = [];
  return {
    sql,
    async replica({ kind = walkerKind } = {}) {
      const replica = new LiveReplica(sql, kind);
      await replica.register();
      replicas.push(replica);
      return replica;
    },
    async row(id) {
      const [row] = await sql`
        select snapshot -> 'value' as value, snapshot -> 'context' as context, seq, live
        from actor where kind = 'walker' and id = ${id}`;
      return { ...row } as Awaited<ReturnType<LiveWorld['row']>>;
    },
    async close() {
      for (const { registry } of replicas) await registry.stop();
      await database.close();
      await fresh.drop();
    },
  };
}

/** A watch, and the changes that it received. */
interface Recorded extends Watch {
  readonly changes: readonly ActorChange[];
  /** The numbers of the received events. */
  seqs(): number[];
}

class LiveReplica {
  id = '';
  readonly clock = new VirtualClock();
  readonly reads: DisturbedSql;
  readonly errors: unknown[] = [];
  readonly published: Observation[] = [];
  readonly actors: DurableActors;
  readonly registry: Registry;
  /**
   * If false, the registry is not notified of commits. This simulates lost answers of the database.
   */
  isNotified = true;
  last: Commit | undefined;

  constructor(
    private readonly sql: Sql,
    kind: DurableKind,
  ) {
    const replica_id = () => this.id;
    const onError = (error: unknown) => void this.errors.push(error);
    this.reads = new DisturbedSql(sql);
    this.actors = new DurableActors({
      sql,
      clock: systemClock,
      ids: systemIdSource,
      kinds: [kind],
      replica_id,
      onError,
      hints: noHints,
      onCommitted: (commit) => {
        this.last = commit;
        if (this.isNotified) this.registry.onCommitted(commit.events);
      },
    });
    const { clock } = this;
    const feed = new InspectionFeed();
    feed.watch((observation) => this.published.push(observation));
    const { kinds } = this.actors;
    this.registry = new Registry({ sql: this.reads.sql, clock, kinds, feed, replica_id, onError });
  }

  /** Registers under a new id. */
  async register(): Promise<void> {
    this.id = `replica-${crypto.randomUUID()}`;
    await this.sql`
      insert into replica (id, lease_until) values (${this.id}, now() + interval '1 hour')`;
  }

  /** Declares this replica dead, as another replica does after its lease ended. */
  async die(): Promise<void> {
    await retireReplica(this.sql, this.id);
  }

  async adopt(): Promise<void> {
    await adoptActors(this.sql, this.id, 10_000);
    this.registry.onAdopted();
    await this.registry.idle();
  }

  /** Commits an event; the first one creates the actor. */
  async send(id: string, type = 'STEP', more: object = {}): Promise<void> {
    const event = { type, ...more };
    const result = await this.actors.send({ kind: 'walker', id, event, create: true });
    if (result.type !== 'committed') throw new Error(`${type} of ${id} is ${result.type}`);
  }

  /** Notifies this replica of the last event that another replica committed. */
  announce(id: string, seq: number, owner: string): void {
    this.registry.onCommittedElsewhere([{ kind: 'walker', id, seq, owner }]);
  }

  find(id: string) {
    return this.registry.find({ kind: 'walker', id });
  }

  /** How many actors are in memory. */
  get size(): number {
    return [...this.registry.all()].length;
  }

  async watch(id: string, also: Watcher = () => undefined): Promise<Recorded> {
    const changes: ActorChange[] = [];
    const watch = await this.registry.watch({ kind: 'walker', id }, (change) => {
      changes.push(change);
      also(change);
    });
    if (!watch) throw new Error(`there is no actor ${id}`);
    return { ...watch, changes, seqs: () => changes.map(({ seq }) => seq) };
  }

  /** Advances the clock, and waits until the registry has finished its reads. */
  async pass(time_ms: number): Promise<void> {
    this.clock.advance(time_ms);
    await this.registry.idle();
  }
}

/** A database client whose answers the test can refuse or hold back. */
class DisturbedSql {
  readonly sql: Sql;
  isAway = false;
  private held: PromiseWithResolvers<void> | undefined;
  /** How many answers are held back. */
  private holding = 0;

  constructor(real: Sql) {
    const tag = async (strings: TemplateStringsArray, ...values: never[]) => {
      if (this.isAway) throw new Error('the database is away');
      const rows = await real(strings, ...values);
      if (this.held) {
        this.holding += 1;
        await this.held.promise;
      }
      return rows;
    };
    this.sql = tag as unknown as Sql;
  }

  /** Holds back all answers from now on. */
  hold(): void {
    this.holding = 0;
    this.held = Promise.withResolvers();
  }

  /** Resolves when an answer is held back. Later commits are not in this answer. */
  async answered(): Promise<void> {
    await until('a query has an answer', () => this.holding > 0);
  }

  release(): void {
    this.held?.resolve();
    this.held = undefined;
  }
}
