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

/** Called once for each change of an actor, in the order of `seq`. Should not throw. */
export type Watcher = (change: ActorChange) => void;

/** A committed snapshot, from which a live actor is created. */
export interface CommittedSnapshot {
  readonly kind: string;
  readonly id: string;
  /** The organization to which the actor belongs; null = none, or not known. */
  readonly organization_id: string | null;
  /** The number of the last event that was applied to the snapshot. */
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
  /** Called after each event, before the watchers are called. */
  readonly onChange: (actor: LiveActor, change: ActorChange) => void;
  /** Called if `onChange` or a watcher threw. Must not throw. */
  readonly onError: (actor: LiveActor, error: unknown) => void;
}

/**
 * One durable actor as a running XState actor in the memory of this replica. The live actor is
 * created from a committed snapshot, and gets each event after the event's commit. Watchers and the
 * inspection feed get their data only from the subscription of this XState actor.
 */
export class LiveActor {
  readonly kind: string;
  readonly id: string;
  readonly organization_id: string | null;
  /** The id of the replica that runs the actor's timers and effects. */
  owner: string | null;
  /** The largest event number of this actor that was committed, as far as this replica knows. */
  known_seq: number;
  /** When the actor was last needed, ms since the epoch. `Residents` is ordered by this time. */
  used_at: number;
  /** When the actor last got an event, ms since the epoch. */
  last_event_at: number;
  private last_seq: number;
  /**
   * No timer fires before this time, ms since the epoch. The time may be too early, because a
   * canceled timer does not change it.
   */
  private no_timer_before = Number.NEGATIVE_INFINITY;
  private readonly actor: AnyActorRef;
  private watchers: Set<Watcher> | undefined;
  /** The event that the XState actor is getting. */
  private current: { event: AnyEventObject; taken: boolean } | undefined;
  private failure: { error: unknown } | undefined;
  /** The snapshot before the event at which the machine threw. */
  private intact: AnyMachineSnapshot | undefined;

  /** Throws if the machine cannot start with the snapshot. */
  constructor(
    machine: AnyStateMachine,
    { kind, id, organization_id, seq, snapshot, owner, timers }: CommittedSnapshot,
    private readonly deps: LiveActorDeps,
  ) {
    this.kind = kind;
    this.id = id;
    this.organization_id = organization_id;
    this.owner = owner;
    this.last_seq = seq;
    this.known_seq = seq;
    this.used_at = deps.now();
    this.last_event_at = this.used_at;
    if (timers) this.no_timer_before = this.used_at + earliestOf(timers);
    const options = { id: `${kind}/${id}`, snapshot };
    this.actor = createActor(machine, options as ActorOptions<AnyStateMachine>);
    // Without a subscription, XState throws the error of a failed start in a later task.
    this.actor.subscribe({
      next: (next) => this.onSnapshot(next as AnyMachineSnapshot),
      error: (error) => {
        this.failure = { error };
      },
    });
    this.actor.start();
    this.throwFailure();
  }

  /** The number of the last event that the actor got. */
  get seq(): number {
    return this.last_seq;
  }

  /** The snapshot after event `seq`. */
  get snapshot(): AnyMachineSnapshot {
    return this.intact ?? (this.actor.getSnapshot() as AnyMachineSnapshot);
  }

  /** True if the machine has reached a final state. A passivated actor has not ended. */
  get hasEnded(): boolean {
    return this.snapshot.status === 'done';
  }

  /** True if the machine threw. Then the actor takes no more events and must be created again. */
  get isBroken(): boolean {
    return this.failure !== undefined;
  }

  /** True if this live actor did not get all events that are known to be committed. */
  get isBehind(): boolean {
    return this.known_seq > this.last_seq;
  }

  get isWatched(): boolean {
    return this.watchers !== undefined && this.watchers.size > 0;
  }

  /** False if it is certain that no timer fires before `time_ms`, ms since the epoch. */
  mayFireBefore(time_ms: number): boolean {
    return this.no_timer_before < time_ms;
  }

  /** Takes the owner and the timers from the actor's row. The row must not be older than `seq`. */
  onRow({ owner, timers }: Pick<CommittedSnapshot, 'owner'> & Timers): void {
    this.owner = owner;
    this.no_timer_before = this.deps.now() + earliestOf(timers);
  }

  /** Records a new timer, which fires after `delay_ms`. */
  onTimer(delay_ms: number): void {
    this.no_timer_before = Math.min(this.no_timer_before, this.deps.now() + delay_ms);
  }

  /**
   * Sends the committed event `seq` to the XState actor. Must be called once for each event, in
   * their order. If the machine throws, throws the same error. Then the actor is broken, and keeps
   * the snapshot and the number of the previous event.
   */
  apply(event: AnyEventObject, seq: number, taken: boolean): void {
    if (seq !== this.last_seq + 1) {
      throw new Error(`${this.kind}/${this.id} got event ${seq} after ${this.last_seq}`);
    }
    const before = this.snapshot;
    this.last_seq = seq;
    this.known_seq = Math.max(this.known_seq, seq);
    this.last_event_at = this.deps.now();
    this.current = { event, taken };
    this.actor.send(event);
    this.current = undefined;
    if (!this.failure) return;
    this.last_seq = seq - 1;
    this.intact = before;
    this.throwFailure();
  }

  /** Adds a watcher. It is called for each later change. */
  watch(watcher: Watcher): void {
    this.watchers ??= new Set();
    this.watchers.add(watcher);
  }

  unwatch(watcher: Watcher): void {
    this.watchers?.delete(watcher);
  }

  /**
   * Stops the XState actor, because `successor` takes its place or because it is passivated. The
   * watchers move to the successor.
   */
  stop(successor?: LiveActor): void {
    for (const watcher of this.watchers ?? []) successor?.watch(watcher);
    this.watchers = undefined;
    this.actor.stop();
  }

  /**
   * Calls all watchers with a change. A watcher that is added during these calls is not called,
   * because its watch starts after the change. A watcher that is removed is not called either.
   */
  announce(change: ActorChange): void {
    this.callSafely(() => this.deps.onChange(this, change));
    if (!this.watchers) return;
    for (const watcher of [...this.watchers]) {
      if (this.watchers?.has(watcher)) this.callSafely(() => watcher(change));
    }
  }

  private onSnapshot(snapshot: AnyMachineSnapshot): void {
    if (!this.current) return;
    const { event, taken } = this.current;
    this.announce({ kind: this.kind, id: this.id, seq: this.last_seq, event, snapshot, taken });
  }

  private callSafely(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.deps.onError(this, error);
    }
  }

  private throwFailure(): void {
    if (this.failure) throw this.failure.error;
  }
}

interface Timers {
  /** Milliseconds until each timer fires, by its name. */
  readonly timers: Readonly<Record<string, number>>;
}

/** Milliseconds until the first timer fires; `Infinity` if there is none. */
function earliestOf(timers: Timers['timers']): number {
  return Math.min(...Object.values(timers));
}
