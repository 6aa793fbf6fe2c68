import type { Sql } from 'postgres';
import { adoptActors } from '../../db/actors/store.ts';
import {
  findReplicasToReap,
  heartbeat,
  registerReplica,
  retireReplica,
} from '../../db/replicas.ts';
import { newId } from '../../db/secrets.ts';
import type { Clock } from './clock.ts';
import type { Lane } from './money/lane.ts';

/** If a replica does not renew its lease for this long, the other replicas declare it dead. */
const LEASE_MS = 10_000;
const HEARTBEAT_MS = 2_000;
/** A replica stops admitting calls this long before its lease ends. */
const SAFETY_MS = 2_000;
/** Most actors that one statement adopts. */
const MAX_ADOPTED = 1_000;

export interface ReplicaDeps {
  sql: Sql;
  clock: Clock;
  lane: Lane;
  /**
   * True if no other process uses this database (embedded). Then every other registered replica is
   * dead.
   */
  exclusive: boolean;
  /** Called after this replica was declared dead and the process registered under a new id. */
  onFenced: () => void;
  /** Called when this replica adopted durable actors. Must not throw. */
  onAdopted?: () => void;
  onError: (error: unknown) => void;
}

/**
 * This process as a registered replica. It renews its lease with one small statement every two
 * seconds. It also reaps dead replicas: it returns their grants and adopts their actors.
 */
export class Replica {
  private current_id = newId('replica');
  private renewedAt = Number.NEGATIVE_INFINITY;
  private stopClock: () => void = () => undefined;
  private renewing: Promise<void> | undefined;

  constructor(private readonly deps: ReplicaDeps) {}

  get id(): string {
    return this.current_id;
  }

  /** False if the lease may have ended; then no new call may be admitted. */
  isAlive(): boolean {
    return this.deps.clock.now() - this.renewedAt < LEASE_MS - SAFETY_MS;
  }

  /**
   * Registers this replica and reaps dead replicas. If the lease of a crashed replica has ended, or
   * if `exclusive` is true, its grants are returned before this replica admits its first call.
   */
  async start(): Promise<void> {
    await this.register();
    await this.reap();
    this.schedule();
  }

  /**
   * Ends this replica's lease. The caller must first close the quota actors, so that they return
   * all grants of this replica.
   */
  async stop(): Promise<void> {
    this.stopClock();
    await this.renewing;
    await retireReplica(this.deps.sql, this.current_id);
  }

  private async register(): Promise<void> {
    const { clock, sql, exclusive } = this.deps;
    const requestedAt = clock.now();
    await registerReplica(sql, this.current_id, LEASE_MS, exclusive);
    this.renewedAt = requestedAt;
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(HEARTBEAT_MS, () => {
      this.renewing = this.renewLease()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }

  private async renewLease(): Promise<void> {
    // The time is measured before the statement. So this process stops admitting calls before its
    // lease in the database ends.
    const requestedAt = this.deps.clock.now();
    if (await heartbeat(this.deps.sql, this.current_id, LEASE_MS)) this.renewedAt = requestedAt;
    else await this.registerAnew();
    await this.reap();
  }

  /** A replica that was declared dead stays dead, so the process registers under a new id. */
  private async registerAnew(): Promise<void> {
    this.current_id = newId('replica');
    await this.register();
    this.deps.onFenced();
  }

  /**
   * Returns the grants of dead replicas to the ledger, and adopts the durable actors of these
   * replicas.
   */
  private async reap(): Promise<void> {
    for (const replica_id of await findReplicasToReap(this.deps.sql)) {
      for (let more = true; more; ) {
        const answer = await this.deps.lane.submit({ type: 'REAP', replica_id });
        more = answer.type === 'reaped' && answer.more;
      }
    }
    // The durable actors of dead replicas continue on this replica, under a new epoch.
    for (let more = true; more; ) {
      const adopted = await adoptActors(this.deps.sql, this.current_id, MAX_ADOPTED);
      if (adopted.length > 0) this.deps.onAdopted?.();
      more = adopted.length === MAX_ADOPTED;
    }
  }
}
