import type { Sql } from 'postgres';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { LiveActorRow } from '../../../db/actors/live.ts';
import type { ActorAddress } from '../../../db/actors/store.ts';
import { restoreSnapshot } from '../../replay/stored-snapshot.ts';
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
import { type KnownTransition, LiveLogic } from './live-logic.ts';
import { actorName, Residents } from './residents.ts';

/**
 * How often watched actors are compared with their rows. Actors that got an event within this time
 * are skipped. So a watcher gets an event of another replica within two seconds, even if every
 * message of the bus is lost.
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

/** The actor at the start of a watch, and `stop`, which ends the watch. */
export interface Watch {
  readonly snapshot: AnyMachineSnapshot;
  /** The number of the last event that `snapshot` contains. The watcher gets all later events. */
  readonly seq: number;
  stop(): void;
}

/** A committed event, as another replica reports it. */
export interface CommittedElsewhere extends ActorAddress {
  readonly seq: number;
  /** The replica that owns the actor. */
  readonly owner: string | null;
}

/**
 * The live XState actors of this replica. A durable actor that has not ended has a live actor here
 * if this replica owns the durable actor, or if somebody watches it on this replica. A live actor
 * gets an event only after the event's commit, whichever replica committed the event.
 */
export class Registry {
  private readonly residents: Residents;
  private readonly catchUp: CatchUp;
  private readonly logics = new Map<string, LiveLogic>();
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

  /**
   * Reads the actors that this replica owns into memory, in the background, and starts to sweep.
   */
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

  /**
   * Reads the actors that this replica owns into memory. Tries again while the database is
   * unreachable.
   */
  restoreOwned(): Promise<void> {
    return this.catchUp.restoreOwned(this.deps.replica_id());
  }

  /**
   * Calls `watcher` once for each later event of the actor, in order, until `stop` is called or the
   * actor has ended. Until then the actor stays in memory. Returns undefined if there is no such
   * actor. Rejects if the database cannot be read.
   */
  async watch(address: ActorAddress, watcher: Watcher): Promise<Watch | undefined> {
    const name = actorName(address);
    for (;;) {
      const actor = this.residents.find(name) ?? (await this.catchUp.restore(address));
      if (!actor) return undefined;
      const { snapshot, seq } = actor;
      if (actor.hasEnded) return { snapshot, seq, stop: () => undefined };
      // If too many actors are in memory, the restored actor may already be passivated.
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
   * Called if a group of commands ran again and an earlier run had already committed one of them.
   * The database's response to that commit was lost, so this replica may have missed the event.
   */
  onRepeated(last: RepeatedCommand): void {
    this.onCommittedElsewhere([last]);
  }

  /** Called with the events that another replica committed. */
  onCommittedElsewhere(events: readonly CommittedElsewhere[]): void {
    for (const { kind, id, seq, owner } of events) {
      const name = actorName({ kind, id });
      this.catchUp.noteEvent(name, seq);
      if (owner === this.deps.replica_id() && !this.residents.find(name)) {
        this.restore({ kind, id });
      }
    }
  }

  /** Called if messages of other replicas may be lost. Compares all live actors with their rows. */
  onGap(): void {
    this.catchUp.compareAll();
  }

  /** Called when this replica adopted actors of a dead replica. */
  onAdopted(): void {
    void this.restoreOwned();
  }

  /**
   * Called when this replica was declared dead and has a new id. Other replicas own its former
   * actors now, so only watched actors stay in memory.
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
    const { kind, id, organization_id, seq, event, before, taken, owner } = committed;
    const name = actorName(committed);
    const actor = this.residents.find(name);
    const hadEnded = before.status !== 'active';
    if (actor?.seq === seq - 1 && !actor.isBroken) {
      actor.owner = owner;
      this.apply(actor, event, seq, taken, committed);
    } else if (!actor && owner === this.deps.replica_id() && !hadEnded) {
      const former = { kind, id, organization_id, seq: seq - 1, snapshot: before, owner };
      const created = this.create(seq === 1 ? { ...former, timers: {} } : former);
      this.residents.add(created);
      this.apply(created, event, seq, taken, committed);
    }
    this.catchUp.noteEvent(name, seq);
  }

  private createFromRow(row: LiveActorRow): LiveActor {
    const kind = this.deps.kinds.get(row.kind);
    if (!kind) throw new Error(`unknown kind of durable actor: ${row.kind}`);
    return this.create({ ...row, snapshot: restoreSnapshot(kind, row) });
  }

  private create(committed: CommittedSnapshot): LiveActor {
    return new LiveActor(this.logicOf(committed.kind).machine, committed, this.live);
  }

  /**
   * Returns the logic of the live actors of a kind. It reports the delay of each timer to the live
   * actor, so that the actor is not passivated shortly before the timer fires.
   */
  private logicOf(name: string): LiveLogic {
    const known = this.logics.get(name);
    if (known) return known;
    const kind = this.deps.kinds.get(name);
    if (!kind) throw new Error(`unknown kind of durable actor: ${name}`);
    const logic = new LiveLogic(kind.machine, (actor_name, delay_ms) =>
      this.residents.find(actor_name)?.onTimer(delay_ms),
    );
    this.logics.set(name, logic);
    return logic;
  }

  /**
   * Sends a committed event to a live actor. `known` is its transition, if this replica computed it.
   * If the machine throws, the actor is created again.
   */
  private apply(
    actor: LiveActor,
    event: AnyEventObject,
    seq: number,
    taken: boolean,
    known?: KnownTransition,
  ): void {
    const send = () => actor.apply(event, seq, taken);
    try {
      if (known) this.logicOf(actor.kind).withKnown(known, send);
      else send();
    } catch (error) {
      this.deps.onError(error);
      this.catchUp.noteEvent(actorName(actor), seq);
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
    const { feed, replica_id } = this.deps;
    if (!feed.isWatched || actor.owner !== replica_id()) return;
    const { kind, id, seq, event, taken } = change;
    const { organization_id } = actor;
    const { value, context, status } = change.snapshot;
    feed.publish({ kind, id, organization_id, seq, event, value, context, status, taken });
  }

  /** Returns a function that ends the watch. */
  private addWatcher(actor: LiveActor, watcher: Watcher): () => void {
    const name = actorName(actor);
    // The same function may watch an actor twice, so each watch gets its own function.
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
      if (actor && actor.last_event_at <= before) yield actor;
    }
  }
}
