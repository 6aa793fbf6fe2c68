import type { Sql } from 'postgres';
import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { LiveActorRow } from '../../../db/actors/live.ts';
import type { ActorAddress } from '../../../db/actors/store.ts';
import type { Clock } from '../clock.ts';
import { CatchUp } from './catch-up.ts';
import type { CommittedEvent, RepeatedCommand } from './command.ts';
import type { InspectionFeed } from './inspection.ts';
import type { DurableKind } from './kind.ts';
import {
  type ActorChange,
  type CommittedSnapshot,
  LiveActor,
  type LiveActorDeps,
  type Watcher,
} from './live-actor.ts';
import { actorName, Residents } from './residents.ts';
import { restoreSnapshot } from './stored-snapshot.ts';

/**
 * How often actors that somebody watches are compared with their rows, if they got no event for as
 * long. So a watcher gets an event of another replica within two seconds, even if every message of
 * the bus is lost.
 */
const COMPARE_MS = 1_000;
/** The type of the event that watchers get if an actor was created again from its row. */
export const RESTORED = 'weir.restored';

export interface RegistryDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly kinds: ReadonlyMap<string, DurableKind>;
  readonly feed: InspectionFeed;
  readonly replica_id: () => string;
  readonly onError: (error: unknown) => void;
}

/** The start of a watch: the actor as it is now, and `stop`, which ends the watch. */
export interface Watch {
  readonly snapshot: AnyMachineSnapshot;
  /** The number of the last event that `snapshot` contains. The watcher gets the next one first. */
  readonly seq: number;
  stop(): void;
}

/** What another replica says of a committed event. */
export interface CommittedElsewhere extends ActorAddress {
  readonly seq: number;
  /** The replica that owns the actor. */
  readonly owner: string | null;
}

/**
 * The live XState actors of this replica: one for each durable actor that this replica owns and
 * that has not ended, and one for each actor that somebody here watches. A live actor gets an event
 * only after its commit, whichever replica committed it.
 */
export class Registry {
  private readonly residents: Residents;
  private readonly catchUp: CatchUp;
  private readonly machines = new Map<string, AnyStateMachine>();
  /** The names of the actors that somebody watches. */
  private readonly watched = new Set<string>();
  private readonly live: LiveActorDeps;
  private stopClock: () => void = () => undefined;

  constructor(private readonly deps: RegistryDeps) {
    const { sql, clock, kinds } = deps;
    this.residents = new Residents(clock, (actor) => this.restore(actor));
    this.catchUp = new CatchUp({
      sql,
      residents: this.residents,
      replica_id: deps.replica_id,
      after: (delay_ms, callback) => clock.after(delay_ms, callback),
      create: (row) => this.createFromRow(row),
      apply: (actor, event, seq, taken) => this.apply(actor, event, seq, taken),
      onReplaced: (actor) => this.onReplaced(actor),
      remove: (actor) => this.remove(actor),
      versionOf: (kind) => kinds.get(kind)?.version ?? 0,
      onError: deps.onError,
    });
    this.live = {
      now: () => clock.now(),
      onChange: (actor, change) => this.onChange(actor, change),
      onError: (_, error) => deps.onError(error),
    };
  }

  /** How many actors are in memory, by kind. */
  countsByKind(): ReadonlyMap<string, number> {
    return this.residents.countsByKind();
  }

  /** The live actors, in the order of their last use. */
  all(): IterableIterator<LiveActor> {
    return this.residents.all();
  }

  /** The live actor; undefined if it is not in memory. */
  find(address: ActorAddress): LiveActor | undefined {
    return this.residents.find(actorName(address));
  }

  /** Reads the actors that this replica owns into memory, in the background, and starts to sweep. */
  start(): void {
    this.residents.start();
    this.schedule();
    void this.restoreOwned();
  }

  async stop(): Promise<void> {
    this.stopClock();
    this.residents.stop();
    this.watched.clear();
    await this.catchUp.stop();
  }

  /** Reads the actors that this replica owns into memory. Tries again while the database is away. */
  restoreOwned(): Promise<void> {
    return this.catchUp.restoreOwned(this.deps.replica_id());
  }

  /**
   * Calls `watcher` with each further event of the actor, once and in order, until `stop` is called
   * or the actor has ended. The actor stays in memory as long. Returns undefined if there is no
   * such actor. Rejects if the database cannot be read.
   */
  async watch(address: ActorAddress, watcher: Watcher): Promise<Watch | undefined> {
    const name = actorName(address);
    for (;;) {
      const actor = this.residents.find(name) ?? (await this.catchUp.restore(address));
      if (!actor) return undefined;
      const { snapshot, seq } = actor;
      if (actor.hasEnded) return { snapshot, seq, stop: () => undefined };
      // A restored actor may be passivated at once, if there are too many.
      if (this.residents.find(name) === actor) {
        return { snapshot, seq, stop: this.addWatcher(actor, watcher) };
      }
    }
  }

  /**
   * Passes events that this replica committed to the live actors, in the order of the commits. Does
   * not throw.
   */
  onCommitted(events: readonly CommittedEvent[]): void {
    for (const committed of events) {
      try {
        this.onCommittedHere(committed);
      } catch (error) {
        this.deps.onError(error);
      }
    }
  }

