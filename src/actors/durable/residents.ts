import type { ActorAddress } from '../../../db/actors/store.ts';
import type { Clock } from '../clock.ts';
import type { LiveActor } from './live-actor.ts';

/**
 * The most actors in memory. Above this number, the actor that was idle longest is passivated, i.e.
 * removed from memory. An actor needs about 5 KB.
 */
const MAX_RESIDENT_ACTORS = 150_000;
/** An idle actor is passivated after this time, if nobody needs it (`isInUse`). */
const PASSIVATE_AFTER_MS = 60_000;
/** An actor stays in memory if one of its timers fires within this time. */
export const TIMER_SOON_MS = 60_000;
const SWEEP_MS = 10_000;
/** The most actors that one sweep checks, so that the sweep does not delay calls. */
const MAX_SWEPT = 2_000;
/** If a sweep could not check all idle actors, the next sweep follows after this time. */
const NEXT_SWEEP_MS = 100;
/** How many of the longest idle actors are checked to find one that may be passivated. */
const MAX_CANDIDATES = 16;

/** Returns the name of an actor, `kind/id`. Maps of actors use it as key. */
export const actorName = ({ kind, id }: ActorAddress): string => `${kind}/${id}`;

/**
 * The live actors in the memory of this replica. The map is ordered by the last use, so its first
 * actor is the one that was idle longest.
 */
export class Residents {
  private readonly actors = new Map<string, LiveActor>();
  private readonly counts = new Map<string, number>();
  private stopClock: () => void = () => undefined;

  /** `readTimers` is called with idle actors that may have a timer that fires soon. */
  constructor(
    private readonly clock: Clock,
    private readonly readTimers: (actor: LiveActor) => void,
    private readonly max = MAX_RESIDENT_ACTORS,
  ) {}

  get size(): number {
    return this.actors.size;
  }

  /** How many actors of each kind are in memory. */
  countsByKind(): ReadonlyMap<string, number> {
    return this.counts;
  }

  all(): IterableIterator<LiveActor> {
    return this.actors.values();
  }

  find(name: string): LiveActor | undefined {
    return this.actors.get(name);
  }

  /** Starts to passivate idle actors. */
  start(): void {
    this.schedule(SWEEP_MS);
  }

  /** Stops all actors. */
  stop(): void {
    this.stopClock();
    for (const actor of this.actors.values()) actor.stop();
    this.actors.clear();
    this.counts.clear();
  }

  /**
   * Adds an actor. An earlier actor of the same name is stopped, and its watchers move to the new
   * actor. If there are too many actors, one that has long been idle is passivated.
   */
  add(actor: LiveActor): void {
    const name = actorName(actor);
    const former = this.actors.get(name);
    if (former) this.remove(former, actor);
    else this.makeRoom();
    this.actors.set(name, actor);
    this.counts.set(actor.kind, (this.counts.get(actor.kind) ?? 0) + 1);
  }

  /** Marks the actor as the one that was used last. */
  touch(actor: LiveActor): void {
    const name = actorName(actor);
    if (this.actors.get(name) !== actor) return;
    actor.used_at = this.clock.now();
    this.actors.delete(name);
    this.actors.set(name, actor);
  }

  /** Removes an actor from memory. Its watchers move to `successor`. */
  remove(actor: LiveActor, successor?: LiveActor): void {
    const name = actorName(actor);
    if (this.actors.get(name) !== actor) return;
    this.actors.delete(name);
    this.counts.set(actor.kind, (this.counts.get(actor.kind) ?? 1) - 1);
    actor.stop(successor);
  }

  /**
   * Passivates idle actors. Returns true if it checked all idle actors. The map is ordered by use,
   * so the sweep ends at the first actor that was used lately.
   */
  sweep(): boolean {
    const now = this.clock.now();
    let looked = 0;
    for (const actor of this.actors.values()) {
      if (actor.used_at > now - PASSIVATE_AFTER_MS) return true;
      if (looked === MAX_SWEPT) return false;
      looked += 1;
      if (isInUse(actor)) {
        this.touch(actor);
      } else if (actor.mayFireBefore(now + TIMER_SOON_MS)) {
        // The timer may have fired or been canceled, so its row is read. A later sweep checks again.
        this.touch(actor);
        this.readTimers(actor);
      } else {
        this.remove(actor);
      }
    }
    return true;
  }

  /**
   * If there are too many actors, passivates one that was idle for long. Checks only a few actors,
   * so its cost does not grow with their number.
   */
  private makeRoom(): void {
    let looked = 0;
    for (const actor of this.actors.values()) {
      if (this.actors.size < this.max || looked === MAX_CANDIDATES) return;
      looked += 1;
      if (isInUse(actor)) this.touch(actor);
      else this.remove(actor);
    }
  }

  private schedule(delay_ms: number): void {
    this.stopClock = this.clock.after(delay_ms, () => {
      this.schedule(this.sweep() ? SWEEP_MS : NEXT_SWEEP_MS);
    });
  }
}

/** True if an actor may not be passivated, however long it has been idle. */
function isInUse(actor: LiveActor): boolean {
  return actor.isWatched || actor.isBehind;
}
