import type { Redis } from 'ioredis';
import { RedisPause } from '../../redis-pause.ts';
import { RedisReads } from './redis-reads.ts';
import { RedisWrites } from './redis-writes.ts';
import { type EntryNames, SharedNames } from './shared-names.ts';
import { type SharedValue, sealValue, unsealValue } from './shared-value.ts';
import {
  PURGE_SCRIPT,
  PURGED_AT_ONCE,
  SHARED_OVERHEAD_BYTES,
  STORE_SCRIPT,
} from './store-script.ts';

/** How long a look-up waits for Redis. After that, the call is a miss. */
const LOOKUP_WAIT_MS = 20;
/** If Redis was late, look-ups do not use it for this time. */
const LATE_PAUSE_MS = 1_000;
/** A larger value is not stored in Redis: it would be late, and delay others. */
const MAX_VALUE_BYTES = 1024 * 1024;

/** The bounds of the entries in Redis. */
export interface SharedBounds {
  /** How long an entry lives, ms. */
  readonly max_age_ms: number;
  /** Bytes of the entries of one organization. */
  readonly max_bytes: number;
  /** Bytes of the entries of all organizations. 0 = nothing is shared. */
  readonly max_shared_bytes: number;
}

export interface SharedAnswersDeps {
  /** A connection of its own, because large values delay the commands after them. */
  readonly redis: Redis;
  /** Encrypts values; 32 bytes. */
  readonly value_key: Uint8Array;
  /** Hashes the names of entries; 32 bytes. */
  readonly name_key: Uint8Array;
  readonly bounds: () => SharedBounds;
  readonly now: () => number;
}

/** The place of a request among the shared answers. */
export interface SharedPlace {
  readonly organization_id: string;
  readonly sketch: number;
  /** The digest of the request; null if the request has none. It may cost much. */
  digest(): string | null;
}

/**
 * The answers that all replicas share, in Redis. Redis is only a copy: if it is gone, slow or empty, calls
 * are misses. A look-up waits 20 ms at most, and storing delays no answer.
 */
export class SharedAnswers {
  private readonly names: SharedNames;
  private readonly reads: RedisReads;
  private readonly writes = new RedisWrites();
  private readonly pause = new RedisPause(LOOKUP_WAIT_MS, LATE_PAUSE_MS);

  constructor(private readonly deps: SharedAnswersDeps) {
    this.names = new SharedNames(deps.name_key);
    this.reads = new RedisReads(deps.redis);
  }

  /** False while Redis is away or was late: then a look-up would only cost time. */
  get mayFind(): boolean {
    return !this.pause.isPaused && this.mayStore;
  }

  /** False while Redis is away. If it is late, what it stores is needed later all the same. */
  private get mayStore(): boolean {
    const { redis, bounds } = this.deps;
    return redis.status === 'ready' && bounds().max_shared_bytes > 0;
  }

  /** How many answers were not stored in Redis, because it was away or slow. */
  get dropped(): number {
    return this.writes.dropped;
  }

  /** How often a look-up gave up, because Redis was late. */
  get late(): number {
    return this.pause.late;
  }

  /** Returns the answer of a request; undefined if there is none, or if Redis fails or is late. */
  async find(place: SharedPlace): Promise<SharedValue | undefined> {
    const reading = this.read(place).catch((error: unknown) => {
      this.onFailed(error);
      return undefined;
    });
    const found = await this.pause.wait(reading);
    return found === 'late' ? undefined : found;
  }

  /**
   * Stores the answer of a request, in the background. `body_chars` is the size of the request, which waits
   * with the answer.
   */
  store(place: SharedPlace, value: SharedValue, body_chars: number): void {
    if (!this.mayStore) return;
    this.writes.push({
      bytes: value.answer.text.length + body_chars,
      send: () => this.write(place, value),
    });
  }

  /** Resolves when all answers are stored that were to be stored. */
  idle(): Promise<void> {
    return this.writes.idle();
  }

  /** Removes the answer of a request, in the background: it must not be sent again. */
  remove({ organization_id, sketch, digest }: SharedPlace): void {
    const hash = digest();
    if (!this.mayStore || hash === null) return;
    const { entry } = this.names.of(organization_id, sketch, hash);
    this.writes.push({ bytes: entry.length, send: () => this.deps.redis.unlink(entry) });
  }

  /** Removes the answers of an organization, in the background. They are useless already. */
  purge(organization_id: string): void {
    if (!this.mayStore) return;
    const { all, sizes, sums, prefix } = this.names;
    const keys = [all, this.names.own(organization_id), sizes, sums];
    const purgeSome = () =>
      this.deps.redis.eval(PURGE_SCRIPT, keys.length, ...keys, prefix, PURGED_AT_ONCE);
    this.writes.push({
      bytes: prefix.length,
      async send() {
        while ((await purgeSome()) === PURGED_AT_ONCE);
      },
    });
  }

  /**
   * Most requests have no mark, and cost one short read. Their digests, which cost more than the rest of a
   * look-up, are not needed.
   */
  private async read(place: SharedPlace): Promise<SharedValue | undefined> {
    const { organization_id, sketch } = place;
    const mark = await this.reads.get(this.names.mark(organization_id, sketch));
    const digest = mark === null ? null : place.digest();
    if (digest === null) return undefined;
    const name = this.names.entry(digest);
    const sealed = await this.reads.get(name);
    return sealed === null ? undefined : unsealValue(this.deps.value_key, sealed, name);
  }

  private async write(place: SharedPlace, value: SharedValue): Promise<void> {
    const { organization_id, sketch } = place;
    const digest = place.digest();
    if (digest === null || !this.mayStore) return;
    const names = this.names.of(organization_id, sketch, digest);
    const sealed = sealValue(this.deps.value_key, value, names.entry);
    if (sealed.byteLength > MAX_VALUE_BYTES) return;
    try {
      await this.runScript(names, sealed, value.stored_at_ms);
    } catch (error) {
      this.onFailed(error);
      throw error;
    }
  }

  private async runScript(
    { entry, mark, own, organization, member }: EntryNames,
    sealed: Buffer,
    stored_at_ms: number,
  ): Promise<void> {
    const { redis, bounds, now } = this.deps;
    const { prefix, all, sizes, sums } = this.names;
    const { max_age_ms, max_bytes, max_shared_bytes } = bounds();
    const at = Math.floor(now());
    const life = Math.floor(stored_at_ms + max_age_ms) - at;
    if (life <= 0) return;
    const keys = [entry, mark, all, own, sizes, sums];
    const bytes = sealed.byteLength + SHARED_OVERHEAD_BYTES;
    const limits = [at, life, max_bytes, max_shared_bytes];
    const values = [sealed, member, bytes, organization, ...limits, prefix];
    await redis.eval(STORE_SCRIPT, keys.length, ...keys, ...values);
  }

  /**
   * After a command that Redis did not answer in time, later answers would wait behind it. So the connection
   * is made anew, and what waits in it is given up.
   */
  private onFailed(error: unknown): void {
    const { redis } = this.deps;
    if (error instanceof Error && error.message === COMMAND_TIMED_OUT && redis.status === 'ready') {
      redis.disconnect(true);
    }
  }
}

/** The message of ioredis for a command without an answer (`commandTimeout`). */
const COMMAND_TIMED_OUT = 'Command timed out';
