/**
 * Time and ids are handed in, so that a seeded run replays exactly. Production uses the process's
 * clock for waiting only; leases, timers and expiries are judged by the database's clock (design 6).
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once after `delayMs`; the returned function cancels. */
  after(delayMs: number, callback: () => void): () => void;
}

export interface IdSource {
  /** A new UUID, ordered by time (version 7) in production. */
  uuid(): string;
}

const STARTED_AT = performance.timeOrigin;

/** Monotonic, so that a lease is not lengthened by a clock that is set back. Waiting keeps no process alive. */
export const systemClock: Clock = {
  now: () => STARTED_AT + performance.now(),
  after(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    handle.unref?.();
    return () => clearTimeout(handle);
  },
};

export const systemIdSource: IdSource = { uuid: () => Bun.randomUUIDv7() };
