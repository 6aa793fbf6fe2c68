/**
 * Checks the live actors of a schedule: random watchers on random replicas, and a bus that loses,
 * delays and reorders its announcements, and reports the losses as gaps sooner or later.
 */
import type { Sql } from 'postgres';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import type { ActorChange } from '../../src/actors/durable/live-actor.ts';
import {
  type CommittedElsewhere,
  RESTORED,
  type Registry,
  type Watch,
} from '../../src/actors/durable/registry.ts';
import { courierMachine } from './courier.ts';
import type { Random } from './random.ts';
import type { SlowReads } from './slow-reads.ts';

/** The share of the announcements that the bus loses. */
const LOST = 0.25;
/** How often a schedule stops to let everything be read. */
const SETTLES = 0.05;
const MAX_WATCHES = 4;

interface LiveReplica {
  readonly id: string;
  /** True if it was declared dead and does not know it yet. Then it may think that it owns actors. */
  readonly isFenced: boolean;
  readonly registry: Registry;
  readonly reads: SlowReads;
}

interface LiveActorsCheckDeps {
  readonly sql: Sql;
  readonly random: Random;
  /** The replicas that run. */
  readonly replicas: () => readonly LiveReplica[];
  readonly log: (line: string) => void;
  readonly onViolation: (violation: string) => void;
}

interface Watching {
  readonly replica: LiveReplica;
  readonly id: string;
  /** True if the actor existed before the watch was requested. */
  readonly existed: boolean;
  readonly changes: ActorChange[];
  /** Undefined until the watch has begun. */
  watch?: Watch | undefined;
  /** How many changes were checked. */
  checked: number;
}

export class LiveActorsCheck {
  /** The number of changes that watchers got. */
  watched = 0;
  /** The stored state after each event, by the actor's id; number 0 is the initial state. */
  private readonly logs = new Map<string, string[]>();
  private readonly snapshots = new Map<string, AnyMachineSnapshot>();
  private announcements: { to: LiveReplica; events: readonly CommittedElsewhere[] }[] = [];
  private readonly gaps = new Set<LiveReplica>();
  private watches: Watching[] = [];
  /** Ended watches, which must get nothing more, with the number of their changes. */
  private readonly stopped = new Map<readonly ActorChange[], number>();

  constructor(private readonly deps: LiveActorsCheckDeps) {}

  /** Sends the committed events of one replica to the others. */
  announce(from: LiveReplica, events: readonly CommittedElsewhere[]): void {
    for (const to of this.deps.replicas()) {
      if (to === from) continue;
      if (this.deps.random.chance(LOST)) this.gaps.add(to);
      else this.announcements.push({ to, events });
    }
  }

  /** A dead replica may have committed something that it did not announce. */
  onDeath(dead: LiveReplica): void {
    for (const to of this.deps.replicas()) if (to !== dead) this.gaps.add(to);
    this.gaps.delete(dead);
    this.announcements = this.announcements.filter(({ to }) => to !== dead);
    this.watches = this.watches.filter(({ replica }) => replica !== dead);
  }

  /** What may happen next. */
  choices(): (() => Promise<void> | void)[] {
    const { random } = this.deps;
    const replicas = this.deps.replicas();
    const choices: (() => Promise<void> | void)[] = [];
    for (const { reads } of replicas) {
      if (reads.waiting > 0) choices.push(() => reads.step());
    }
    if (this.announcements.length > 0) choices.push(() => this.deliver());
    if (this.gaps.size > 0 && random.chance(0.3)) choices.push(() => this.reportGap());
    if (this.watches.length < MAX_WATCHES) choices.push(() => this.beginWatch());
    if (this.watches.length > 0 && random.chance(0.3)) choices.push(() => this.endWatch());
    if (random.chance(SETTLES)) choices.push(() => this.settle());
    return choices;
  }

  /** Reads the events that were committed in the last step. */
  async readLogs(): Promise<void> {
    const events = await this.deps.sql<{ id: string; seq: number; event: never }[]>`
      select actor_id as id, seq, event from actor_event order by actor_id, seq`;
    for (const { id, seq, event } of events) {
      let snapshot = this.snapshots.get(id);
      if (!snapshot) {
        snapshot = initialTransition(courierMachine)[0];
        this.logs.set(id, [stateOf(snapshot)]);
      }
      const log = this.logs.get(id) ?? [];
      if (seq === log.length) {
        if (snapshot.status === 'active') [snapshot] = transition(courierMachine, snapshot, event);
        log.push(stateOf(snapshot));
      }
      this.snapshots.set(id, snapshot);
    }
  }

  /** True if this many actors exist and have ended. */
  haveEnded(actors: number): boolean {
    const snapshots = [...this.snapshots.values()];
    return snapshots.length === actors && snapshots.every(({ status }) => status === 'done');
  }

