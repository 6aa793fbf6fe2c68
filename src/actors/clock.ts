/**
 * A source of time, passed in so that a seeded run replays exactly. In production, a process uses
 * its own clock only to measure how long something takes. Leases, timers and expiries are set and
 * compared with the database's clock.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `callback` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** A source of ids, passed in so that a test can control it. */
export interface IdSource {
  /** Returns a new UUID. In production it has version 7, so later ids sort after earlier ones. */
  uuid(): string;
}

const STARTED_AT = performance.timeOrigin;

/**
 * The clock of production. It never runs backwards, so setting the system clock back lengthens no
 * lease. Its timers do not keep the process alive.
 */
export const systemClock: Clock = {
  now: () => STARTED_AT + performance.now(),
  after(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    handle.unref?.();
    return () => clearTimeout(handle);
  },
};

export const systemIdSource: IdSource = { uuid: () => Bun.randomUUIDv7() };
