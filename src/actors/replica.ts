import type { Sql } from 'postgres';
import { adoptActors } from '../../db/actors/store.ts';
import { type HeartbeatConnection, HeartbeatLine } from '../../db/heartbeat-line.ts';
import {
  declareExpiredDead,
  endSilentSessions,
  findDeadWithGrants,
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
/** A heartbeat that failed is repeated after this pause. */
const REPEAT_MS = 500;
/** A replica stops admitting calls this long before its lease ends. */
const SAFETY_MS = 2_000;
/**
 * If two heartbeats of this replica are further apart, the database was away, or this process was
 * paused. Live replicas may then have ended leases too. So no replica is declared dead until each
 * had the time of a whole lease to renew its own.
 */
const MAX_GAP_MS = 5_000;
/** A replica declares others dead only if it renewed its own lease at most this long ago. */
const FRESH_MS = 3_000;
/** Most actors that one statement adopts. */
const MAX_ADOPTED = 1_000;

export interface ReplicaDeps {
  /**
   * The pool with which dead replicas are found and their actors adopted. Heartbeats do not use it.
   */
  sql: Sql;
  /** Opens the connection of the heartbeat. */
  connectHeartbeat: () => HeartbeatConnection;
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
 * seconds. Beside that it reaps dead replicas: it returns their grants and adopts their actors. The
 * heartbeat never waits for the reaping, because the reaping may wait for locks.
 */
export class Replica {
  private current_id = newId('replica');
  private renewedAt = Number.NEGATIVE_INFINITY;
  /** The time since which the database answered every heartbeat in time, ms. */
  private steadySince = Number.POSITIVE_INFINITY;
  private stopClock: () => void = () => undefined;
  private beating: Promise<void> | undefined;
  private reaping: Promise<void> | undefined;
  private isStopped = false;
  private readonly line: HeartbeatLine;
  /** How often this replica was declared dead. */
  fenced = 0;
  /** How often this replica renewed its lease so late that it had stopped admitting calls. */
  lapses = 0;

  constructor(private readonly deps: ReplicaDeps) {
    this.line = new HeartbeatLine(deps.connectHeartbeat, (delay_ms, callback) =>
      deps.clock.after(delay_ms, callback),
    );
  }

  get id(): string {
    return this.current_id;
  }

  /** False if the lease may have ended; then no new call may be admitted. */
  isAlive(): boolean {
    return this.deps.clock.now() - this.renewedAt < LEASE_MS - SAFETY_MS;
  }

  /**
   * Registers this replica and reaps the replicas that are declared dead. If `exclusive` is true,
   * these are all others, so the grants of a crashed process are returned before this replica admits
   * its first call.
   */
  async start(): Promise<void> {
    await this.register();
    await this.reap();
    this.schedule(HEARTBEAT_MS);
  }

  /**
   * Ends this replica's lease. The caller must first close the quota actors, so that they return
   * all grants of this replica.
   */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.stopClock();
    await this.beating;
    await this.reaping;
    await retireReplica(this.deps.sql, this.current_id);
    this.line.close();
  }

  private async register(): Promise<void> {
    const { clock, exclusive } = this.deps;
    const requestedAt = clock.now();
    await this.line.run((sql) => registerReplica(sql, this.current_id, LEASE_MS, exclusive));
    this.onRenewed(requestedAt);
  }

  private schedule(delay_ms: number): void {
    if (this.isStopped) return;
    this.stopClock = this.deps.clock.after(delay_ms, () => {
      this.beating = this.beat();
    });
  }

  private async beat(): Promise<void> {
    try {
      await this.renewLease();
      this.schedule(HEARTBEAT_MS);
    } catch (error) {
      this.deps.onError(error);
      this.schedule(REPEAT_MS);
      return;
    }
    this.reaping ??= this.reap()
      .catch(this.deps.onError)
      .finally(() => {
        this.reaping = undefined;
      });
  }

  private async renewLease(): Promise<void> {
    // The time is measured before the statement. So this process stops admitting calls before its
    // lease in the database ends.
    const requestedAt = this.deps.clock.now();
    const isRenewed = await this.line.run((sql) => heartbeat(sql, this.current_id, LEASE_MS));
    if (isRenewed) this.onRenewed(requestedAt);
    else await this.registerAnew();
  }

  private onRenewed(requestedAt: number): void {
    const gap = requestedAt - this.renewedAt;
    if (gap > MAX_GAP_MS) this.steadySince = this.deps.clock.now();
    if (gap > LEASE_MS - SAFETY_MS && Number.isFinite(gap)) this.lapses += 1;
    this.renewedAt = requestedAt;
  }

  /** A replica that was declared dead stays dead, so the process registers under a new id. */
  private async registerAnew(): Promise<void> {
    this.current_id = newId('replica');
    await this.register();
    this.fenced += 1;
    this.deps.onFenced();
  }

  /**
   * True if the database answered every heartbeat for a whole lease. Otherwise the database may have
   * been away, and a live replica had no time to renew its lease. Or this process was paused itself.
   */
  private mayJudge(): boolean {
    return this.deps.clock.now() - this.steadySince >= LEASE_MS;
  }

  /**
   * Ends database sessions of paused replicas, which releases their locks. Declares replicas dead
   * whose lease ended, returns their grants to the ledger, and adopts their durable actors. Skips
   * replicas and actors whose rows are locked: the next heartbeat tries them again. Waits for locked
   * rows of money.
   */
  private async reap(): Promise<void> {
    const { sql, lane } = this.deps;
    await endSilentSessions(sql);
    if (this.mayJudge()) await declareExpiredDead(sql, this.current_id, LEASE_MS, FRESH_MS);
    for (const replica_id of await findDeadWithGrants(sql)) {
      for (let more = true; more; ) {
        const answer = await lane.submit({ type: 'REAP', replica_id });
        more = answer.type === 'reaped' && answer.more;
      }
    }
    // The durable actors of dead replicas continue on this replica, under a new epoch.
    for (let more = true; more; ) {
      const adopted = await adoptActors(sql, this.current_id, MAX_ADOPTED);
      if (adopted.length > 0) this.deps.onAdopted?.();
      more = adopted.length === MAX_ADOPTED;
    }
  }
}
