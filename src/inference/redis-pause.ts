/** If Redis does not answer a request's command in this time, Weir does not use Redis for REDIS_PAUSE_MS. */
const REDIS_TIMEOUT_MS = 250;
const REDIS_PAUSE_MS = 5_000;

/** Limits the time that a request waits for Redis. */
export class RedisPause {
  /** How often Redis was too slow. */
  late = 0;
  private paused_until_ms = 0;

  /** A wait of `timeout_ms` is too long, and no command is sent for `pause_ms` after it. */
  constructor(
    private readonly timeout_ms = REDIS_TIMEOUT_MS,
    private readonly pause_ms = REDIS_PAUSE_MS,
  ) {}

  /** True for the pause after Redis was too slow. While true, do not send commands to Redis. */
  get isPaused(): boolean {
    return this.paused_until_ms > performance.now();
  }

  /** Returns the result of a command to Redis; `late` if there is none within the timeout. */
  async wait<Result>(command: Promise<Result>): Promise<Result | 'late'> {
    let timer: Timer | undefined;
    const late = new Promise<'late'>((resolve) => {
      // After a busy turn of the event loop, an answer that has arrived is read before the wait ends.
      timer = setTimeout(() => setImmediate(resolve, 'late'), this.timeout_ms);
    });
    try {
      const outcome = await Promise.race([command, late]);
      if (outcome === 'late') {
        this.late += 1;
        this.paused_until_ms = performance.now() + this.pause_ms;
      }
      return outcome;
    } finally {
      clearTimeout(timer);
    }
  }
}
