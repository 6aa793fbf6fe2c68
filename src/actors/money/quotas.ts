import type { OrganizationStatus } from '../../../db/accounts/organizations.ts';
import type { RecallScope } from '../../../db/ledger/replicas.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { RING_EVENTS } from '../../replay/event-ring.ts';
import type { HeldGrant } from './grant.ts';
import { QuotaActor } from './quota.ts';
import type { QuotaDeps } from './quota-deps.ts';
import type { RecentSpend } from './recent-spend.ts';

/** The most keys that have an actor on this replica. Idle actors without money are removed. */
const MAX_QUOTA_ACTORS = 100_000;
/**
 * How often the actors are swept. An actor without calls returns its grant after one or two sweeps.
 */
const QUOTA_SWEEP_MS = 5_000;
/** The most events that the actors of this replica keep together; each actor keeps a few anyway. */
const MAX_RING_EVENTS = 200_000;
const MIN_RING_EVENTS = 8;

/** The quota actors of this replica. Each API key in recent use has one actor. */
export class Quotas {
  private readonly actors = new Map<string, QuotaActor>();
  /** Actors whose day has ended, until their calls have ended. */
  private readonly retired = new Set<QuotaActor>();
  private stopClock: () => void = () => undefined;
  private sweptAt: number;
  /** The highest number of a recall that this replica knows. */
  private lastRecall = 0;

  constructor(private readonly deps: QuotaDeps) {
    this.sweptAt = deps.clock.now();
    this.schedule();
  }

  /** How many events each actor keeps: the more actors, the fewer. */
  private readonly ringLimit = (): number => {
    const share = Math.floor(MAX_RING_EVENTS / this.actors.size);
    return Math.max(MIN_RING_EVENTS, Math.min(this.deps.ring_events ?? RING_EVENTS, share));
  };

  get size(): number {
    return this.actors.size;
  }

  /**
   * Returns the actor of a key, and creates the actor if needed. Throws `service_unavailable` if
   * there are too many actors.
   */
  getOrCreate(key: { id: string; organization_id: string }): QuotaActor {
    const existing = this.actors.get(key.id);
    if (existing) return existing;
    if (this.actors.size >= MAX_QUOTA_ACTORS) {
      throw new WeirError('service_unavailable', 'Too many API keys are in use.', {
        retry_after: 5,
      });
    }
    return this.create(key);
  }

  private create(key: { id: string; organization_id: string }, spend?: RecentSpend): QuotaActor {
    const { deps, replace, ringLimit } = this;
    const actor = new QuotaActor(key.id, key.organization_id, deps, replace, ringLimit, spend);
    this.actors.set(key.id, actor);
    return actor;
  }

  /** Retires an actor whose day has ended. Returns the present actor of its key. */
  private readonly replace = (actor: QuotaActor): QuotaActor => {
    const key = { id: actor.key_id, organization_id: actor.organization_id };
    if (this.actors.get(key.id) !== actor) return this.getOrCreate(key);
    this.retired.add(actor);
    const present = this.create(key, actor.spend);
    actor.retire();
    return present;
  };

  find(key_id: string): QuotaActor | undefined {
    return this.actors.get(key_id);
  }

  /** Makes each actor send its machine one event: the sum of the calls since the last event. */
  sendCalls(): void {
    for (const actor of this.actors.values()) actor.sendCalls();
  }

  all(): IterableIterator<QuotaActor> {
    return this.actors.values();
  }

  /** Returns the grants that the actors have in memory. Does not read the database. */
  heldByMemory(): HeldGrant[] {
    return Array.from(this.withRetired(), (actor) => actor.heldGrant);
  }

  private *withRetired(): Iterable<QuotaActor> {
    yield* this.actors.values();
    yield* this.retired;
  }

  /**
   * Called on recall number `seq`. Every quota actor of the key or organization in `scope` returns
   * its unused money.
   */
  onRecall(seq: number, scope: RecallScope): void {
    this.lastRecall = Math.max(this.lastRecall, seq);
    for (const actor of this.withRetired()) {
      const isInScope =
        scope.key_id === null
          ? scope.organization_id === actor.organization_id
          : scope.key_id === actor.key_id;
      if (isInScope) actor.onRecall(seq);
    }
  }

  /**
   * Called when recalls may be missing. `last_seq` is the number of the latest recall of any
   * organization. If it is new here, its scope is not known, so every quota actor returns its unused
   * money.
   */
  onRecallsMissed(last_seq: number): void {
    if (last_seq <= this.lastRecall) return;
    this.lastRecall = last_seq;
    for (const actor of this.withRetired()) {
      if (!actor.isEmpty) actor.onRecall(last_seq);
    }
  }

  /** Called when the status of an organization changed. */
  onOrganizationChanged(organization_id: string, status: OrganizationStatus): void {
    for (const actor of this.actors.values()) {
      if (actor.organization_id === organization_id) actor.onOrganizationChanged(status);
    }
  }

  /** Called on a hint that money of an organization was returned, released or added. */
  onMoneyReturned(organization_id: string): void {
    for (const actor of this.withRetired()) {
      if (actor.organization_id === organization_id) actor.onMoneyReturned();
    }
  }

  /** Called when this replica was declared dead, so that all its grants are closed. */
  fence(): void {
    for (const actor of this.withRetired()) actor.fence();
  }

  /** Returns all grants. Call it at shutdown, after the last call ended. */
  async close(): Promise<void> {
    this.stopClock();
    await Promise.all(Array.from(this.withRetired(), (actor) => actor.close()));
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(QUOTA_SWEEP_MS, () => {
      this.sweep();
      this.schedule();
    });
  }

  private sweep(): void {
    const now = this.deps.clock.now();
    for (const [key_id, actor] of this.actors) {
      actor.sweep(now - this.sweptAt);
      if (actor.isEmpty) this.actors.delete(key_id);
    }
    for (const actor of this.retired) {
      actor.sweep(now - this.sweptAt);
      if (actor.isEmpty) this.retired.delete(actor);
    }
    this.sweptAt = now;
  }
}
