/** How long the first request waits for others, ms. */
const COLLECT_MS = 200;

/** Runs work a moment after a request: once for all requests meanwhile, and not more often than every `every_ms`. */
export class Collected {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ran_ms = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly work: () => void,
    private readonly every_ms: number,
  ) {}

  request(): void {
    const rest = this.ran_ms + this.every_ms - performance.now();
    this.timer ??= setTimeout(
      () => {
        this.timer = undefined;
        this.ran_ms = performance.now();
        this.work();
      },
      Math.max(COLLECT_MS, rest),
    );
  }

  /** Forgets a request whose work has not run. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