  /** Each live actor is in the state that its log gives; each watcher got each event once. */
  checkNow(): void {
    for (const { id: replica, registry } of this.deps.replicas()) {
      for (const { id, seq, snapshot } of registry.all()) {
        const logged = this.logs.get(id)?.[seq];
        if (logged !== stateOf(snapshot)) {
          this.violate(`${id} on ${replica} is ${stateOf(snapshot)} at ${seq}, not ${logged}`);
        }
      }
    }
    for (const watching of this.watches) this.checkWatch(watching);
    for (const [changes, count] of this.stopped) {
      if (changes.length !== count) this.violate('a watcher was called after its stop');
    }
  }

  /** Delivers everything and compares all live actors with their rows. */
  async settle(): Promise<void> {
    this.deps.log('settle');
    while (this.announcements.length > 0) this.deliver();
    const replicas = this.deps.replicas();
    this.gaps.clear();
    for (const { registry } of replicas) registry.onGap();
    await new Promise((resolve) => setImmediate(resolve));
    for (const { reads } of replicas) {
      while (reads.waiting > 0) {
        await reads.step('calm');
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const owners = await this.deps.sql<
      { id: string; owner: string }[]
    >`select id, owner from actor`;
    for (const { id: replica, registry, isFenced } of replicas) {
      for (const { id, seq, owner } of registry.all()) {
        const last = (this.logs.get(id)?.length ?? 0) - 1;
        if (seq !== last) this.violate(`${id} on ${replica} is at ${seq} of ${last}`);
        const row = owners.find((each) => each.id === id);
        if (!isFenced && (row?.owner === replica) !== (owner === replica)) {
          this.violate(`${replica} thinks that ${owner} owns ${id}, not ${row?.owner}`);
        }
      }
    }
  }

  /** After all actors have ended, none is in memory. */
  async end(): Promise<void> {
    await this.settle();
    this.checkNow();
    for (const { id, registry } of this.deps.replicas()) {
      for (const actor of registry.all()) this.violate(`${actor.id} is left on ${id}`);
      void registry.stop();
    }
  }

  private deliver(): void {
    const announcement = this.deps.random.pick(this.announcements);
    this.announcements.splice(this.announcements.indexOf(announcement), 1);
    announcement.to.registry.onCommittedElsewhere(announcement.events);
  }

  private reportGap(): void {
    const replica = this.deps.random.pick([...this.gaps]);
    this.gaps.delete(replica);
    this.deps.log(`${replica.id} has a gap`);
    replica.registry.onGap();
  }

  private beginWatch(): void {
    const replica = this.deps.random.pick(this.deps.replicas());
    const id = this.logs.size > 0 ? this.deps.random.pick([...this.logs.keys()]) : 'actor-1';
    const existed = this.logs.has(id);
    const watching: Watching = { replica, id, existed, changes: [], checked: 0 };
    this.watches.push(watching);
    const onChange = (change: ActorChange) => void watching.changes.push(change);
    replica.registry.watch({ kind: 'courier', id }, onChange).then(
      (watch) => {
        if (watch) watching.watch = watch;
        else this.drop(watching);
        if (!watch && existed) this.violate(`${id} was not found on ${replica.id}`);
      },
      () => this.drop(watching),
    );
  }

  private endWatch(): void {
    const watching = this.deps.random.pick(this.watches);
    if (!watching.watch) return;
    watching.watch.stop();
    if (this.deps.random.chance(0.2)) watching.watch.stop();
    this.stopped.set(watching.changes, watching.changes.length);
    this.drop(watching);
  }

  private drop(watching: Watching): void {
    this.watches = this.watches.filter((each) => each !== watching);
  }

  private checkWatch(watching: Watching): void {
    const { replica, id, changes, watch } = watching;
    if (!watch) return;
    for (; watching.checked < changes.length; watching.checked += 1) {
      const { seq, event, snapshot } = changes[watching.checked] as ActorChange;
      const expected = watch.seq + watching.checked + 1;
      this.watched += 1;
      this.deps.log(`${id} watched at ${replica.id}: #${seq}`);
      if (seq !== expected) this.violate(`a watcher of ${id} got ${seq} instead of ${expected}`);
      if (event.type === RESTORED) this.violate(`${id} was created again without need`);
      if (this.logs.get(id)?.[seq] !== stateOf(snapshot)) {
        this.violate(`a watcher of ${id} got a wrong state with ${seq}`);
      }
    }
    const last = changes.at(-1) ?? watch;
    const live = replica.registry.find({ kind: 'courier', id });
    if (live ? live.seq !== last.seq : last.snapshot.status === 'active') {
      this.violate(`a watcher of ${id} missed an event after ${last.seq}`);
    }
  }

  private violate(violation: string): void {
    this.deps.onViolation(violation);
  }
}

function stateOf({ value, context }: AnyMachineSnapshot): string {
  return JSON.stringify({ value, context });
}
