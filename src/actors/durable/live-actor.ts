import {
  type ActorOptions,
  type AnyActorRef,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
} from 'xstate';

/** One committed event, and the snapshot of the live actor after it. */
export interface ActorChange {
  readonly kind: string;
  readonly id: string;
  /** The number of the event in the actor's log. */
  readonly seq: number;
  readonly event: AnyEventObject;
  readonly snapshot: AnyMachineSnapshot;
  /** False if no transition took the event. */
  readonly taken: boolean;
}

/** Receives each change of an actor once, in the order of `seq`. Must not throw. */
export type Watcher = (change: ActorChange) => void;

/** A committed snapshot, from which a live actor is created. */
export interface CommittedSnapshot {
  readonly kind: string;
  readonly id: string;
  /** Number of the last event that the snapshot contains. */
  readonly seq: number;
  readonly snapshot: AnyMachineSnapshot;
  /** The id of the replica that runs the actor's timers and effects. */
  readonly owner: string | null;
  /** Milliseconds until each timer fires, by its name; undefined = not known. */
  readonly timers?: Readonly<Record<string, number>>;
}

/** What a live actor needs from the registry. */
export interface LiveActorDeps {
  readonly now: () => number;
  /** Called after each event, before the watchers are called. Must not throw. */
  readonly onChange: (actor: LiveActor, change: ActorChange) => void;
  /** Called if the machine or a watcher threw. Must not throw. */
  readonly onError: (actor: LiveActor, error: unknown) => void;
}

/**
 * One durable actor as a running XState actor in the memory of this replica. It is created from a
 * committed snapshot and gets each event after its commit. All that watchers and the inspection
 * feed see comes from its subscription.
 */
export class LiveActor {
  readonly kind: string;
  readonly id: string;
  /** The id of the replica that runs the actor's timers and effects. */
  owner: string | null;
  /** The largest number of a committed event that this replica has heard of. */
  known_seq: number;
  /** When the actor last got an event or a watcher, ms. */
  touched_at: number;
  private last_seq: number;
  private readonly actor: AnyActorRef;
  private readonly watchers = new Set<Watcher>();
  private readonly timers = new Map<string, number>();
  private knowsTimers: boolean;
  private current: { event: AnyEventObject; taken: boolean } | undefined;
  private failure: unknown;

  constructor(
    machine: AnyStateMachine,
    { kind, id, seq, snapshot, owner, timers }: CommittedSnapshot,
    private readonly deps: LiveActorDeps,
  ) {
    this.kind = kind;
    this.id = id;
    this.owner = owner;
    this.last_seq = seq;
    this.known_seq = seq;
    this.touched_at = deps.now();
    this.knowsTimers = timers !== undefined;
    for (const [name, delay_ms] of Object.entries(timers ?? {})) this.onTimer(name, delay_ms);
    const options = { id: `${kind}/${id}`, snapshot };
    this.actor = createActor(machine, options as ActorOptions<AnyStateMachine>);
    this.actor.start();
    this.actor.subscribe({
      next: (next) => this.onSnapshot(next as AnyMachineSnapshot),
      error: (error) => {
        this.failure = error;
      },
    });
  }

  /** Number of the last event that the actor got. */
  get seq(): number {
    return this.last_seq;
  }

  get snapshot(): AnyMachineSnapshot {
    return this.actor.getSnapshot() as AnyMachineSnapshot;
  }

  get hasEnded(): boolean {
    return this.snapshot.status !== 'active';
  }

  /** True if events were committed that this actor has not got yet. */
  get isBehind(): boolean {
    return this.known_seq > this.last_seq;
  }

  get isWatched(): boolean {
    return this.watchers.size > 0;
  }

  /** True if a timer fires before `before_ms`; undefined if not all timers are known. */
  hasTimerBefore(before_ms: number): boolean | undefined {
    for (const fires_at of this.timers.values()) if (fires_at < before_ms) return true;
    return this.knowsTimers ? false : undefined;
  }

  /** Takes over the owner and the timers of the actor's row. */
  onRow(owner: string | null, timers: Readonly<Record<string, number>>): void {
    this.owner = owner;
    this.knowsTimers = true;
    this.timers.clear();
    for (const [name, delay_ms] of Object.entries(timers)) this.onTimer(name, delay_ms);
  }

  /** Records that a timer was set, or was canceled if `delay_ms` is null. */
  onTimer(name: string, delay_ms: number | null): void {
    if (delay_ms === null) this.timers.delete(name);
    else this.timers.set(name, this.deps.now() + delay_ms);
  }

  /**
   * Sends the committed event `seq` to the XState actor. The caller must send the events in order
   * and each of them once. Throws what the machine throws.
   */
  apply(event: AnyEventObject, seq: number, taken: boolean): void {
    if (seq !== this.last_seq + 1) {
      throw new Error(`${this.kind}/${this.id} got event ${seq} after ${this.last_seq}`);
    }
    this.last_seq = seq;
    this.known_seq = Math.max(this.known_seq, seq);
    this.touched_at = this.deps.now();
    this.current = { event, taken };
    this.actor.send(event);
    this.current = undefined;
    if (this.failure !== undefined) throw this.failure;
  }

  /** Adds a watcher of the following changes. */
  watch(watcher: Watcher): void {
    this.touched_at = this.deps.now();
    this.watchers.add(watcher);
  }

  unwatch(watcher: Watcher): void {
    this.watchers.delete(watcher);
  }

  /**
   * Stops the XState actor, because `successor` takes its place or because it is passivated. The
   * watchers move to the successor.
   */
  stop(successor?: LiveActor): void {
    for (const watcher of this.watchers) successor?.watchers.add(watcher);
    this.watchers.clear();
    this.actor.stop();
  }

  /** Tells the watchers of a change that the actor did not see, because it was created after it. */
  announce(change: ActorChange): void {
    this.deps.onChange(this, change);
    for (const watcher of this.watchers) {
      try {
        watcher(change);
      } catch (error) {
        this.deps.onError(this, error);
      }
    }
  }

  private onSnapshot(snapshot: AnyMachineSnapshot): void {
    if (!this.current) return;
    const { event, taken } = this.current;
    this.announce({ kind: this.kind, id: this.id, seq: this.last_seq, event, snapshot, taken });
  }
}
