import type { Redis } from 'ioredis';
import type { Clock } from '../../actors/clock.ts';
import { RedisPause } from '../redis-pause.ts';
import { amountOf, type Exceeded, type LimitStore, type Taken, type Taking } from './limit.ts';
import { END_SCRIPT, RENEW_SCRIPT, TAKE_SCRIPT } from './redis-script.ts';

/** If a replica dies, its calls count until their leases end. */
const CALL_LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** A renewal has at most so many calls in one command. */
const MAX_RENEWED = 1_000;

/** A script of this store. Redis has its text after the first call, and gets only its name later. */
type Script = (keys: number, ...args: (string | number)[]) => Promise<unknown>;
type Scripted = Redis & Record<'takeLimits' | 'endLimits' | 'renewCalls', Script>;

interface RedisStoreDeps {
  readonly redis: Redis;
  readonly clock: Clock;
  /** Counts while Redis is unreachable or slow. */
  readonly fallback: LimitStore;
  /** The start of the names of counters; default: `weir:limit:`. */
  readonly prefix?: string;
  readonly lease_ms?: number;
}

/** What a call took in memory, while Redis was away. */
interface TakenInMemory extends Taken {
  readonly in_memory: true;
}

/** Counts the calls of all replicas in Redis. */
export class RedisStore implements LimitStore {
  private readonly pause = new RedisPause();
  /** The calls that run, by the counters of calls at the same time. */
  private readonly running = new Map<string, Set<string>>();
  private stopClock: () => void = () => undefined;
  private readonly redis: Scripted;

  constructor(private readonly deps: RedisStoreDeps) {
    const { redis } = deps;
    redis.defineCommand('takeLimits', { lua: TAKE_SCRIPT });
    redis.defineCommand('endLimits', { lua: END_SCRIPT });
    redis.defineCommand('renewCalls', { lua: RENEW_SCRIPT });
    this.redis = redis as Scripted;
  }

  async take(taking: Taking): Promise<Taken | Exceeded> {
    if (this.pause.isPaused || this.redis.status !== 'ready') return this.inMemory(taking);
    const { takes, tokens, call_id } = taking;
    const { lease_ms = CALL_LEASE_MS } = this.deps;
    const args = takes.flatMap((take) => [
      ...[take.unit, take.limit, amountOf(take, tokens), take.is_soft ? 1 : 0],
    ]);
    const names = takes.map(({ name }) => this.nameOf(name));
    let answer: unknown;
    try {
      const command = this.redis.takeLimits(names.length, ...names, call_id, lease_ms, ...args);
      answer = await this.pause.wait(command);
      // The command may still be executed. What it took counts until its lease or its minute ends.
      if (answer === 'late') command.catch(() => undefined);
    } catch {
      answer = 'late';
    }
    if (answer === 'late') return this.inMemory(taking);
    const [refused, wait_ms, slot, ...soft] = answer as [number, number, number, ...number[]];
    const take = takes[refused - 1];
    if (take) return { take, amount: amountOf(take, tokens), wait_ms: waitOf(wait_ms) };
    for (const { name, unit } of takes) if (unit === 'calls') this.keep(name, call_id);
    return soft.length === 0 ? { slot } : { slot, exceeded: exceededOf(taking, soft) };
  }

  end(taking: Taking, taken: Taken, used: number): void {
    if ('in_memory' in taken) {
      this.deps.fallback.end(taking, taken, used);
      return;
    }
    const { takes, tokens, call_id } = taking;
    const names: string[] = [];
    const units: string[] = [];
    for (const { name, unit } of takes) {
      if (unit === 'calls') this.forget(name, call_id);
      else if (unit !== 'tokens' || used === tokens) continue;
      names.push(this.nameOf(name));
      units.push(unit);
    }
    if (names.length === 0) return;
    this.redis
      .endLimits(names.length, ...names, call_id, taken.slot, used - tokens, ...units)
      .catch(() => undefined);
  }

  stop(): void {
    this.stopClock();
  }

  private async inMemory(taking: Taking): Promise<TakenInMemory | Exceeded> {
    const taken = await this.deps.fallback.take(taking);
    return 'take' in taken ? taken : { ...taken, in_memory: true };
  }

  private nameOf(name: string): string {
    return `${this.deps.prefix ?? 'weir:limit:'}${name}`;
  }

  private keep(name: string, call_id: string): void {
    if (this.running.size === 0) this.schedule();
    const calls = this.running.get(name) ?? new Set();
    this.running.set(name, calls.add(call_id));
  }

  private forget(name: string, call_id: string): void {
    const calls = this.running.get(name);
    calls?.delete(call_id);
    if (calls?.size === 0) this.running.delete(name);
    if (this.running.size === 0) this.stopClock();
  }

  private schedule(): void {
    this.stopClock();
    this.stopClock = this.deps.clock.after(RENEW_MS, () => {
      this.renew();
      if (this.running.size > 0) this.schedule();
    });
  }

  private renew(): void {
    const { lease_ms = CALL_LEASE_MS } = this.deps;
    for (const [name, calls] of this.running) {
      const ids = [...calls];
      for (let at = 0; at < ids.length; at += MAX_RENEWED) {
        const some = ids.slice(at, at + MAX_RENEWED);
        this.redis.renewCalls(1, this.nameOf(name), lease_ms, ...some).catch(() => undefined);
      }
    }
  }
}

/** Returns the wait in ms. The script says -1 of a call that never fits. */
function waitOf(ms: number): number {
  return ms < 0 ? Number.POSITIVE_INFINITY : ms;
}

/** Returns the soft limits of an answer of the script: their numbers, each with the time to wait. */
function exceededOf({ takes, tokens }: Taking, answer: readonly number[]): Exceeded[] {
  return takes.flatMap((take, index) => {
    const at = answer.findIndex((number, place) => place % 2 === 0 && number === index + 1);
    if (at < 0) return [];
    return [{ take, amount: amountOf(take, tokens), wait_ms: waitOf(answer[at + 1] ?? 0) }];
  });
}
