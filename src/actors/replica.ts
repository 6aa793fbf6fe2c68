import type { Sql } from 'postgres';
import { adoptActors } from '../../db/actors/store.ts';
import {
  findDeadWithGrants,
  heartbeat,
  registerReplica,
  retireReplica,
} from '../../db/replicas.ts';
import { newId } from '../../db/secrets.ts';
import type { Clock } from './clock.ts';
import type { Lane } from './money/lane.ts';

/** A replica that is silent for this long is given up. */
const LEASE_MS = 10_000;
const HEARTBEAT_MS = 2_000;
/** It stops admitting this much earlier than others may give it up. */
const SAFETY_MS = 2_000;
/** Actors that one statement takes over. */
const MAX_ADOPTED = 1_000;

export interface ReplicaDeps {
  sql: Sql;
  clock: Clock;
  lane: Lane;
  /** No other process uses this database: whoever else is registered is dead (embedded default). */
  exclusive: boolean;
  /** This replica was given up; it has registered anew. */
  onFenced: () => void;
  onError: (error: unknown) => void;
}

/**
 * This run of the process in the eyes of the others: a lease that is renewed by one small statement
 * every two seconds, and the reaping of those whose lease ran out (design 3 and 4).
 */
export class Replica {
  private current_id = newId('replica');
  private renewedAt = Number.NEGATIVE_INFINITY;
  private stopClock: () => void = () => undefined;
  private beating: Promise<void> | undefined;

  constructor(private readonly deps: ReplicaDeps) {}

  get id(): string {
    return this.current_id;
  }

  /** False when the lease may have run out without this process noticing: admit nothing new. */
  isAlive(): boolean {
    return this.deps.clock.now() - this.renewedAt < LEASE_MS - SAFETY_MS;
  }

  /** Registers, and gives up the dead: after a crash every grant is back before the first call. */
  async start(): Promise<void> {
    await this.register();
    await this.reap();
    this.schedule();
  }

  /** Says good-bye: the lease ends now. Grants must have been given back before. */
  async stop(): Promise<void> {
    this.stopClock();
    await this.beating;
    await retireReplica(this.deps.sql, this.current_id);
  }

  private async register(): Promise<void> {
    const { clock, sql, exclusive } = this.deps;
    const at = clock.now();
    await registerReplica(sql, this.current_id, LEASE_MS, exclusive);
    this.renewedAt = at;
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(HEARTBEAT_MS, () => {
      this.beating = this.beat()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }

  private async beat(): Promise<void> {
    // Counted from before the statement: the database's lease can only be longer.
    const at = this.deps.clock.now();
    if (await heartbeat(this.deps.sql, this.current_id, LEASE_MS)) this.renewedAt = at;
    else await this.startOver();
    await this.reap();
  }

  /** A given-up replica never comes back; the process registers as a new one. */
  private async startOver(): Promise<void> {
    this.current_id = newId('replica');
    await this.register();
    this.deps.onFenced();
  }

  /** The reaper only finds the dead; the lane gives their money back (design 4). */
  private async reap(): Promise<void> {
    for (const replica_id of await findDeadWithGrants(this.deps.sql)) {
      for (let more = true; more; ) {
        const answer = await this.deps.lane.submit({ type: 'REAP', replica_id });
        more = answer.type === 'reaped' && answer.more;
      }
    }
    // What they ran goes on here, under a new epoch.
    while ((await adoptActors(this.deps.sql, this.current_id, MAX_ADOPTED)) === MAX_ADOPTED);
  }
}
