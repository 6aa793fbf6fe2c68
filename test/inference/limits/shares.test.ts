/** Replicas that share limits without Redis: never exceeded together, while replicas start and die. */
import { describe, expect, test } from 'bun:test';
import { MemoryStore } from '../../../src/inference/limits/memory-store.ts';
import { SETTLE_MS, Shares } from '../../../src/inference/limits/shares.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { fc } from '../../support/property.ts';

const LEASE_MS = 10_000;
const MINUTE_MS = 60_000;
/** After this time, all others know a new replica. */
const KNOWN_MS = 10_000;

/** A replica in a test: alive until `died_at`, when its process was killed. */
interface Process {
  readonly id: string;
  readonly born_at: number;
  died_at: number;
  readonly shares: Shares;
  readonly store: MemoryStore;
}

class Cluster {
  readonly processes: Process[] = [];

  constructor(readonly clock: VirtualClock) {}

  start(id: string): void {
    const { clock } = this;
    const shares = new Shares({
      ...{ clock, replica_id: () => id, exclusive: false },
      readReplicas: async (ago_ms) => this.seen(ago_ms),
      onError: (error) => {
        throw error;
      },
    });
    const store = new MemoryStore(
      () => clock.now(),
      (limit) => shares.of(limit),
    );
    const born_at = clock.now();
    this.processes.push({ id, born_at, died_at: Number.POSITIVE_INFINITY, shares, store });
  }

  get alive(): Process[] {
    return this.processes.filter(({ died_at }) => died_at === Number.POSITIVE_INFINITY);
  }

  kill(process: Process): void {
    process.died_at = this.clock.now();
    process.shares.stop();
  }

  private seen(ago_ms: number) {
    const now = this.clock.now();
    return this.processes
      .filter(({ died_at }) => died_at + LEASE_MS > now - ago_ms)
      .map(({ id, born_at }) => ({ id, age_ms: now - born_at }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** Moves the clock, and lets reads of the table of replicas end. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  const until = clock.now() + ms;
  while (clock.pending > 0 && clock.now() + clock.nextInMs <= until) {
    clock.fireNext();
    await Bun.sleep(0);
  }
  clock.advance(until - clock.now());
}

const step = fc.oneof(
  fc.record({
    type: fc.constant('call' as const),
    at: fc.nat(10),
    count: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({ type: fc.constant('end' as const), at: fc.nat(10) }),
  fc.record({ type: fc.constant('wait' as const), ms: fc.oneof(fc.nat(3_000), fc.nat(40_000)) }),
  fc.record({ type: fc.constant('start' as const), id: fc.integer({ min: 0, max: 99 }) }),
  fc.record({ type: fc.constant('kill' as const), at: fc.nat(10) }),
);

describe('the shares of replicas', () => {
  test('together never exceed a limit, while replicas start and are killed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        async (steps, limit) => {
          const cluster = new Cluster(new VirtualClock());
          const { clock } = cluster;
          const taken: number[] = [];
          const running: { process: Process; at: number; end: () => void }[] = [];
          cluster.start('r0');
          for (const each of steps) {
            const process =
              'at' in each ? cluster.alive[each.at % cluster.alive.length] : undefined;
            if (each.type === 'wait') await pass(clock, each.ms);
            if (each.type === 'start' && cluster.alive.length < 4) {
              const id = `r${each.id}`;
              if (!cluster.processes.some((one) => one.id === id)) cluster.start(id);
            }
            if (each.type === 'kill' && process && cluster.alive.length > 1) cluster.kill(process);
            if (each.type === 'end') running.splice(each.at, 1)[0]?.end();
            if (each.type !== 'call' || !process) continue;
            for (let call = 0; call < each.count; call += 1) {
              await process.shares.ready();
              const of = { limit, model: null, is_soft: false };
              const takes = [
                { ...of, name: 'k:requests:', unit: 'requests' as const },
                { ...of, name: 'k:calls:', unit: 'calls' as const },
              ];
              const taking = { takes, tokens: 0, call_id: '' };
              const answer = process.store.take(taking);
              if ('take' in answer) continue;
              taken.push(clock.now());
              running.push({
                process,
                at: clock.now(),
                end: () => process.store.end(taking, answer, 0),
              });
            }
            const since = clock.now() - MINUTE_MS;
            expect(taken.filter((at) => at > since).length).toBeLessThanOrEqual(limit);
            // The calls of a replica that was killed run nowhere. Calls that began before a replica joined go on.
            const joined = Math.max(...cluster.alive.map(({ born_at }) => born_at)) + KNOWN_MS;
            const now = running.filter(
              (one) => cluster.alive.includes(one.process) && one.at > joined,
            );
            expect(now.length).toBeLessThanOrEqual(limit);
          }
          for (const { shares } of cluster.processes) shares.stop();
        },
      ),
      { numRuns: 150 },
    );
  }, 120_000);

  test('are nothing once the database has not answered for long, and again the limit when it does', async () => {
    const clock = new VirtualClock();
    let isAway = false;
    const errors: unknown[] = [];
    const shares = new Shares({
      ...{ clock, replica_id: () => 'r0', exclusive: false },
      readReplicas: async () => {
        if (isAway) throw new Error('the database is away');
        return [{ id: 'r0', age_ms: 2 * SETTLE_MS }];
      },
      onError: (error) => errors.push(error),
    });
    await shares.ready();
    isAway = true;
    await pass(clock, 5_000);
    expect(shares.of(10)).toBe(10);
    await pass(clock, 10_000);
    expect(errors.length).toBeGreaterThan(0);
    expect(shares.of(10)).toBe(0);
    isAway = false;
    await shares.ready();
    expect(shares.of(10)).toBe(10);
    shares.stop();
  });

  test('are the whole limit for one replica, and equal parts for three that know each other', async () => {
    const cluster = new Cluster(new VirtualClock());
    cluster.start('a');
    await cluster.alive[0]?.shares.ready();
    expect(cluster.alive[0]?.shares.of(10)).toBe(10);
    await pass(cluster.clock, 1);
    cluster.start('b');
    cluster.start('c');
    for (const { shares } of cluster.alive) await shares.ready();
    await pass(cluster.clock, 2_000);
    expect(cluster.alive.map(({ shares }) => shares.of(10))).toEqual([4, 0, 0]);
    await pass(cluster.clock, SETTLE_MS);
    expect(cluster.alive.map(({ shares }) => shares.of(10))).toEqual([4, 3, 3]);
    for (const { shares } of cluster.alive) shares.stop();
  });
});