  /**
   * Called if a command was found committed by an earlier run, whose answer was lost. Then this
   * replica may have missed the event.
   */
  onRepeated(last: RepeatedCommand): void {
    this.onCommittedElsewhere([last]);
  }

  /** Called with the events that another replica committed. */
  onCommittedElsewhere(events: readonly CommittedElsewhere[]): void {
    for (const { kind, id, seq, owner } of events) {
      const name = actorName({ kind, id });
      this.catchUp.onHeard(name, seq);
      if (owner === this.deps.replica_id() && !this.residents.find(name)) {
        this.restore({ kind, id });
      }
    }
  }

  /** Called if messages of other replicas may be lost. Compares all live actors with their rows. */
  onGap(): void {
    this.catchUp.compareAll();
  }

  /** Called when this replica adopted actors of a dead one. */
  onAdopted(): void {
    void this.restoreOwned();
  }

  /**
   * Called when this replica was declared dead. Its actors belong to others now, so only those that
   * somebody watches stay.
   */
  onFenced(): void {
    const replica_id = this.deps.replica_id();
    for (const actor of this.residents.all()) {
      if (actor.owner === replica_id) continue;
      if (!actor.isWatched) this.residents.remove(actor);
    }
  }

  /** Resolves when no row and no event is being read. */
  async idle(): Promise<void> {
    await this.catchUp.idle();
  }

  private restore(address: ActorAddress): void {
    // An actor that cannot be read now is created at its next event.
    this.catchUp.restore(address).catch(() => undefined);
  }

  private onCommittedHere(committed: CommittedEvent): void {
    const { kind, id, seq, event, before, taken, owner } = committed;
    const name = actorName(committed);
    const actor = this.residents.find(name);
    const hadEnded = before.status !== 'active';
    if (actor?.seq === seq - 1 && !actor.isBroken) {
      actor.owner = owner;
      this.apply(actor, event, seq, taken);
    } else if (!actor && owner === this.deps.replica_id() && !hadEnded) {
      const former = { kind, id, seq: seq - 1, snapshot: before, owner };
      const created = this.create(seq === 1 ? { ...former, timers: {} } : former);
      this.residents.add(created);
      this.apply(created, event, seq, taken);
    }
    this.catchUp.onHeard(name, seq);
  }

  private createFromRow(row: LiveActorRow): LiveActor {
    const kind = this.deps.kinds.get(row.kind);
    if (!kind) throw new Error(`unknown kind of durable actor: ${row.kind}`);
    return this.create({ ...row, snapshot: restoreSnapshot(kind, row) });
  }

  private create(committed: CommittedSnapshot): LiveActor {
    return new LiveActor(this.machineOf(committed.kind), committed, this.live);
  }

  /** The machine of a kind, whose timer actions tell the live actor when an event is expected. */
  private machineOf(name: string): AnyStateMachine {
    const known = this.machines.get(name);
    if (known) return known;
    const kind = this.deps.kinds.get(name);
    if (!kind) throw new Error(`unknown kind of durable actor: ${name}`);
    const machine: AnyStateMachine = kind.machine.provide({
      actions: {
        setTimer: ({ self }: { self: AnyActorRef }, { delay_ms }: { delay_ms: number }) =>
          this.residents.find(self.id)?.onTimer(delay_ms),
      },
    });
    this.machines.set(name, machine);
    return machine;
  }

  /** Sends a committed event to a live actor. If its machine throws, it is created again. */
  private apply(actor: LiveActor, event: AnyEventObject, seq: number, taken: boolean): void {
    try {
      actor.apply(event, seq, taken);
    } catch (error) {
      this.deps.onError(error);
      this.catchUp.onHeard(actorName(actor), seq);
      return;
    }
    this.residents.touch(actor);
    if (actor.hasEnded) this.remove(actor);
  }

  private onReplaced(actor: LiveActor): void {
    const { kind, id, seq, snapshot } = actor;
    actor.announce({ kind, id, seq, snapshot, event: { type: RESTORED }, taken: true });
    if (actor.hasEnded) this.remove(actor);
  }

  private remove(actor: LiveActor): void {
    this.watched.delete(actorName(actor));
    this.residents.remove(actor);
  }

  private onChange(actor: LiveActor, change: ActorChange): void {
    if (actor.owner !== this.deps.replica_id()) return;
    const { kind, id, seq, event, taken } = change;
    const { value, status } = change.snapshot;
    this.deps.feed.publish({ kind, id, seq, event, value, status, taken });
  }

  /** Returns a function that ends the watch. */
  private addWatcher(actor: LiveActor, watcher: Watcher): () => void {
    const name = actorName(actor);
    // The same function may watch twice.
    const own: Watcher = (change) => watcher(change);
    actor.watch(own);
    this.residents.touch(actor);
    this.watched.add(name);
    return () => {
      const resident = this.residents.find(name);
      resident?.unwatch(own);
      if (!resident?.isWatched) this.watched.delete(name);
    };
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(COMPARE_MS, () => {
      this.schedule();
      this.catchUp.compare(this.quietWatched());
    });
  }

  private *quietWatched(): Iterable<LiveActor> {
    const before = this.deps.clock.now() - COMPARE_MS;
    for (const name of this.watched) {
      const actor = this.residents.find(name);
      if (actor && actor.heard_at <= before) yield actor;
    }
  }
}
