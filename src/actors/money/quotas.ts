import type { RecallScope } from '../../../db/ledger/replicas.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { QuotaActor, type QuotaDeps } from './quota.ts';

/** Keys with an actor on this replica. Idle ones are passivated, so only a burst comes near. */
const MAX_QUOTA_ACTORS = 100_000;
/** An idle key gives its grant back after one to two sweeps. */
const QUOTA_SWEEP_MS = 5_000;

/** The quota actors of this replica: one per API key that was used lately (design 3). */
export class Quotas {
  private readonly actors = new Map<string, QuotaActor>();
  private stopClock: () => void = () => undefined;
  private sweptAt: number;

  constructor(private readonly deps: QuotaDeps) {
    this.sweptAt = deps.clock.now();
    this.schedule();
  }

  get size(): number {
    return this.actors.size;
  }

  /** The actor of a key, spawned on demand. Throws `service_unavailable` when there are too many. */
  getOrCreate(key: { id: string; organization_id: string }): QuotaActor {
    const existing = this.actors.get(key.id);
    if (existing) return existing;
    if (this.actors.size >= MAX_QUOTA_ACTORS) {
      throw new WeirError('service_unavailable', 'Too many API keys are active.', {
        retry_after: 5,
      });
    }
    const actor = new QuotaActor(key.id, key.organization_id, this.deps);
    this.actors.set(key.id, actor);
    return actor;
  }

  find(key_id: string): QuotaActor | undefined {
    return this.actors.get(key_id);
  }

  all(): IterableIterator<QuotaActor> {
    return this.actors.values();
  }

  /** Somebody needs idle money of a key or an organization: every actor in scope gives it back. */
  onRecall(seq: number, scope: RecallScope): void {
    for (const actor of this.actors.values()) {
      const meant =
        scope.key_id === null
          ? scope.organization_id === actor.organization_id
          : scope.key_id === actor.key_id;
      if (meant) actor.onRecall(seq);
    }
  }

  /** Money of an organization came back or came in. */
  onMoneyReturned(organization_id: string): void {
    for (const actor of this.actors.values()) {
      if (actor.organization_id === organization_id) actor.onMoneyReturned();
    }
  }

  /** This replica was given up: all its grants are closed. */
  fence(): void {
    for (const actor of this.actors.values()) actor.fence();
  }

  /** Gives everything back; for a clean shutdown, after the last call ended. */
  async close(): Promise<void> {
    this.stopClock();
    await Promise.all([...this.actors.values()].map((actor) => actor.close()));
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
      if (actor.empty) this.actors.delete(key_id);
    }
    this.sweptAt = now;
  }
}
