import type { Sql } from 'postgres';
import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { ActorPosition, LiveActorRow } from '../../../db/actors/live.ts';
import type { ActorAddress } from '../../../db/actors/store.ts';
import type { Clock } from '../clock.ts';
import { CatchUp } from './catch-up.ts';
import type { CommittedEvent } from './command.ts';
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
  private readonly watched = new Map<string, number>();
  private readonly live: LiveActorDeps;
  private stopClock: () => void = () => undefined;
  private comparing: Promise<void> | undefined;

  constructor(private readonly deps: RegistryDeps) {
    const { sql, clock, kinds } = deps;
    this.residents = new Residents(clock, (actor) => this.restore(actor, 0));
    this.catchUp = new CatchUp({
      sql,
      residents: this.residents,
      after: (delay_ms, callback) => clock.after(delay_ms, callback),
      create: (row) => this.createFromRow(row),
      apply: (actor, event, seq, taken) => this.apply(actor, event, seq, taken),
      onReplaced: (actor) => actor.announce(changeOf(actor, { type: RESTORED })),
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
    this.restoreOwned().catch(this.deps.onError);
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.comparing;
    await this.catchUp.stop();
    this.residents.stop();
    this.watched.clear();
  }

  /** Reads the actors that this replica owns into memory. */
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
    const restored = this.residents.find(name) ?? (await this.catchUp.restore(address));
    const actor = this.residents.find(name) ?? restored;
    if (!actor) return undefined;
    const { snapshot, seq } = actor;
    if (actor.hasEnded) return { snapshot, seq, stop: () => undefined };
    actor.watch(watcher);
    this.watched.set(name, (this.watched.get(name) ?? 0) + 1);
    return { snapshot, seq, stop: () => this.unwatch(name, watcher) };
  }

  /** Passes events that this replica committed to the live actors, in the order of the commits. */
  onCommitted(events: readonly CommittedEvent[]): void {
    for (const committed of events) {
      const { kind, id, seq, event, before, taken, owner } = committed;
      const name = actorName(committed);
      const actor = this.residents.find(name);
      if (actor?.seq === seq - 1) {
        actor.owner = owner;
        this.apply(actor, event, seq, taken);
      } else if (actor) {
        this.catchUp.onHeard(name, seq);
      } else if (owner === this.deps.replica_id()) {
        const former = { kind, id, seq: seq - 1, snapshot: before, owner };
        const created = this.create(seq === 1 ? { ...former, timers: {} } : former);
        this.residents.add(created);
        this.apply(created, event, seq, taken);
      } else {
        this.catchUp.onHeard(name, seq);
      }
    }
  }

  /**
   * Called if a command was found committed by an earlier run, whose answer was lost. Then this
   * replica may have missed the event.
   */
  onRepeated(last: ActorPosition): void {
    this.catchUp.onHeard(actorName(last), last.seq);
  }

  /** Called with the events that another replica committed. */
  onCommittedElsewhere(events: readonly CommittedElsewhere[]): void {
    for (const { kind, id, seq, owner } of events) {
      const name = `${kind}/${id}`;
      this.catchUp.onHeard(name, seq);
      if (owner !== this.deps.replica_id() || this.residents.find(name)) continue;
      this.restore({ kind, id }, seq);
    }
  }

  /** Called if messages of other replicas may be lost. Compares all live actors with their rows. */
  onGap(): void {
    this.compare(this.residents.all());
  }

  /** Called with actors that this replica adopted from a dead one. */
  onAdopted(addresses: readonly ActorAddress[]): void {
    for (const address of addresses) this.restore(address, 0);
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
    await this.comparing;
    await this.catchUp.idle();
  }

  private restore(address: ActorAddress, seq: number): void {
    this.catchUp.restore(address, seq).catch(() => undefined);
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
    const onTimer = ({ id }: { id: string }, timer: string, delay_ms: number | null) =>
      this.residents.find(id)?.onTimer(timer, delay_ms);
    const machine: AnyStateMachine = kind.machine.provide({
      actions: {
        setTimer: ({ self }: { self: AnyActorRef }, params: { name: string; delay_ms: number }) =>
          onTimer(self, params.name, params.delay_ms),
        cancelTimer: ({ self }: { self: AnyActorRef }, params: { name: string }) =>
          onTimer(self, params.name, null),
      },
    });
    this.machines.set(name, machine);
    return machine;
  }

  /** Sends a committed event to a live actor. If its machine throws, it is created again. */
  private apply(actor: LiveActor, event: AnyEventObject, seq: number, taken: boolean): void {
    try {
      actor.apply(event, seq, taken);
      this.residents.touch(actor);
    } catch (error) {
      this.deps.onError(error);
      this.catchUp.replace([actor]).catch(this.deps.onError);
    }
    if (actor.hasEnded) {
      this.watched.delete(actorName(actor));
      this.residents.remove(actor);
    }
  }

  private onChange(actor: LiveActor, change: ActorChange): void {
    if (actor.owner !== this.deps.replica_id()) return;
    const { kind, id, seq, event, taken } = change;
    const { value, status } = change.snapshot;
    this.deps.feed.publish({ kind, id, seq, event, value, status, taken });
  }

  private unwatch(name: string, watcher: Watcher): void {
    this.residents.find(name)?.unwatch(watcher);
    const left = (this.watched.get(name) ?? 0) - 1;
    if (left > 0) this.watched.set(name, left);
    else this.watched.delete(name);
  }

  private compare(actors: Iterable<LiveActor>): void {
    this.comparing = (this.comparing ?? Promise.resolve())
      .then(() => this.catchUp.compare(actors))
      .catch(this.deps.onError);
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(COMPARE_MS, () => {
      this.schedule();
      if (this.watched.size > 0) this.compare(this.quietWatched());
    });
  }

  private *quietWatched(): Iterable<LiveActor> {
    const before = this.deps.clock.now() - COMPARE_MS;
    for (const name of this.watched.keys()) {
      const actor = this.residents.find(name);
      if (actor && actor.touched_at <= before) yield actor;
    }
  }
}

function changeOf({ kind, id, seq, snapshot }: LiveActor, event: AnyEventObject): ActorChange {
  return { kind, id, seq, snapshot, event, taken: true };
}
