import type { Redis } from 'ioredis';

/** The most keys of one command. A command with large values delays those after it. */
const MAX_BATCH = 32;

/**
 * Reads keys of Redis. Reads of one turn of the event loop are one command, and two reads of the same key
 * are one: a command costs more than the rest of a look-up.
 */
export class RedisReads {
  private readonly running = new Map<string, Promise<Buffer | null>>();
  private waiting: string[] = [];
  private next: Promise<(Buffer | null)[]> | undefined;

  constructor(private readonly redis: Pick<Redis, 'mgetBuffer'>) {}

  /** Returns the value of a key; null if there is none. Rejects if Redis fails. */
  get(key: string): Promise<Buffer | null> {
    const running = this.running.get(key);
    if (running) return running;
    const index = this.waiting.push(key) - 1;
    this.next ??= this.read(this.waiting);
    const value = this.next.then((values) => values[index] ?? null);
    if (this.waiting.length >= MAX_BATCH) this.begin();
    this.running.set(key, value);
    const onEnd = () => void this.running.delete(key);
    value.then(onEnd, onEnd);
    return value;
  }

  private async read(keys: string[]): Promise<(Buffer | null)[]> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.waiting === keys) this.begin();
    return this.redis.mgetBuffer(keys);
  }

  /** Later reads need another command. */
  private begin(): void {
    this.waiting = [];
    this.next = undefined;
  }
}
