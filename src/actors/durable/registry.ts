import { type AnyActorRef, type AnyMachineSnapshot, createActor } from 'xstate';
import { WeirError } from '../../errors/weir-error.ts';
import type { Clock } from '../clock.ts';
import type { ActorCommand, CommandResult, CommittedEvent } from './command.ts';
import type { DurableActors } from './durable.ts';
import type { InspectionFeed } from './inspection.ts';

/**
 * The most live actors in memory. Above this number, the actor that has been idle longest is
 * passivated (removed from memory).
 */
const MAX_LIVE_ACTORS = 20_000;
/** A live actor that gets no event for this time is passivated. */
const PASSIVATE_AFTER_MS = 60_000;
/**
 * The most commands of one actor that wait for their commit. Further commands are refused with 503.
 */
export const MAX_WAITING_COMMANDS = 64;
const SWEEP_MS = 10_000;

interface Entry {
  actor: AnyActorRef;
  seq: number;
  touchedAt: number;
}

export interface RegistryDeps {
  actors: DurableActors;
  clock: Clock;
  feed: InspectionFeed;
}

/**
 * Live XState actors by `kind/id`, created on demand and passivated when idle. A live actor gets an
 * event only after its commit, so its subscribers see committed states only.
 */
export class Registry {
  private readonly live = new Map<string, Entry>();
  private readonly mailboxes = new Map<string, number>();
  private stopClock: () => void = () => undefined;

  constructor(private readonly deps: RegistryDeps) {
    this.schedule();
  }

  get size(): number {
    return this.live.size;
  }

  /** Sends a command; throws `service_unavailable` if too many commands to this actor are waiting. */
  async send(command: ActorCommand): Promise<CommandResult> {
    const name = `${command.kind}/${command.id}`;
    const waiting = this.mailboxes.get(name) ?? 0;
    if (waiting >= MAX_WAITING_COMMANDS) {
      throw new WeirError('service_unavailable', 'Too many requests of this task are waiting.', {
        retry_after: 1,
      });
    }
    this.mailboxes.set(name, waiting + 1);
    try {
      return await this.deps.actors.send(command);
    } finally {
      const left = (this.mailboxes.get(name) ?? 1) - 1;
      if (left === 0) this.mailboxes.delete(name);
      else this.mailboxes.set(name, left);
    }
  }

  /**
   * Returns the live actor for a committed snapshot. Subscribe to it, but send commands with `send`.
   * Throws if the kind is unknown.
   */
  activate(kind: string, id: string, snapshot: AnyMachineSnapshot, seq: number): AnyActorRef {
    const name = `${kind}/${id}`;
    const known = this.live.get(name);
    if (known && known.seq >= seq) return this.touch(known).actor;
    known?.actor.stop();
    const machine = this.deps.actors.kinds.get(kind)?.machine;
    if (!machine) throw new Error(`unknown kind of durable actor: ${kind}`);
    const actor = createActor(machine, { snapshot });
    // If the machine throws, the next `activate` creates the actor again from a committed snapshot.
    actor.subscribe({ error: () => this.live.delete(name) });
    actor.start();
    this.live.set(name, { actor, seq, touchedAt: this.deps.clock.now() });
    if (this.live.size > MAX_LIVE_ACTORS) this.passivateOldest();
    return actor;
  }

  /** Passes committed events to the live actors and the feed, in the order of the commits. */
  onCommitted(events: readonly CommittedEvent[]): void {
    for (const { kind, id, seq, event, snapshot, taken } of events) {
      const entry = this.live.get(`${kind}/${id}`);
      if (entry && entry.seq === seq - 1) {
        this.touch(entry).actor.send(event);
        entry.seq = seq;
      } else if (entry && entry.seq < seq) {
        // Another replica committed events in between, so the actor in memory is outdated.
        this.passivate(`${kind}/${id}`, entry);
      }
      const { value, status } = snapshot;
      this.deps.feed.publish({ kind, id, seq, event, value, status, taken });
    }
  }

  stop(): void {
    this.stopClock();
    for (const [name, entry] of this.live) this.passivate(name, entry);
  }

  private touch(entry: Entry): Entry {
    entry.touchedAt = this.deps.clock.now();
    return entry;
  }

  private passivate(name: string, entry: Entry): void {
    this.live.delete(name);
    entry.actor.stop();
  }

  private passivateOldest(): void {
    const [oldest] = [...this.live].sort(([, a], [, b]) => a.touchedAt - b.touchedAt);
    if (oldest) this.passivate(...oldest);
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(SWEEP_MS, () => {
      const before = this.deps.clock.now() - PASSIVATE_AFTER_MS;
      for (const [name, entry] of this.live) {
        if (entry.touchedAt < before) this.passivate(name, entry);
      }
      this.schedule();
    });
  }
}
